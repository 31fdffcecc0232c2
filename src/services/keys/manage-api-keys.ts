import type { ApiKeySummary, NewApiKey } from '../../contract/administration.ts'
import { GanglionError } from '../../contract/errors.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { Ganglion } from '../ganglion.ts'

export type ApiKeyPage = { keys: ApiKeySummary[]; next: string | null }

const pageSize = 50

/** Makes an API key of a tenant. The token is in this answer only. */
export async function createApiKey(
  { apiKeys, now }: Pick<Ganglion, 'apiKeys' | 'now'>,
  { tenantId, name: createdBy }: { tenantId: string; name: string },
  input: NewApiKey,
): Promise<{ key: ApiKeySummary; token: string }> {
  const { key, token } = await apiKeys.create({ ...input, tenantId, createdBy }, now())
  return { key: summaryOf(key), token }
}

/** A page of a tenant's API keys, newest first, revoked and expired ones included. @param before the `next` of a page */
export async function listApiKeys(
  { apiKeys }: Pick<Ganglion, 'apiKeys'>,
  { tenantId }: { tenantId: string },
  { before }: { before?: string | undefined } = {},
): Promise<ApiKeyPage> {
  const found = await apiKeys.page(tenantId, { before, limit: pageSize + 1 })
  const keys = found.slice(0, pageSize).map(summaryOf)
  return { keys, next: found.length > pageSize ? (keys.at(-1)?.id ?? null) : null }
}

/** Rejects an API key, of one tenant or of any, from now on. Again: nothing more. @throws {GanglionError} `not_found` */
export async function revokeApiKey(
  { apiKeys, now }: Pick<Ganglion, 'apiKeys' | 'now'>,
  { tenantId }: { tenantId?: string },
  id: string,
): Promise<void> {
  if (!(await apiKeys.revoke(id, now(), tenantId))) throw new GanglionError('not_found')
}

function summaryOf({ tenantId: _, ...key }: ApiKey): ApiKeySummary {
  return key
}
