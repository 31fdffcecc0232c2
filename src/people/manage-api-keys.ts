import { type KeyLimits, limitsOrNone, type NewApiKey } from '../contract/administration.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { type Acting, recordAct } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import { bareId, isPerson } from '../rules/access/caller.ts'
import { oneLine } from '../rules/text/lines.ts'
import type { ApiKey } from '../state/accounts/api-keys.ts'

/** API key without its token. `isAgent`: it belongs to an agent of that name, which a person has authorized with OAuth. */
export type ApiKeySummary = Omit<ApiKey, 'tenantId' | 'userId'>

type KeyContext = Pick<Context, 'apiKeys' | 'audit' | 'now' | 'onError'>

export type ApiKeyPage = { keys: ApiKeySummary[]; next: string | null }

const pageSize = 50
const maxName = 100

/**
 * Creates an API key of the caller's tenant, which counts as its maker. Only this answer contains the token.
 * @throws {ValidationError} for an audience of a key that is not a reader's
 */
export async function createApiKey(
  ctx: KeyContext,
  by: Acting,
  input: NewApiKey,
): Promise<{ key: ApiKeySummary; token: string }> {
  const { tenantId, name: createdBy } = by
  if (input.audience && input.role !== 'reader')
    throw new ValidationError({
      audience: ['is for reader keys only: keys of other roles may ask for each audience anyway. Leave it out.'],
    })
  const userId = isPerson(by) ? bareId(by) : undefined
  const record = { ...input, tenantId, createdBy, userId }
  const { key, token } = await ctx.apiKeys.create(record, ctx.now())
  await recordAct(ctx, by, { action: 'key.created', subject: key.name, detail: key.role })
  return { key: summaryOf(key), token }
}

/** Creates the key of an agent that a person authorizes. It acts as an app or as a reader, through the tokens of the grant. */
export async function connectAgent(
  ctx: KeyContext & Pick<Context, 'oauthRecords'>,
  by: Acting,
  { client, clientId, role, grantId }: { client: string; clientId: string; role: 'app' | 'reader'; grantId: string },
): Promise<void> {
  const name = oneLine(client, maxName)
  const of = { grantId, userId: bareId(by), createdBy: by.name }
  const record = { ...of, tenantId: by.tenantId, name, role, connectors: [], expiresAt: null }
  await ctx.apiKeys.create(record, ctx.now())
  await ctx.oauthRecords.keep('Client', clientId)
  await recordAct(ctx, by, { action: 'agent.connected', subject: name, detail: role })
}

/** Revokes an agent that the person has authorized. @throws {GanglionError} `not_found` */
export async function disconnectAgent(ctx: KeyContext, by: Acting, id: string): Promise<void> {
  const agent = (await ctx.apiKeys.agentsOf(bareId(by))).find((key) => key.id === id)
  if (agent === undefined) throw new GanglionError('not_found')
  await ctx.apiKeys.revoke(id, ctx.now(), agent.tenantId)
  await recordAct(ctx, { ...by, tenantId: agent.tenantId }, { action: 'agent.disconnected', subject: agent.name })
}

/** Returns a page of a tenant's API keys, newest first, including revoked and expired ones. @param before the `next` of a page */
export async function listApiKeys(
  { apiKeys }: Pick<Context, 'apiKeys'>,
  { tenantId }: { tenantId: string },
  { before }: { before?: string | undefined } = {},
): Promise<ApiKeyPage> {
  const found = await apiKeys.page(tenantId, { before, limit: pageSize + 1 })
  const keys = found.slice(0, pageSize).map(summaryOf)
  return { keys, next: found.length > pageSize ? (keys.at(-1)?.id ?? null) : null }
}

/** Sets what a key may propose. @throws {GanglionError} `not_found`, also for another tenant's key */
export async function limitApiKey(ctx: KeyContext, by: Acting, id: string, limits: KeyLimits): Promise<void> {
  const key = await ctx.apiKeys.limit(id, limitsOrNone(limits), by.tenantId)
  if (key === undefined) throw new GanglionError('not_found')
  await recordAct(ctx, by, { action: 'key.limited', subject: key.name, detail: JSON.stringify(key.limits) })
}

/** Revokes an API key. Revoking it again has no effect. @throws {GanglionError} `not_found`, also for another tenant's key */
export async function revokeApiKey(ctx: KeyContext, by: Acting, id: string): Promise<void> {
  const key = await ctx.apiKeys.revoke(id, ctx.now(), by.tenantId)
  if (key === undefined) throw new GanglionError('not_found')
  await recordAct(ctx, by, { action: 'key.revoked', subject: key.name })
}

function summaryOf({ tenantId: _, userId: __, ...key }: ApiKey): ApiKeySummary {
  return key
}
