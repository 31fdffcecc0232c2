import { randomInt } from 'node:crypto'

const space = 32
/** Chosen anew in each process, so that nobody can write a text whose terms have the same hash. */
const firstHash = randomInt(2 ** 32) | 0
const multiplier = randomInt(2 ** 31) * 2 + 1

/** One step of the hash of a term, from {@link firstHash} over its UTF-16 units. */
function nextHash(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, multiplier)
}

export function hashOf(text: string, start = 0, end = text.length): number {
  let hash = firstHash
  for (let at = start; at < end; at++) hash = nextHash(hash, text.charCodeAt(at))
  return hash
}

/** Calls with every term between spaces, of the part of a text from one place to before another. */
export function eachTerm(
  text: string,
  from: number,
  to: number,
  visit: (start: number, end: number, hash: number) => void,
): void {
  let start = from
  let hash = firstHash
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at)
    if (unit !== space) {
      hash = nextHash(hash, unit)
      continue
    }
    if (at > start) visit(start, at, hash)
    start = at + 1
    hash = firstHash
  }
  if (to > start) visit(start, to, hash)
}
