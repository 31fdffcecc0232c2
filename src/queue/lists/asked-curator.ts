import { foldEmail } from '../../contract/people.ts'
import { actorIdsOf, whoIs } from '../../kb/access/who-is.ts'
import type { Context } from '../../kb/context.ts'
import { mainSettings, readTables } from '../../kb/kb-access.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import type { AskedCurator } from '../../kb/projection/asked-of.ts'
import { votedOnBy } from '../../kb/projection/candidate-queue.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { bareId, type Caller } from '../../rules/access/caller.ts'
import { type Decider, goesByOneOf, isOpenToCurators } from '../../rules/deciding.ts'
import { decisionOf } from '../approval.ts'

/** Maximum number of candidates that are looked at for votes that do not count any more. */
const maxVoted = 100

/** Curator who asks what waits for them, the same for all knowledge bases of a tenant. */
type Asking = Decider & { actors: readonly string[] }

/** Returns the person or key behind a caller, with all ids under which they act. */
export async function askingCurator(ctx: Context, { tenantId, id }: Caller): Promise<Asking> {
  const person = await whoIs(ctx, tenantId, id)
  return { ...person, actors: await actorIdsOf(ctx, tenantId, bareId(person)) }
}

/** Returns what a knowledge base asks of a curator, by `owners` and `approvals` on main. */
export async function askedCurator(ctx: Context, person: Asking, identity: KbIdentity): Promise<AskedCurator> {
  const { tenantId } = identity
  const { actors } = person
  const asked = { actors, names: person.names, votes: [], owned: [], mayApproveOwn: true, fallen: [] }
  const deciding = (await mainSettings(ctx, identity))?.deciding ?? null
  if (deciding === null || isOpenToCurators(deciding)) return asked
  const zones = (['red', 'yellow'] as const).map((zone) => ({ zone, count: deciding.approvals[zone] }))
  const named = deciding.owners.filter(({ people }) => goesByOneOf(person, people))
  const owned = named.map(async ({ people, ...rule }) => ({
    ...rule,
    actors: await actorsNamed(ctx, tenantId, people),
  }))
  return {
    ...asked,
    votes: zones.filter(({ count }) => count > 1),
    owned: await Promise.all(owned),
    mayApproveOwn: deciding.authorMayApprove,
    fallen: await fallenVotes(ctx, identity, person),
  }
}

/** Returns the ids of people and keys by the names in a list of owners. */
async function actorsNamed(
  { users, apiKeys }: Pick<Context, 'users' | 'apiKeys'>,
  tenantId: string,
  people: readonly string[],
): Promise<string[]> {
  const found = await Promise.all(people.map((name) => users.findByEmail(foldEmail(name))))
  const keys = (await apiKeys.list(tenantId)).filter(({ name }) => goesByOneOf({ names: [name] }, people))
  return [
    ...people,
    ...found.flatMap((user) => (user ? [`user:${user.id}`] : [])),
    ...keys.map(({ id }) => `key:${id}`),
  ]
}

/** Returns the pending candidates on which somebody's vote was for another text than an approval would bring to main now. */
async function fallenVotes(ctx: Context, identity: KbIdentity, { id, actors }: Asking): Promise<string[]> {
  const voted = await readTables(ctx, identity, (sql) => votedOnBy(sql, actors, maxVoted))
  if (voted.length === 0) return []
  const kb = await ctx.kb(identity.tenantId, identity.id)
  const fallen: string[] = []
  for (const { id: candidateId, blob } of voted) {
    const { awaiting, votes } = await decisionOf(kb, parseCandidate(await kb.repository.readText(blob)))
    if (awaiting !== undefined && !votes.has(id)) fallen.push(candidateId)
  }
  return fallen
}
