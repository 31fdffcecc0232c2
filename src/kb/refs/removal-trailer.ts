import type { Trailers } from '../../git/history/trailers.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'

/** Deleted Neuron, and the candidate that proposed it: the page's front matter no longer exists to name it. */
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

/** Undefined if the trailer's value is not a removal. */
function parseRemoval(value: string): Removal | undefined {
  const [seqId = '', candidateId = '', ...rest] = value.trim().split(' ')
  const isRemoval = parseSeqId(seqId) !== undefined && isUuid(candidateId) && rest.length === 0
  return isRemoval ? { seqId, candidateId } : undefined
}
