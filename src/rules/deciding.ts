import type { Awaiting } from '../contract/envelope.ts'
import { foldEmail } from '../contract/people.ts'
import type { Zone } from '../contract/vocabulary.ts'
import { type Actor, type Candidate, ingestActor } from './candidates/candidate.ts'
import { textsOf } from './candidates/metadata.ts'
import { tagKey } from './neurons/tag.ts'
import { isBelow } from './paths/is-below.ts'

/** Whose approval changes of some files need: files below a path, or pages with a tag. */
export type OwnerRule = { paths: string[]; tags: string[] /** E-mails, and names of keys. */; people: string[] }

/** What `kb.yaml` says of who decides. */
export type Deciding = {
  owners: OwnerRule[]
  /** People who have to approve a candidate of a zone. */
  approvals: Record<'yellow' | 'red', number>
  /** Whether who wrote a candidate counts as one of them. */
  authorMayApprove: boolean
}

/** Somebody who approves, whatever key or session they use. `names`: by which `owners` may name them. */
export type Decider = { id: string; names: readonly string[]; mayDecide: boolean }

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

/** Who has approved a candidate as it is now. A new version, a dismissal and a reopening begin anew; who asks for changes takes it back. */
export function votesOn({ decisions }: Pick<Candidate, 'decisions'>): Actor[] {
  const votes = new Map<string, Actor>()
  for (const { action, by } of decisions) {
    if (action === 'approve') votes.set(by.id, by)
    else if (action === 'request-changes') votes.delete(by.id)
    else if (action === 'revise' || action === 'dismiss' || action === 'reopen') votes.clear()
  }
  return [...votes.values()]
}

/** Those who have approved each of several candidates. */
export function commonVotes(of: readonly Pick<Candidate, 'decisions'>[]): Actor[] {
  const [first, ...others] = of.map(votesOn)
  return (first ?? []).filter(({ id }) => others.every((votes) => votes.some((vote) => vote.id === id)))
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
