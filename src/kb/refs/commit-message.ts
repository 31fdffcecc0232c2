import type { Trailers } from '../../git/history/trailers.ts'
import { committerOfCommit, type Signature } from '../../git/objects/object.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'
import { inert } from '../../rules/text/inert.ts'
import { oneLine } from '../../rules/text/lines.ts'

/** Maximum characters of a trailer's value: a name and an id of 200 each, all of them emojis. */
const maxTrailer = 1_000

/**
 * Formats a commit message: a subject and trailers. Nothing in a title or a name can add a trailer, since each value stays on its line and
 * the block is the message's last. A forge takes no action on the text of a title.
 */
export function commitMessage(
  subject: string,
  trailers: Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[],
  body: readonly string[] = [],
): string {
  const pairs = isList(trailers) ? trailers : Object.entries(trailers)
  const lines = pairs.map(([name, value]) => `${name}: ${oneLine(value, maxTrailer)}`)
  return inert(
    [oneLine(subject, 120), ...(body.length > 0 ? [body.join('\n')] : []), `${lines.join('\n')}\n`].join('\n\n'),
  )
}

/** Domain of the e-mails of authors and committers in the server's commits. It can receive no mail. */
export const serverDomain = '@ganglion.invalid'

export function signatureOf(actor: Actor, at: Date): Signature {
  return { name: oneLine(actor.name, 100), email: actor.id.replaceAll(':', '-') + serverDomain, at }
}

export function committer(at: Date): Signature {
  return { name: 'Ganglion', email: `ganglion${serverDomain}`, at }
}

function isList(trailers: object): trailers is readonly (readonly [string, string])[] {
  return Array.isArray(trailers)
}

/** True if the server made a commit: then every change in it has a candidate. */
export function isByServer(commit: Buffer): boolean {
  return committerOfCommit(commit).email === committer(new Date(0)).email
}

/** Deletion of a Neuron, and its candidate, which no front matter can name after the page is gone. */
export type Removal = { seqId: string; candidateId: string }

/** Name of the trailer for a {@link Removal} in a commit on main. */
const removalTrailer = 'Removes'
/** Name of the trailer for a candidate that is approved although a Neuron already has its text. */
const unchangedTrailer = 'Unchanged'

export function removalTrailers(removals: readonly Removal[]): [string, string][] {
  return trailersOf(removalTrailer, removals)
}

export function unchangedTrailers(unchanged: readonly Removal[]): [string, string][] {
  return trailersOf(unchangedTrailer, unchanged)
}

function trailersOf(name: string, pairs: readonly Removal[]): [string, string][] {
  return pairs.map(({ seqId, candidateId }) => [name, `${seqId} ${candidateId}`])
}

export function parseRemovals(trailers: Trailers): Removal[] {
  return parsePairs(removalTrailer, trailers)
}

export function parseUnchanged(trailers: Trailers): Removal[] {
  return parsePairs(unchangedTrailer, trailers)
}

function parsePairs(wanted: string, trailers: Trailers): Removal[] {
  return trailers.flatMap(([name, value]) => (name === wanted ? (parseRemoval(value) ?? []) : []))
}

/** Parses the trailer of a removal; undefined if its value is not one. */
function parseRemoval(value: string): Removal | undefined {
  const [seqId = '', candidateId = '', ...rest] = value.trim().split(' ')
  const isRemoval = parseSeqId(seqId) !== undefined && isUuid(candidateId) && rest.length === 0
  return isRemoval ? { seqId, candidateId } : undefined
}
