import type { Awaiting } from '../contract/envelope.ts'
import { foldEmail } from '../contract/people.ts'
import type { Zone } from '../contract/vocabulary.ts'
import { type Actor, type Candidate, type Decision, ingestActor, type VotedPage } from './candidates/candidate.ts'
import { textsOf } from './candidates/metadata.ts'
import { tagKey } from './neurons/tag.ts'
import { isBelow } from './paths/is-below.ts'

/** Whose approval changes of some files need: files below a path, or pages with a tag. */
export type OwnerRule = { paths: string[]; tags: string[] /** E-mails, and names of keys. */; people: string[] }

/** What `kb.yaml` says of who decides. */
export type Deciding = {
  owners: OwnerRule[]
  /** Number of people who have to approve a candidate of a zone. `keepOnMerge`: votes outlive clean merges of what others changed. */
  approvals: Record<'yellow' | 'red', number> & { keepOnMerge: boolean }
  /** Whether who wrote a candidate counts as one of them. */
  authorMayApprove: boolean
}

/**
 * Person or key that approves, by whatever key or session. `names`: names under which `owners` may list them. `connectors`: connectors that
 * the key may speak as.
 */
export type Decider = { id: string; names: readonly string[]; mayDecide: boolean; connectors?: readonly string[] }

/** Whether any curator decides on anything alone, as without these settings. */
export function isOpenToCurators({ owners, approvals, authorMayApprove }: Deciding): boolean {
  return owners.length === 0 && approvals.yellow === 1 && approvals.red === 1 && authorMayApprove
}

/** Whether a rule holds for a file; `tags` are those of the page before and after the change. */
export function isOwned(
  rule: Pick<OwnerRule, 'paths' | 'tags'>,
  { path, tags }: { path: string; tags: readonly string[] },
): boolean {
  const keys = tags.map(tagKey)
  const hasTag = rule.tags.map(tagKey).some((tag) => keys.some((key) => key === tag || key.startsWith(`${tag}/`)))
  return hasTag || rule.paths.some((folder) => isBelow(path, folder))
}

/** Only case and Unicode's spellings do not count: an accent makes another person. */
export function goesByOneOf({ names }: Pick<Decider, 'names'>, people: readonly string[]): boolean {
  const known = new Set(people.map(foldEmail))
  return names.some((name) => known.has(foldEmail(name)))
}

export function neededVotes({ approvals }: Deciding, zone: Zone | null): number {
  return zone === 'yellow' || zone === 'red' ? approvals[zone] : 1
}

/** Finds the one human or program behind the id of an actor. */
export type PersonOf = (actorId: string) => string

/**
 * Returns the latest vote of each person on a candidate as it is now. A new version, a dismissal and a reopening begin anew; who asks for
 * changes takes their vote back, whichever key or session they use.
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

/** Whether a vote is for the page that an approval makes now. `isMergeOnly`: that is what was voted on, merged with others' lines. */
export function isVoteFor({ for: voted }: Decision, now: VotedPage, isMergeOnly: boolean): boolean {
  return voted !== undefined && voted.audience === now.audience && (isMergeOnly || voted.page === now.page)
}

/** Who wrote a candidate: its sender, and all who revised it. */
export function authorsOf(candidate: Pick<Candidate, 'createdBy' | 'decisions' | 'metadata'>): Actor[] {
  const first = { ...candidate.createdBy, id: senderOf(candidate) }
  return [first, ...candidate.decisions.filter(({ action }) => action === 'revise').map(({ by }) => by)]
}

/** The id of who sent a candidate. Where the service made it of a Source, that stands for its uploader, as `source:<id>`. */
export function senderOf({ createdBy, metadata }: Pick<Candidate, 'createdBy' | 'metadata'>): string {
  const source = createdBy.id === ingestActor.id ? textsOf(metadata)('source') : undefined
  return source === undefined ? createdBy.id : `source:${source}`
}

/**
 * Whether somebody is among the authors, or may be: who commits to the repository on a forge may be any account there, and who uploaded a
 * Source that is gone, anybody.
 */
export function mayBeAmong(authors: ReadonlySet<string>, { id }: Pick<Decider, 'id'>): boolean {
  if ([...authors].some((author) => author.startsWith('source:'))) return true
  const isRepository = (author: string) => /^@.*\//.test(author)
  return authors.has(id) || (id.startsWith('@') && [...authors].some(isRepository))
}

export function awaitingText({ votes, owners }: Awaiting): string {
  const theirs = owners.map((people) => `the approval of ${people.join(' or ')}`).join(', and ')
  // That of an owner is one of the votes.
  if (theirs !== '' && votes < 2) return `It needs ${theirs}.`
  const more = votes === 1 ? '1 more approval' : `${votes} more approvals`
  return theirs === '' ? `It needs ${more}.` : `It needs ${more}, among them ${theirs}.`
}
