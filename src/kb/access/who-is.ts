import { foldEmail } from '../../contract/people.ts'
import { bareId, type Caller, isPerson } from '../../rules/access/caller.ts'
import type { Decider } from '../../rules/deciding.ts'
import type { Context } from '../context.ts'

/** Prefixes of forge accounts in commits and `owners`. */
const forgeAccount = /^(?:github|gitea|forgejo|gitlab):/

type WhoIsContext = Pick<Context, 'apiKeys' | 'users' | 'sources' | 'now'>

/**
 * Returns the person or key behind an actor id such as `key:<id>`, `git:<id>`, `undo:<id>` or `user:<id>`, or behind the uploader of a
 * Source, `source:<id>`. A key counts as the person or key that created it, and an agent as the person who authorized it; this is the only place
 * with that rule. Only an actor in their own name has names that `owners` may list, so a key that a person gave away makes nobody an owner.
 */
export async function whoIs(ctx: WhoIsContext, tenantId: string, actorId: string): Promise<Decider> {
  const { apiKeys, users, now } = ctx
  const [kind, bare = actorId] = splitOnce(actorId)
  if (kind === 'source') {
    const source = await ctx.sources.find(tenantId, bare)
    return source ? whoIs(ctx, tenantId, source.uploader.id) : { id: actorId, names: [], mayDecide: false }
  }
  const key = await apiKeys.find(bare)
  if (key?.tenantId === tenantId) {
    const isOpen = key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now().toISOString())
    const isCurator = isOpen && key.role === 'curator'
    const id = key.userId === null ? `key:${key.makerId ?? key.id}` : `user:${key.userId}`
    // A key that a key made, or that has the e-mail of a person, would make itself an owner by its name.
    const isNamed = kind === 'key' && isCurator && key.makerId === null
    const isPersonsName =
      isNamed && key.name.includes('@') && (await users.findByEmail(foldEmail(key.name))) !== undefined
    return {
      id,
      names: isNamed && !isPersonsName ? [key.name] : [],
      mayDecide: isCurator,
      connectors: key.connectors,
    }
  }
  const user = await users.get(bare)
  if (user !== undefined) {
    const memberships = await users.memberships(user.id, { served: true })
    const role = memberships.find((membership) => membership.tenantId === tenantId)?.role
    const isCurator = user.disabledAt === null && (role === 'curator' || role === 'admin')
    return { id: `user:${user.id}`, names: kind === 'user' && isCurator ? [user.email] : [], mayDecide: isCurator }
  }
  // A forge account, which can only decide by merging there, or an actor that no longer exists.
  return { id: `@${bare}`, names: forgeAccount.test(actorId) ? [actorId] : [], mayDecide: !actorId.includes(':') }
}

/** Returns the name of an actor; for a key that a person made, that person's name with the key's in brackets. */
export async function creditedName(
  ctx: WhoIsContext,
  tenantId: string,
  { id: actorId, name }: { id: string; name: string },
): Promise<string> {
  if (!/^(?:key|git|undo):/.test(actorId)) return name
  const [kind, bare = ''] = splitOnce((await whoIs(ctx, tenantId, actorId)).id)
  const person = kind === 'user' ? await ctx.users.get(bare) : undefined
  return person === undefined || person.name === name ? name : `${person.name} (${name})`
}

/** Returns the ids of all actors that count as one key or person; see {@link whoIs}. */
export async function actorIdsOf({ apiKeys }: WhoIsContext, tenantId: string, id: string): Promise<string[]> {
  const ids = [id, ...(await apiKeys.idsOf(id, tenantId))]
  return ids.flatMap((each) => ['key', 'git', 'user'].map((kind) => `${kind}:${each}`))
}

/** Returns the e-mail of a curator, or the name of a curator's key, in its stored spelling. */
export async function curatorNamed(ctx: WhoIsContext, tenantId: string, name: string): Promise<string | undefined> {
  const { apiKeys, users } = ctx
  const user = await users.findByEmail(foldEmail(name))
  if (user !== undefined) {
    const { names } = await whoIs(ctx, tenantId, `user:${user.id}`)
    if (names.length > 0) return user.email
  }
  for (const { id, name: own } of await apiKeys.list(tenantId)) {
    if (own !== name.trim()) continue
    const { names } = await whoIs(ctx, tenantId, `key:${id}`)
    if (names.length > 0) return own
  }
  return undefined
}

/** Returns the ids of the senders for whom a caller may act: its own, and a person's keys, over HTTP and by git. */
export async function sendersFor({ apiKeys }: Pick<Context, 'apiKeys'>, caller: Caller): Promise<ReadonlySet<string>> {
  const keys = isPerson(caller) ? await apiKeys.idsOf(bareId(caller), caller.tenantId) : [bareId(caller)]
  return new Set([caller.id, ...keys.flatMap((id) => [`key:${id}`, `git:${id}`])])
}

function splitOnce(id: string): [string, string?] {
  const at = id.indexOf(':')
  return at < 0 ? [id] : [id.slice(0, at), id.slice(at + 1)]
}
