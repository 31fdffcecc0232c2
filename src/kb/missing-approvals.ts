import type { Awaiting } from '../contract/envelope.ts'
import { GanglionError } from '../contract/errors.ts'
import type { Actor, Candidate } from '../rules/candidates/candidate.ts'
import {
  authorsOf,
  commonVotes,
  type Decider,
  type Deciding,
  goesByOneOf,
  isOpenToCurators,
  isOwned,
  mayBeAmong,
  neededVotes,
} from '../rules/deciding.ts'
import type { KbSettings } from '../rules/kb-settings.ts'
import { inZone } from '../rules/policy.ts'

/** Finds out who an actor is, now. */
export type WhoIs = (actorId: string) => Promise<Decider>

/** Who decides that a commit goes to main, and on what. */
export type Decided = {
  /** Undefined: only those count who voted before, as where it is asked what is missing. */
  by: Actor | undefined
  /** The candidates that it takes, as they are recorded. */
  of: readonly Candidate[]
  /** Whether `by` brings another text than those propose: that is theirs, and nobody has voted for it. */
  writes?: () => Promise<boolean>
  /** Other files that `by` brings with them: who voted has not seen those. */
  brings?: () => Promise<ReadonlySet<string>>
}

/** What a change of main touches: a path, with the tags of its page before and after. */
export type Touched = { path: string; tags: readonly string[] }

/** Parts of the service that approve for the policy, which is nobody's vote. */
const policyIds: ReadonlySet<string> = new Set(['policy', 'ingest'])

const unreadable =
  'Nothing can be approved: kb.yaml does not say in a readable way who decides. Mend it in the repository.'

/**
 * Returns what is missing before a commit may go to main by what `kb.yaml` says of owners and approvals; undefined where nothing is.
 * The one place of this rule: every commit on main is checked against it.
 * @throws {GanglionError} `approval_needed` where that cannot be read
 */
export async function missingApprovals(
  { deciding, policy, zones }: Pick<KbSettings, 'deciding' | 'policy' | 'zones'>,
  touched: readonly Touched[],
  { by, of, writes: isWriter, brings }: Decided,
  whoIs: WhoIs,
): Promise<Awaiting | undefined> {
  if (deciding === null) throw new GanglionError('approval_needed', unreadable)
  if (isOpenToCurators(deciding)) return undefined
  const writes = (await isWriter?.()) ?? false
  const isPolicy = by !== undefined && policyIds.has(by.id)
  const authors = await authorsAmong(of, deciding, whoIs)
  if (!deciding.authorMayApprove && writes && by) authors.add((await whoIs(by.id)).id)
  const voters = new Map<string, Decider>()
  for (const { id } of writes ? [] : commonVotes(of)) {
    const who = await whoIs(id)
    if (who.mayDecide && !mayBeAmong(authors, who)) voters.set(who.id, who)
  }
  const decider = by === undefined || isPolicy ? undefined : await whoIs(by.id)
  if (decider !== undefined && !mayBeAmong(authors, decider)) voters.set(decider.id, decider)

  const needed = of.map((candidate) => {
    // What cannot be read may have said red.
    const zone = zones === null ? 'red' : inZone(candidate, { policy, zones }).verdict.zone
    const isFree = isPolicy && zone !== 'red' && zone !== 'yellow'
    return isFree ? 0 : neededVotes(deciding, zone)
  })
  const votes = Math.max(0, ...needed) - voters.size
  const brought = (await brings?.()) ?? new Set()
  const owners = deciding.owners.flatMap((rule) => {
    if (!touched.some((file) => isOwned(rule, file))) return []
    const isSeenByOne = touched.some((file) => brought.has(file.path) && isOwned(rule, file))
    const isApproved = voters.values().some((one) => (!isSeenByOne || one === decider) && goesByOneOf(one, rule.people))
    return isApproved ? [] : [rule.people]
  })
  const missing = { votes: Math.max(0, votes), owners: owners.filter(isFirstLike) }
  return missing.votes === 0 && missing.owners.length === 0 ? undefined : missing
}

/** Who has no vote on some candidates, since they wrote of them. */
export async function authorsAmong(
  of: readonly Candidate[],
  { authorMayApprove }: Pick<Deciding, 'authorMayApprove'>,
  whoIs: WhoIs,
): Promise<Set<string>> {
  const authors = authorMayApprove ? [] : of.flatMap(authorsOf)
  return new Set(await Promise.all(authors.map(async ({ id }) => (await whoIs(id)).id)))
}

function isFirstLike(people: readonly string[], at: number, all: readonly (readonly string[])[]): boolean {
  return all.findIndex((each) => each.join('\n') === people.join('\n')) === at
}
