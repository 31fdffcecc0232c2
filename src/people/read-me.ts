import { GanglionError } from '../contract/errors.ts'
import type { Me } from '../contract/me.ts'
import type { Context } from '../kb/context.ts'
import { bareId, type Caller, isPerson } from '../rules/access/caller.ts'

export async function readMe({ tenants, apiKeys }: Context, caller: Caller): Promise<Me> {
  const { name, role, tenantId, connectors } = caller
  const [tenant, key] = await Promise.all([
    tenants.get(tenantId),
    isPerson(caller) ? undefined : apiKeys.find(bareId(caller)),
  ])
  if (tenant === undefined) throw new GanglionError('not_found')
  return { name, role, tenant: tenant.slug, connectors: [...connectors], expiresAt: key?.expiresAt ?? null }
}
