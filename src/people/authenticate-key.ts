import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'

/**
 * Returns the caller of a key's token; undefined if it is malformed, unknown, expired or revoked.
 * @param resource also accepts an agent's token for this resource
 * @throws {GanglionError} `tenant_disabled`
 */
export async function authenticateKey(
  { apiKeys, now }: Pick<Context, 'apiKeys' | 'now'>,
  token: string,
  resource?: string,
): Promise<Caller | undefined> {
  const own = await apiKeys.authenticate(token, now())
  const agent = own === undefined && resource !== undefined ? await apiKeys.authenticateAgent(token, now()) : undefined
  const key = own ?? (agent?.resource === resource ? agent : undefined)
  if (key === undefined) return undefined
  if (key.isTenantDisabled) throw new GanglionError('tenant_disabled')
  const { id, name, tenantId, role, connectors, git, audience } = key
  return { id: `key:${id}`, name, tenantId, role, connectors, git, ...(audience && { audience }) }
}
