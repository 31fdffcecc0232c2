import { createHash } from 'node:crypto'
import type { Awaiting } from '../../contract/envelope.ts'
import { GanglionError } from '../../contract/errors.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Staging } from '../../git/staging.ts'
import { allTags, editNeuron, hiddenLines, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { accessClass } from '../../rules/access/audience.ts'
import {
  type Actor,
  type Candidate,
  ingestActor,
  policyActor,
  type VotedPage,
} from '../../rules/candidates/candidate.ts'
import { endUserOf } from '../../rules/candidates/metadata.ts'
import {
  authorsOf,
  type Decider,
  type Deciding,
  goesByOneOf,
  isOpenToCurators,
  isOwned,
  isVoteFor,
  mayBeAmong,
  neededVotes,
  votesOn,
} from '../../rules/deciding.ts'
import { ownersOfPage } from '../../rules/freshness.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { inZone, isNamedConnector } from '../../rules/policy.ts'
import type { FileContents, KbPeople, KnowledgeBase } from '../knowledge-base.ts'
import { findNeuron, tagsAtPath } from '../projection/neuron-queries.ts'
import type { MainView } from './merge-candidate.ts'

/** Recorded candidate, with the page that a commit makes of it before the server adds its keys; null removes the page. */
export type DecidedPage = { candidate: Candidate; path: string; text: string | null }

/** Page to be decided on. `before`: its text on main, undefined for a new page. */
type JudgedPage = DecidedPage & { before: string | undefined }

/** Settings that decisions depend on. */
export type Judging = Pick<KbSettings, 'deciding' | 'policy' | 'zones' | 'defaultAudience' | 'inlineTags'>

/** Decision that a commit may go to main. */
export type Decided = {
  /** The author. Undefined: only earlier votes count, to find out what is missing. */
  by: Actor | undefined
  /** Candidates that the commit approves. */
  of: readonly DecidedPage[]
  /** True if `by` writes another text than the candidates propose, and so is its author. */
  writes?: () => Promise<boolean>
  /** Further files that `by` adds, which earlier voters have not seen. */
  brings?: () => Promise<ReadonlySet<string>>
}

/** State for a decision: that of a write, or a view of main for readers. */
type DecisionView = Staging | MainView

/**
 * Returns the approvals that these changes still need to go to main, by the settings on main in this very write; undefined if none, and
 * for work that is only tried out.
 * @throws {GanglionError} `approval_needed` if the settings cannot be read
 */
export async function awaitedApprovals(
  kb: KnowledgeBase,
  view: DecisionView,
  files: FileContents,
  decided: Decided,
): Promise<Awaiting | undefined> {
  if ('isTrial' in view && view.isTrial) return undefined
  const settings = await kb.settings(view)
  if (settings.deciding !== null && isOpenToCurators(settings.deciding)) return undefined
  const touched = [...files].map(async ([path, content]) => {
    const text = content === null || !isNeuronPath(path) ? '' : await textOf(view, content)
    return { path, tags: [...tagsAtPath(tablesOf(kb, view), path), ...allTags(parseNeuronFile(text), settings)] }
  })
  const judged = { ...decided, of: await judgedPages(kb, view, decided.of) }
  return missingApprovals(settings, await Promise.all(touched), judged, kb.people.whoIs)
}

/** Returns trailers with the end users on whose behalf candidates were sent. */
export function endUserTrailers(candidates: readonly Candidate[]): [string, string][] {
  const named = candidates.flatMap((candidate) => endUserOf(candidate) ?? [])
  return [...new Set(named.map(({ id, name = id }) => `${name} <${id}>`))].map((value) => ['On-Behalf-Of', value])
}

/**
 * Returns trailers with the end users behind the pages of a commit, and its approvers: those who voted for the pages, and last its author.
 * Must run within a write.
 */
export async function approverTrailers(
  kb: KnowledgeBase,
  staging: Staging,
  { by, of, writes }: Decided & { by: Actor },
): Promise<[string, string][]> {
  const { whoIs } = kb.people
  const isVotedOn = of.some(({ candidate }) => candidate.decisions.length > 0)
  const judged = { of: isVotedOn ? await judgedPages(kb, staging, of) : [], writes }
  const votes = await standingVotes(await kb.settings(staging), judged, whoIs)
  if (votes.size > 0) votes.delete((await whoIs(by.id)).id)
  const approver = policyIds.has(by.id) ? policyActor : by
  const approvers = [...votes.values(), approver].map(({ id, name }): [string, string] => [
    'Approved-By',
    `${name} <${id}>`,
  ])
  return [...endUserTrailers(of.map(({ candidate }) => candidate)), ...approvers]
}

/**
 * Returns the records of a person's vote on pages, for each page on which they have no standing vote; undefined if they may not
 * vote, since they may have written one of them. Must run within a write.
 */
export async function votesBy(
  kb: KnowledgeBase,
  staging: Staging,
  of: readonly DecidedPage[],
  { id }: Actor,
): Promise<{ candidate: Candidate; for: VotedPage }[] | undefined> {
  const { whoIs } = kb.people
  const settings = await kb.settings(staging)
  const { deciding } = settings
  const candidates = of.map(({ candidate }) => candidate)
  const person = await whoIs(id)
  if (deciding === null || mayBeAmong(await authorsAmong(candidates, deciding, whoIs), person)) return undefined
  const missing = (await judgedPages(kb, staging, of)).map(async (page) => {
    const votes = await standingVotes(settings, { of: [page] }, whoIs)
    return votes.has(person.id) ? [] : [{ candidate: page.candidate, for: votedPage(page, settings) }]
  })
  return (await Promise.all(missing)).flat()
}

/** Returns the voters for a candidate's page as an approval would make it now; see {@link standingVotes}. */
export async function votesFor(kb: KnowledgeBase, view: DecisionView, page: DecidedPage): Promise<Map<string, Actor>> {
  return standingVotes(await kb.settings(view), { of: await judgedPages(kb, view, [page]) }, kb.people.whoIs)
}

/** Adds the text of each page on main. */
function judgedPages(kb: KnowledgeBase, view: DecisionView, of: readonly DecidedPage[]): Promise<JudgedPage[]> {
  const judged = of.map(async (page): Promise<JudgedPage> => {
    const { target } = page.candidate
    const blob = target === null ? undefined : findNeuron(tablesOf(kb, view), target)?.blob
    return { ...page, before: blob === undefined ? undefined : await view.readText(blob) }
  })
  return Promise.all(judged)
}

function tablesOf(kb: KnowledgeBase, view: DecisionView): MainView['sql'] {
  return 'sql' in view ? view.sql : kb.projection.write
}

async function textOf(view: DecisionView, content: string | Buffer | { oid: Oid }): Promise<string> {
  return typeof content === 'string' || Buffer.isBuffer(content) ? content.toString() : view.readText(content.oid)
}

/** File that a change of main touches: its path, and the tags of its page before and after. */
export type Touched = { path: string; tags: readonly string[] }

/** Parts of the service that approve on behalf of the policy, which is no vote of a person. */
const policyIds: ReadonlySet<string> = new Set([policyActor.id, ingestActor.id])

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
  whoIs: KbPeople['whoIs'],
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
  whoIs: KbPeople['whoIs'],
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

/**
 * Returns the voters for each of several pages as a commit makes them now: the actor of each person, by person. A vote falls when the
 * page or its audience has changed since, unless `kb.yaml` keeps votes over clean merges.
 */
async function standingVotes(
  settings: Judging,
  { of, writes }: { of: readonly JudgedPage[]; writes?: (() => Promise<boolean>) | undefined },
  whoIs: KbPeople['whoIs'],
): Promise<Map<string, Actor>> {
  const people = new Map<string, string>()
  for (const { candidate } of of)
    for (const { action, by } of candidate.decisions)
      if (action === 'approve' || action === 'request-changes') people.set(by.id, (await whoIs(by.id)).id)
  if (people.size === 0) return new Map()
  const isMergeOnly = settings.deciding?.approvals.keepOnMerge === true && (await writes?.()) !== true
  const [first = new Map<string, Actor>(), ...others] = of.map((page): Map<string, Actor> => {
    const now = votedPage(page, settings)
    const votes = votesOn(page.candidate, (id) => people.get(id) ?? id)
    const standing = [...votes].filter(([, vote]) => isVoteFor(vote, now, isMergeOnly))
    return new Map(standing.map(([id, { by }]) => [id, by]))
  })
  return new Map([...first].filter(([id]) => others.every((votes) => votes.has(id))))
}

/** Returns the page and audience that a vote is for. A vote on a removal is for the removed page. */
function votedPage(
  { text, before }: Pick<JudgedPage, 'text' | 'before'>,
  settings: Pick<KbSettings, 'defaultAudience' | 'inlineTags'>,
): VotedPage {
  const page = digest(withoutServerKeys(text ?? before ?? ''))
  if (text === null) return { page, audience: 'removed' }
  const file = parseNeuronFile(text)
  const { audience = settings.defaultAudience } = file.fields
  const access = accessClass({ audience, tags: allTags(file, settings) })
  // A merge that moves comment marks can make hidden text public, whatever the audience of the page.
  const hidden = hiddenLines(file)
  return { page, audience: hidden.length === 0 ? access : `${access}, without ${digest(hidden.join('\n'))}` }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Removes the keys that the server adds to a page. */
export function withoutServerKeys(text: string): string {
  return editNeuron(text, { seqId: undefined, id: undefined, candidate: undefined })
}
