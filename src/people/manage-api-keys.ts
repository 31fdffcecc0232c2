import type { ApiKeySummary, NewApiKey } from '../contract/administration.ts'
import { GanglionError } from '../contract/errors.ts'
import { type Acting, recordAct } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import type { ApiKey } from '../state/accounts/api-keys.ts'

export type ApiKeyPage = { keys: ApiKeySummary[]; next: string | null }

const pageSize = 50

/** Makes an API key of the tenant of whoever asks. The token is in this answer only. */
export async function createApiKey(
  ctx: Pick<Context, 'apiKeys' | 'audit' | 'now'>,
  by: Acting,
  input: NewApiKey,
): Promise<{ key: ApiKeySummary; token: string }> {
  const { tenantId, name: createdBy } = by
  const { key, token } = await ctx.apiKeys.create({ ...input, tenantId, createdBy }, ctx.now())
  await recordAct(ctx, by, { action: 'key.created', subject: key.name, detail: key.role })
  return { key: summaryOf(key), token }
}

/** A page of a tenant's API keys, newest first, revoked and expired ones included. @param before the `next` of a page */
export async function listApiKeys(
  { apiKeys }: Pick<Context, 'apiKeys'>,
  { tenantId }: { tenantId: string },
  { before }: { before?: string | undefined } = {},
): Promise<ApiKeyPage> {
  const found = await apiKeys.page(tenantId, { before, limit: pageSize + 1 })
  const keys = found.slice(0, pageSize).map(summaryOf)
  return { keys, next: found.length > pageSize ? (keys.at(-1)?.id ?? null) : null }
}

/** Rejects an API key from now on. Again: nothing more. @throws {GanglionError} `not_found`, also for another tenant's key */
export async function revokeApiKey(
  ctx: Pick<Context, 'apiKeys' | 'audit' | 'now'>,
  by: Acting,
  id: string,
): Promise<void> {
  const key = await ctx.apiKeys.revoke(id, ctx.now(), by.tenantId)
  if (key === undefined) throw new GanglionError('not_found')
  await recordAct(ctx, by, { action: 'key.revoked', subject: key.name })
}

function summaryOf({ tenantId: _, ...key }: ApiKey): ApiKeySummary {
  return key
}
