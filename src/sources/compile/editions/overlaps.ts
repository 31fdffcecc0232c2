import { setImmediate } from 'node:timers/promises'
import { wordsWithin } from '../../../rules/neurons/resemblance.ts'
import { inlineText } from '../inline-text.ts'

/** Similarity of a new text to an old one, each value from 0 to 1. */
export type Overlap = {
  /** Index of the old text. */
  old: number
  /** Jaccard coefficient: the shared part of both texts together. */
  resemblance: number
  /** Share of the shorter text that both have in common. */
  containment: number
}

/** Maximum shingles of all texts together. If there are more, a sample is compared. */
const maxShingles = 1_000_000
/** Maximum number of texts, if they are also a tenth of all, with a shingle that still distinguishes texts. */
const fewest = 20
/** Number above that of all different words. */
const wordBase = 2 ** 25
/** Number of texts that are processed before yielding to the event loop. */
const turn = 16

/**
 * Returns the overlaps of each new Markdown text with the old ones. Resemblance (Jaccard) and containment compare the sets of pairs of
 * neighbouring words, beginning and end included (A. Broder, "On the resemblance and containment of documents", 1997), without the pairs
 * that many texts have (Broder, Glassman, Manasse and Zweig, "Syntactic clustering of the Web", 1997). Above a million pairs, the same
 * sample of each text is compared (Broder's sketches modulo m). Texts with the same words always have resemblance 1. Takes time in
 * proportion to the words, and to the pairs of texts that share some.
 */
export async function overlapsOf(olds: readonly string[], news: readonly string[]): Promise<Overlap[][]> {
  if (olds.length === 0) return news.map(() => [])
  const [before, after] = await shinglesOf([olds, news])
  const holders = await holdersOf(before ?? [])
  const common = await commonOf(holders, after ?? [], olds.length + news.length)
  const sizeOf = ({ shingles }: Shingled) => {
    let size = 0
    for (const shingle of shingles) if (!common.has(shingle)) size++
    return size
  }
  const sizes = (before ?? []).map(sizeOf)
  const same = new Map<string, number[]>()
  for (const [at, { key }] of (before ?? []).entries()) same.set(key, [...(same.get(key) ?? []), at])
  const found: Overlap[][] = []
  for (const text of after ?? []) {
    if (found.length % turn === 0) await setImmediate()
    const shared = new Uint32Array(olds.length)
    for (const shingle of text.shingles)
      if (!common.has(shingle)) for (const at of holders.get(shingle) ?? []) shared[at] = (shared[at] ?? 0) + 1
    const size = sizeOf(text)
    const equals = new Set(same.get(text.key))
    found.push(
      Array.from(shared).flatMap((count, old): Overlap[] => {
        if (equals.has(old)) return [{ old, resemblance: 1, containment: 1 }]
        const other = sizes[old] ?? 0
        if (count === 0) return []
        return [{ old, resemblance: count / (size + other - count), containment: count / Math.min(size, other) }]
      }),
    )
  }
  return found
}

/** Shingles of a text. Texts with the same words have the same `key`. */
type Shingled = { key: string; shingles: Set<number> }

async function shinglesOf(sides: readonly (readonly string[])[]): Promise<Shingled[][]> {
  const size = sides.flat().reduce((sum, text) => sum + text.length, 0)
  // Words have five letters and a blank.
  const modulus = Math.ceil(size / 6 / maxShingles)
  const numbers = new Map<string, number>([['', 0]])
  const numberOf = (word: string) => {
    const known = numbers.get(word)
    if (known !== undefined) return known
    numbers.set(word, numbers.size)
    return numbers.size - 1
  }
  const shingled: Shingled[][] = []
  let count = 0
  for (const texts of sides) {
    const side: Shingled[] = []
    for (const text of texts) {
      if (count++ % turn === 0) await setImmediate()
      const words = wordsWithin(inlineText(text))
      const shingles = new Set<number>()
      let last = 0
      for (const word of [...words, '']) {
        const next = numberOf(word)
        const shingle = last * wordBase + next
        if (modulus === 1 || spread(last, next) % modulus === 0) shingles.add(shingle)
        last = next
      }
      side.push({ key: words.join(' '), shingles })
    }
    shingled.push(side)
  }
  return shingled
}

/** Returns a hash of two words, by which shingles are sampled. */
function spread(one: number, other: number): number {
  let mixed = Math.imul(one ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(other, 0xc2b2ae35)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x27d4eb2f)
  return (mixed ^ (mixed >>> 13)) >>> 0
}

async function holdersOf(texts: readonly Shingled[]): Promise<Map<number, number[]>> {
  const holders = new Map<number, number[]>()
  for (const [at, { shingles }] of texts.entries()) {
    if (at % turn === 0) await setImmediate()
    for (const shingle of shingles) {
      const known = holders.get(shingle)
      if (known === undefined) holders.set(shingle, [at])
      else known.push(at)
    }
  }
  return holders
}

async function commonOf(
  holders: ReadonlyMap<number, readonly number[]>,
  others: readonly Shingled[],
  count: number,
): Promise<Set<number>> {
  const most = Math.max(fewest, count / 10)
  const counts = new Map<number, number>()
  for (const [at, { shingles }] of others.entries()) {
    if (at % turn === 0) await setImmediate()
    for (const shingle of shingles) {
      const known = counts.get(shingle) ?? holders.get(shingle)?.length
      if (known !== undefined) counts.set(shingle, known + 1)
    }
  }
  return new Set([...counts].filter(([, held]) => held > most).map(([shingle]) => shingle))
}
