import type { Awaiting } from '../contract/envelope.ts'
import { foldEmail } from '../contract/people.ts'
import type { Zone } from '../contract/vocabulary.ts'
import { type Actor, type Candidate, type Decision, ingestActor, type VotedPage } from './candidates/candidate.ts'
import { textsOf } from './candidates/metadata.ts'
import { tagKey } from './neurons/tag.ts'
import { isBelow } from './paths/neuron-path.ts'
import { counted } from './text/numbers.ts'

/** Owners who must approve changes of files below a path, or of pages with a tag. */
export type OwnerRule = { paths: string[]; tags: string[] /** E-mails, and names of keys. */; people: string[] }

/** Settings of `kb.yaml` on who may approve. */
export type Deciding = {
  owners: OwnerRule[]
  /** Number of people who must approve a candidate of a zone. `keepOnMerge`: votes survive clean merges with others' changes. */
  approvals: Record<'yellow' | 'red', number> & { keepOnMerge: boolean }
  /** True if an author of a candidate counts as an approver. */
  authorMayApprove: boolean
}

/**
 * Person or key that approves, the same for each of their keys and sessions. `names`: names under which `owners` may list them.
 * `connectors`: connectors that the key may name as its own.
 */
export type Decider = { id: string; names: readonly string[]; mayDecide: boolean; connectors?: readonly string[] }

/** True if any single curator may approve any candidate, which is the default. */
export function isOpenToCurators({ owners, approvals, authorMayApprove }: Deciding): boolean {
  return owners.length === 0 && approvals.yellow === 1 && approvals.red === 1 && authorMayApprove
}

/** True if an owner rule covers a file. `tags`: those of the page before and after the change. */
export function isOwned(
  rule: Pick<OwnerRule, 'paths' | 'tags'>,
  { path, tags }: { path: string; tags: readonly string[] },
): boolean {
  const keys = tags.map(tagKey)
  const hasTag = rule.tags.map(tagKey).some((tag) => keys.some((key) => key === tag || key.startsWith(`${tag}/`)))
  return hasTag || rule.paths.some((folder) => isBelow(path, folder))
}

/**
 * True if a list of people names the decider. Comparison ignores case and Unicode normalization, but not accents, which distinguish people.
 */
export function goesByOneOf({ names }: Pick<Decider, 'names'>, people: readonly string[]): boolean {
  const known = new Set(people.map(foldEmail))
  return names.some((name) => known.has(foldEmail(name)))
}

export function neededVotes({ approvals }: Deciding, zone: Zone | null): number {
  return zone === 'yellow' || zone === 'red' ? approvals[zone] : 1
}

/** Returns the id of the human or program behind an actor. */
export type PersonOf = (actorId: string) => string

/**
 * Returns the latest vote of each person on the current version of a candidate. A new version, a dismissal and a reopening discard all
 * votes. A request for changes withdraws the vote of that person, whichever key or session they use.
 */
export function votesOn({ decisions }: Pick<Candidate, 'decisions'>, personOf: PersonOf): Map<string, Decision> {
  const votes = new Map<string, Decision>()
  for (const decision of decisions) {
    const { action, by } = decision
    if (action === 'approve') votes.set(personOf(by.id), decision)
    else if (action === 'request-changes') votes.delete(personOf(by.id))
    else if (action === 'revise' || action === 'dismiss' || action === 'reopen') votes.clear()
  }
  return votes
}

/**
 * True if a vote is for the page that an approval would make now. `isMergeOnly`: that page is the one voted on, cleanly merged with others'
 * lines.
 */
export function isVoteFor({ for: voted }: Decision, now: VotedPage, isMergeOnly: boolean): boolean {
  return voted !== undefined && voted.audience === now.audience && (isMergeOnly || voted.page === now.page)
}

/** Returns the authors of a candidate: its sender, and everybody who revised it. */
export function authorsOf(candidate: Pick<Candidate, 'createdBy' | 'decisions' | 'metadata'>): Actor[] {
  const first = { ...candidate.createdBy, id: senderOf(candidate) }
  return [first, ...candidate.decisions.filter(({ action }) => action === 'revise').map(({ by }) => by)]
}

/** Returns the id of a candidate's sender. For a candidate compiled from a Source it is `source:<id>`, which stands for the uploader. */
export function senderOf({ createdBy, metadata }: Pick<Candidate, 'createdBy' | 'metadata'>): string {
  const source = createdBy.id === ingestActor.id ? textsOf(metadata)('source') : undefined
  return source === undefined ? createdBy.id : `source:${source}`
}

/**
 * True if somebody is or may be an author. A commit on a forge's repository may be of any account there, and the uploader of a deleted
 * Source may be anybody.
 */
export function mayBeAmong(authors: ReadonlySet<string>, { id }: Pick<Decider, 'id'>): boolean {
  if ([...authors].some((author) => author.startsWith('source:'))) return true
  const isRepository = (author: string) => /^@.*\//.test(author)
  return authors.has(id) || (id.startsWith('@') && [...authors].some(isRepository))
}

/** @param reader names of the one who reads the text */
export function awaitingText({ votes, owners }: Awaiting, reader: readonly string[] = []): string {
  const approval = (people: readonly string[]) =>
    goesByOneOf({ names: reader }, people) ? 'your approval' : `the approval of ${people.join(' or ')}`
  const theirs = owners.map(approval).join(', and ')
  // An owner's approval counts as one of the votes.
  if (theirs !== '' && votes < 2) return `It needs ${theirs}.`
  const more = counted(votes, 'more approval')
  return theirs === '' ? `It needs ${more}.` : `It needs ${more}, among them ${theirs}.`
}
