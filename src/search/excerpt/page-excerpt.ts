import type { TermPlaces } from '../index/page-terms.ts'
import type { IndexParts, ScoredChunk } from '../index/term-engine.ts'
import type { Leaf } from '../query/query-tree.ts'
import { highlight, highlightMatches, type Match } from './highlight.ts'

/** Maximum chunks of a page to search for an excerpt. */
const maxExcerpts = 10

/** Returns an excerpt of a page as highlighted HTML: from its best chunk, else from another chunk, a heading or the title. */
export function pageExcerpt(
  { page, chunk: best }: ScoredChunk,
  leaves: readonly Leaf[],
  { store, catalog, analyser }: IndexParts,
): string {
  const { from, to } = catalog.chunkRange(page)
  // Uses the stored offsets of terms: analysing the text again would take far longer.
  const ofBest = store.chunks.termPlaces(best)
  const first = excerptBy(ofBest, leaves)
  if (isMarked(first)) return first
  for (let chunk = from, left = maxExcerpts - 1; chunk < to && left > 0; chunk++) {
    if (chunk === best) continue
    const excerpt = excerptBy(store.chunks.termPlaces(chunk), leaves)
    if (isMarked(excerpt)) return excerpt
    left--
  }
  const { text, terms, ownAt, textAt } = ofBest
  const shown = [
    () => (mayMatch(ofBest, textAt, terms.length, leaves) ? text : ''),
    () => (mayMatch(ofBest, ownAt, textAt, leaves) ? store.chunks.chunk(best).headings.join(' > ') : ''),
    () => store.title(page),
  ]
  for (const part of shown) {
    const excerpt = highlight(part(), leaves, analyser)
    if (isMarked(excerpt)) return excerpt
  }
  return first
}

function excerptBy(places: TermPlaces, leaves: readonly Leaf[]): string {
  return highlightMatches(places.text, storedMatches(places, leaves))
}

function isMarked(html: string): boolean {
  return html.includes('<mark>')
}

const space = 32

/**
 * Returns the matches of leaves in a text, in its order, by searching its stored terms. Faster than `matchesOf`, which analyses
 * the text again, but ignores alternative terms of words.
 */
function storedMatches({ terms, textAt, offsets }: TermPlaces, leaves: readonly Leaf[]): Match[] {
  const found: { at: number; leaf: Leaf }[] = []
  for (const leaf of leaves) {
    const sought = soughtOf(leaf)
    // The space after one occurrence can be the space before the next.
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

/** True if leaves may match the part of a chunk whose terms are between two positions. */
function mayMatch({ terms }: TermPlaces, from: number, to: number, leaves: readonly Leaf[]): boolean {
  return leaves.some((leaf) => {
    // The words of a phrase can also match by alternative terms, which are not consecutive.
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
