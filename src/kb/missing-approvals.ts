import type { Awaiting } from '../contract/envelope.ts'
import { GanglionError } from '../contract/errors.ts'
import { editNeuron, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import type { Actor, Candidate } from '../rules/candidates/candidate.ts'
import {
  authorsOf,
  type Decider,
  type Deciding,
  goesByOneOf,
  isOpenToCurators,
  isOwned,
  mayBeAmong,
  neededVotes,
} from '../rules/deciding.ts'
import { ownersOfPage } from '../rules/freshness.ts'
import { inZone, isNamedConnector } from '../rules/policy.ts'
import {
  type DecidedPage,
  type JudgedPage,
  type Judging,
  standingVotes,
  type WhoIs,
  withoutServerKeys,
} from './standing-votes.ts'

/** Who decides that a commit goes to main, and on what. */
export type Decided = {
  /** Undefined: only those count who voted before, as where it is asked what is missing. */
  by: Actor | undefined
  /** The candidates that the commit approves. */
  of: readonly DecidedPage[]
  /** Whether `by` brings another text than the candidates propose: then `by` is its author. */
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
  settings: Judging,
  touched: readonly Touched[],
  { by, of, writes, brings }: Omit<Decided, 'of'> & { of: readonly JudgedPage[] },
  whoIs: WhoIs,
): Promise<Awaiting | undefined> {
  const { deciding, policy, zones } = settings
  if (deciding === null) throw new GanglionError('approval_needed', unreadable)
  if (isOpenToCurators(deciding)) return undefined
  const isPolicy = by !== undefined && policyIds.has(by.id)
  const decider = by === undefined || isPolicy ? undefined : await whoIs(by.id)
  if (decider && isRenewalByOwner(settings, touched, of, decider)) return undefined
  const candidates = of.map(({ candidate }) => candidate)
  const authors = await authorsAmong(candidates, deciding, whoIs)
  if (!deciding.authorMayApprove && decider && (await writes?.())) authors.add(decider.id)
  const voters = new Map<string, Decider>()
  const count = (who: Decider) => {
    if (mayBeAmong(authors, who)) return
    voters.set(who.id, { ...who, names: [...(voters.get(who.id)?.names ?? []), ...who.names] })
  }
  for (const { id } of (await standingVotes(settings, { of, writes }, whoIs)).values()) {
    const who = await whoIs(id)
    if (who.mayDecide) count(who)
  }
  if (decider) count(decider)

  const isNamed = async ({ connector, createdBy }: Candidate) =>
    isNamedConnector(connector, { policy, zones }) &&
    (!createdBy.id.includes(':') || (await whoIs(createdBy.id)).connectors?.includes(connector) === true)
  const needed = candidates.map(async (candidate) => {
    // What cannot be read may have said red.
    const zone = zones === null ? 'red' : inZone(candidate, { zones }).verdict.zone
    const isStrict = zone === 'red' || zone === 'yellow'
    const isFree = isPolicy && !isStrict && (deciding.authorMayApprove || (await isNamed(candidate)))
    return isFree ? 0 : neededVotes(deciding, zone)
  })
  const votes = Math.max(0, ...(await Promise.all(needed))) - voters.size
  const brought = (await brings?.()) ?? new Set()
  const owners = deciding.owners.flatMap((rule) => {
    if (!touched.some((file) => isOwned(rule, file))) return []
    const isSeenByOne = touched.some((file) => brought.has(file.path) && isOwned(rule, file))
    const own = decider && voters.has(decider.id) ? [decider] : []
    const isApproved = (isSeenByOne ? own : [...voters.values()]).some((one) => goesByOneOf(one, rule.people))
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

/** Whether all that a commit does is that an owner of its pages says that these are still true, which needs nobody else. */
function isRenewalByOwner(
  { deciding }: Judging,
  touched: readonly Touched[],
  of: readonly JudgedPage[],
  decider: Decider,
): boolean {
  const rules = deciding?.owners ?? []
  if (of.length === 0 || of.length !== touched.length || !decider.mayDecide) return false
  const isOfOwner = of.every(({ path, text, before }) => {
    const file = touched.find((each) => each.path === path)
    if (file === undefined || text === null || before === undefined || unsigned(text) !== unsigned(before)) return false
    const { owner = null } = parseNeuronFile(before).fields
    return goesByOneOf(decider, ownersOfPage({ ...file, owner }, rules))
  })
  const hold = rules.filter((rule) => touched.some((file) => isOwned(rule, file)))
  return isOfOwner && hold.every(({ people }) => goesByOneOf(decider, people))
}

function unsigned(text: string): string {
  return withoutServerKeys(editNeuron(text, { verified: undefined }))
}

function isFirstLike(people: readonly string[], at: number, all: readonly (readonly string[])[]): boolean {
  return all.findIndex((each) => each.join('\n') === people.join('\n')) === at
}
