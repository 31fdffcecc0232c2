import type { TermPlaces } from '../index/page-terms.ts'
import type { Leaf } from '../query/query-tree.ts'
import type { Match } from './highlight-matches.ts'

const space = 32

/**
 * Where leaves match a text whose terms were kept, as `matchesOf` finds it, but for what a word is found by beside its own
 * term. It looks for the terms where the text would have to be analysed again.
 */
export function storedMatches({ terms, textAt, offsets }: TermPlaces, leaves: readonly Leaf[]): Match[] {
  const found: { at: number; leaf: Leaf }[] = []
  for (const leaf of leaves) {
    const sought = soughtOf(leaf)
    // The space after one occurrence is the space before the next.
    for (let at = terms.indexOf(sought, textAt); at >= 0; at = terms.indexOf(sought, at + sought.length - 1)) {
      found.push({ at, leaf })
    }
  }
  if (found.length > 1) found.sort((a, b) => a.at - b.at)
  const matches: Match[] = []
  let index = 0
  let counted = textAt
  for (const { at, leaf } of found) {
    for (; counted < at; counted++) if (terms.charCodeAt(counted + 1) === space) index++
    const start = offsets[2 * index]
    const end = offsets[2 * (index + (leaf.type === 'phrase' ? leaf.terms.length : 1)) - 1]
    if (start !== undefined && end !== undefined) matches.push({ start, end, typed: leaf.text })
  }
  return matches
}

/** Whether leaves can match, in any way, the part of a chunk whose terms stand from one place to before another. */
export function mayMatch({ terms }: TermPlaces, from: number, to: number, leaves: readonly Leaf[]): boolean {
  return leaves.some((leaf) => {
    // The words of a phrase can be found by terms that do not stand together.
    if (leaf.type === 'phrase') return true
    const sought = soughtOf(leaf)
    const at = terms.indexOf(sought, from)
    return at >= 0 && at < to
  })
}

function soughtOf(leaf: Leaf): string {
  if (leaf.type === 'prefix') return ` ${leaf.prefix}`
  return ` ${leaf.type === 'term' ? leaf.term : leaf.terms.join(' ')} `
}
