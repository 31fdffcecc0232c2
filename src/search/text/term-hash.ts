import { randomInt } from 'node:crypto'
import { grown } from '../bytes/grown.ts'

const space = 32
/** Chosen anew in each process, so that nobody can write a text whose terms have the same hash. */
const firstHash = randomInt(2 ** 32) | 0
const multiplier = randomInt(2 ** 31) * 2 + 1

/** One step of the hash of a term, from {@link firstHash} over its UTF-16 units. */
function nextHash(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, multiplier)
}

export function termHash(text: string, start = 0, end = text.length): number {
  let hash = firstHash
  for (let at = start; at < end; at++) hash = nextHash(hash, text.charCodeAt(at))
  return hash
}

/** The same for the part of a text from one place to before another, whose UTF-16 units are given. */
export function hashOfUnits(text: Uint16Array, start: number, end: number): number {
  let hash = firstHash
  for (let at = start; at < end; at++) hash = nextHash(hash, text[at] ?? 0)
  return hash
}

/** The place of a hash in a table. The lowest bits of a product depend on the lowest bits of its factors only. @param size a power of two */
export function hashSlot(hash: number, size: number): number {
  return (hash ^ (hash >>> 15)) & (size - 1)
}

/** The terms between the spaces of a text: where each begins and ends, and its {@link termHash}. */
export class TermScan {
  count = 0
  starts = new Uint32Array(256)
  ends = new Uint32Array(256)
  hashes = new Int32Array(256)

  /** Scans the part of a text from one place to before another, in place of what was scanned before. */
  scan(text: string, from: number, to: number): void {
    this.count = 0
    let start = from
    let hash = firstHash
    for (let at = from; at < to; at++) {
      const unit = text.charCodeAt(at)
      if (unit !== space) {
        hash = nextHash(hash, unit)
        continue
      }
      if (at > start) this.#add(start, at, hash)
      start = at + 1
      hash = firstHash
    }
    if (to > start) this.#add(start, to, hash)
  }

  #add(start: number, end: number, hash: number): void {
    if (this.count === this.starts.length) {
      this.starts = grown(this.starts, this.count + 1)
      this.ends = grown(this.ends, this.count + 1)
      this.hashes = grown(this.hashes, this.count + 1)
    }
    this.starts[this.count] = start
    this.ends[this.count] = end
    this.hashes[this.count++] = hash
  }
}
