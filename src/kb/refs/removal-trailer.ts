import type { Trailers } from '../../git/history/trailers.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'

/** A Neuron that is deleted, and the candidate that proposed it: the page's front matter is no longer there to say so. */
export type Removal = { seqId: string; candidateId: string }

/** Names the trailer of a commit on main that holds a {@link Removal}. */
const removalTrailer = 'Removes'
/** Names the trailer of a commit on main that approves a candidate whose text a Neuron has already. */
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

/** Nothing where the trailer's value is no removal. */
function parseRemoval(value: string): Removal | undefined {
  const [seqId = '', candidateId = '', ...rest] = value.trim().split(' ')
  const isRemoval = parseSeqId(seqId) !== undefined && isUuid(candidateId) && rest.length === 0
  return isRemoval ? { seqId, candidateId } : undefined
}
