import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'

/**
 * Returns the caller of a key's token; undefined if it is malformed, unknown, expired or revoked.
 * @throws {GanglionError} `tenant_disabled`
 */
export async function authenticateKey(
  { apiKeys, now }: Pick<Context, 'apiKeys' | 'now'>,
  token: string,
): Promise<Caller | undefined> {
  const key = await apiKeys.authenticate(token, now())
  if (key === undefined) return undefined
  if (key.isTenantDisabled) throw new GanglionError('tenant_disabled')
  const { id, name, tenantId, role, connectors, git } = key
  return { id: `key:${id}`, name, tenantId, role, connectors, git }
}
