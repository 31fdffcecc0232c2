import { fold } from '../../rules/text/fold.ts'

/** Text of a page: its name, and the words of its prose in uninterrupted runs. */
export type PageWords = { name: string; text: string }

type Term = { key: string; written: string; length: number; count: number; pages: number }
type Counts = Map<string, { written: string; length: number; count: number }>

/** Maximum characters of a document that are counted. */
const maxText = 4_000_000
const longestWord = 40
const run = /[\p{L}\p{M}\p{N}'’-]+(?:[ \n][\p{L}\p{M}\p{N}'’-]+)*/gu
/** English words that do not name a thing. */
const noThing = /(?:ing|ed|ly|ive|able|ous|al)$/

/**
 * Returns the terms of a document's pages, best first. Candidates are words, and pairs of words without a stop word or a sign between them
 * (RAKE: Rose et al., "Automatic keyword extraction from individual documents", 2010), scored by the frequency with which they are not part
 * of a longer candidate (C-value: Frantzi, Ananiadou and Mima, "Automatic recognition of multi-word terms", 2000). Headings count twice. A
 * page's own terms are those that few other pages have. Of equal terms the first in code unit order wins.
 */
export function termsOf(
  pages: readonly PageWords[],
  stopWords: ReadonlySet<string>,
): { document: string[]; own: string[][] } {
  let left = maxText
  const counted = pages.map(({ name, text }) => {
    const part = text.slice(0, left)
    left -= part.length
    return { name: fold(name), counts: countTerms(part, stopWords) }
  })
  const all = new Map<string, Term>()
  for (const { counts } of counted) {
    for (const [key, { written, length, count }] of counts) {
      const term = all.get(key)
      if (term === undefined) all.set(key, { key, written, length, count, pages: 1 })
      else {
        term.count += count
        term.pages++
      }
    }
  }
  const names = ` ${counted.map(({ name }) => name).join(' | ')} `
  const least = pages.length > 3 ? 3 : 2
  const frequent = [...all.values()].filter(({ count }) => count >= least)
  const document = best(frequent, (term) => weightOf(term, all) * (isIn(term.key, names) ? 2 : 1), 5)
  const own = counted.map(({ name, counts }) => {
    const terms = Array.from(counts, ([key, term]) => ({ ...term, key, pages: all.get(key)?.pages ?? 1 })).filter(
      ({ key, length, count }) => count + length > 3 || isIn(key, ` ${name} `),
    )
    const rarity = (term: Term) => Math.log((1 + pages.length) / term.pages)
    const score = (term: Term) => weightOf(term, counts) * rarity(term) * (isIn(term.key, ` ${name} `) ? 2 : 1)
    return best(terms, score, 3, document)
  })
  return { document, own }
}

function countTerms(text: string, stopWords: ReadonlySet<string>): Counts {
  const counts: Counts = new Map()
  const add = (words: readonly string[]) => {
    const written = words.join(' ').toLowerCase()
    const key = fold(written)
    const known = counts.get(key)
    if (known === undefined) counts.set(key, { written, length: words.length, count: 1 })
    else known.count++
  }
  for (const [stretch] of text.matchAll(run)) {
    let before: string | undefined
    for (const word of stretch.split(/[ \n]/)) {
      const bare = word.length > longestWord ? '' : word.replace(/^['’-]+|(?:['’]s)?['’-]*$/g, '')
      const isTerm = isContent(bare, stopWords)
      if (isTerm) add([bare])
      if (isTerm && before !== undefined) add([before, bare])
      before = isTerm && bare === word ? bare : undefined
    }
  }
  return counts
}

function isContent(word: string, stopWords: ReadonlySet<string>): boolean {
  return word.length >= 3 && /^\p{L}.*\p{L}|^\p{L}.*\p{N}$/u.test(word) && !stopWords.has(fold(word))
}

/** Returns the weight of a term, its C-value. Words that do not name a thing, and short ones, weigh less. */
function weightOf(term: Pick<Term, 'key' | 'length' | 'count'>, all: ReadonlyMap<string, { count: number }>): number {
  if (term.length > 1) {
    const rarest = Math.min(...term.key.split(' ').map((word) => all.get(word)?.count ?? term.count))
    // A pair that occurs by chance accounts for a small part of the occurrences of either word.
    return Math.log2(3) * term.count * (0.5 + term.count / (2 * Math.max(rarest, 1)))
  }
  return term.key.length < 4 || noThing.test(term.key) ? term.count * 0.25 : term.count * 0.7
}

function best(
  terms: readonly Term[],
  score: (term: Term) => number,
  most: number,
  others: readonly string[] = [],
): string[] {
  const scored = terms.map((term) => ({ term, score: score(term) })).filter((entry) => entry.score > 0)
  scored.sort((a, b) => b.score - a.score || (a.term.key < b.term.key ? -1 : 1))
  const chosen: string[] = []
  for (const { term } of scored) {
    if (chosen.length === most) break
    if (![...others, ...chosen].some((other) => overlap(term.written, other))) chosen.push(term.written)
  }
  return chosen
}

function overlap(a: string, b: string): boolean {
  const words = b.split(' ')
  return a.split(' ').some((word) => words.some((other) => word.startsWith(other) || other.startsWith(word)))
}

function isIn(key: string, names: string): boolean {
  return names.includes(` ${key} `)
}
