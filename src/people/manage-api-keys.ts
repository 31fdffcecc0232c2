import type { z } from 'zod'
import {
  type KeyLimits,
  type KeyPage,
  type ListedKey,
  limitsOrNone,
  type NewApiKey,
} from '../contract/administration.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { type Acting, recordAct } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import { bareId, isPerson, requireAdmin } from '../rules/access/caller.ts'
import { oneLine } from '../rules/text/lines.ts'
import type { ApiKey } from '../state/accounts/api-keys.ts'

type KeyContext = Pick<Context, 'apiKeys' | 'audit' | 'now' | 'onError'>

const pageSize = 50
const maxName = 100

/**
 * Creates an API key of the caller's tenant, which counts as its maker and has the limits of a key that makes it. Only this answer contains the token.
 * @throws {ValidationError} for an audience of a key that is not a reader's, and for more than the key that makes it may do
 * @throws {GanglionError} `insufficient_role`
 */
export async function createApiKey(
  ctx: KeyContext,
  by: Acting,
  { role, connectors = [], expiresAt: end = null, ...input }: NewApiKey,
  id?: string,
): Promise<{ key: ListedKey; token: string }> {
  requireAdmin(by)
  const { tenantId, name: createdBy } = by
  const expiresAt = end === null ? null : new Date(end)
  if (input.audience && role !== 'reader')
    throw new ValidationError({
      audience: ['is for reader keys only: keys of other roles may ask for each audience anyway. Leave it out.'],
    })
  if (expiresAt !== null && expiresAt <= ctx.now()) throw new ValidationError({ expiresAt: ['must be in the future'] })
  const isAdmin = role === 'admin'
  const maker = by.id.startsWith('key:') ? await ctx.apiKeys.find(bareId(by)) : undefined
  if (maker !== undefined) requireWithin(maker, { connectors, expiresAt })
  const userId = isPerson(by) ? bareId(by) : (maker?.userId ?? undefined)
  const counts = { createdBy, userId, makerId: maker?.makerId ?? maker?.id }
  const limits = maker?.limits ?? input.limits
  const record = {
    ...input,
    ...counts,
    limits,
    tenantId,
    connectors,
    expiresAt,
    isAdmin,
    role: isAdmin ? 'curator' : role,
  }
  const { key, token } = await ctx.apiKeys.create(record, ctx.now(), id)
  await recordAct(ctx, by, { action: 'key.created', subject: key.name, detail: role })
  return { key: keySummary(key), token }
}

/** Checks that a key may do no more than the key that makes it, nor for longer. */
function requireWithin(
  maker: ApiKey,
  { connectors, expiresAt }: { connectors: readonly string[]; expiresAt: Date | null },
): void {
  const foreign = connectors.filter((connector) => !maker.connectors.includes(connector))
  if (foreign.length > 0)
    throw new ValidationError({ connectors: [`must be of the key that makes it, not ${foreign.join(', ')}`] })
  const end = maker.expiresAt
  if (end !== null && (expiresAt === null || expiresAt.toISOString() > end))
    throw new ValidationError({ expiresAt: [`must be at most ${end}, when the key that makes it expires`] })
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

/** Returns a page of a tenant's API keys, newest first, including revoked and expired ones. */
export async function listApiKeys(
  { apiKeys }: Pick<Context, 'apiKeys'>,
  by: Acting,
  { cursor }: { cursor?: string | undefined } = {},
): Promise<z.output<typeof KeyPage>> {
  requireAdmin(by)
  const found = await apiKeys.page(by.tenantId, { before: cursor, limit: pageSize + 1 })
  const keys = found.slice(0, pageSize).map(keySummary)
  return { keys, nextCursor: found.length > pageSize ? (keys.at(-1)?.id ?? null) : null }
}

/** Sets what a key may propose. @throws {GanglionError} `not_found`, also for another tenant's key; `insufficient_role` */
export async function limitApiKey(
  ctx: KeyContext,
  by: Acting,
  id: string,
  limits: KeyLimits | null,
): Promise<ListedKey> {
  requireAdmin(by)
  const own = by.id.startsWith('key:') ? await ctx.apiKeys.find(bareId(by)) : undefined
  // A key that is limited must not lift its own limits, nor those of the keys that it made.
  if (own !== undefined && own.limits !== null) throw new GanglionError('insufficient_role')
  const key = await ctx.apiKeys.limit(id, limits && limitsOrNone(limits), by.tenantId)
  if (key === undefined) throw new GanglionError('not_found')
  await recordAct(ctx, by, { action: 'key.limited', subject: key.name, detail: JSON.stringify(key.limits) })
  return keySummary(key)
}

/** Revokes an API key. Revoking it again has no effect. @throws as {@link limitApiKey} */
export async function revokeApiKey(ctx: KeyContext, by: Acting, id: string): Promise<void> {
  requireAdmin(by)
  const key = await ctx.apiKeys.revoke(id, ctx.now(), by.tenantId)
  if (key === undefined) throw new GanglionError('not_found')
  await recordAct(ctx, by, { action: 'key.revoked', subject: key.name })
}

export function keySummary({ tenantId: _, userId: __, makerId: ___, isAdmin, ...key }: ApiKey): ListedKey {
  return { ...key, role: isAdmin ? 'admin' : key.role }
}
