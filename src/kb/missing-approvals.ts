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

/** Decision that a commit goes to main: its author, and the candidates. */
export type Decided = {
  /** Undefined: only earlier votes count, to find out what is missing. */
  by: Actor | undefined
  /** Candidates that the commit approves. */
  of: readonly DecidedPage[]
  /** True if `by` writes another text than the candidates propose, and so is its author. */
  writes?: () => Promise<boolean>
  /** Further files that `by` adds, which earlier voters have not seen. */
  brings?: () => Promise<ReadonlySet<string>>
}

/** File that a change of main touches: its path, and the tags of its page before and after. */
export type Touched = { path: string; tags: readonly string[] }

/** Parts of the service that approve on behalf of the policy, which is no vote of a person. */
const policyIds: ReadonlySet<string> = new Set(['policy', 'ingest'])

const unreadable =
  'Nothing can be approved: kb.yaml does not say in a readable way who decides. Mend it in the repository.'

/**
 * Returns the approvals that a commit still needs to go to main, by the owners and approvals in `kb.yaml`; undefined if none. This is the
 * only place of the rule: every commit on main is checked against it.
 * @throws {GanglionError} `approval_needed` if the settings cannot be read
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
    // Unreadable zones may have been red.
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

/** Returns the authors of some candidates, who have no vote on them. */
export async function authorsAmong(
  of: readonly Candidate[],
  { authorMayApprove }: Pick<Deciding, 'authorMayApprove'>,
  whoIs: WhoIs,
): Promise<Set<string>> {
  const authors = authorMayApprove ? [] : of.flatMap(authorsOf)
  return new Set(await Promise.all(authors.map(async ({ id }) => (await whoIs(id)).id)))
}

/** True if a commit only renews the verification of pages by their owner, which needs nobody else. */
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
