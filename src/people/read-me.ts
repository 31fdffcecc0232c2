import { GanglionError } from '../contract/errors.ts'
import type { Me, MeChange } from '../contract/me.ts'
import type { Context } from '../kb/context.ts'
import { audiencesOf } from '../rules/access/audience.ts'
import { bareId, type Caller, isPerson } from '../rules/access/caller.ts'

export async function readMe({ tenants, apiKeys, users }: Context, caller: Caller): Promise<Me> {
  const { name, role, tenantId, connectors } = caller
  const id = bareId(caller)
  const [user, key] = isPerson(caller) ? [await users.get(id)] : [undefined, await apiKeys.find(id)]
  const tenant = await tenants.get(tenantId)
  if (tenant === undefined) throw new GanglionError('not_found')
  const told = user && { notices: user.notices }
  const may = { role, audiences: audiencesOf(caller), connectors: [...connectors] }
  return { name, tenant: tenant.slug, ...may, expiresAt: key?.expiresAt ?? null, ...told }
}

/** Changes the caller's notification settings. @throws {GanglionError} `insufficient_role` for a key */
export async function changeMe(ctx: Context, caller: Caller, { notices }: MeChange): Promise<Me> {
  if (!isPerson(caller)) throw new GanglionError('insufficient_role')
  await ctx.users.setNotices(bareId(caller), notices)
  return readMe(ctx, caller)
}
