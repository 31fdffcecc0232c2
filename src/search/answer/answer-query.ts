import { tagKey } from '../../rules/neurons/tag.ts'
import { highlight, highlightMatches, type Match } from '../excerpt/highlight.ts'
import type { Catalog } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import type { TermPlaces } from '../index/page-terms.ts'
import type { IndexParts, ScoredChunk } from '../index/term-engine.ts'
import { type ParsedQuery, wholeQuery } from '../query/parse-query.ts'
import { type Leaf, leavesOf, type Query } from '../query/query-tree.ts'
import { literalOf } from '../query/query-words.ts'
import type { FacetCount, Facets, PageHits, Scope } from '../search-index.ts'
import { pagesForAnswer } from './find-pages.ts'

/**
 * Returns the pages that a query matches, best first, each with an excerpt. Pages found only by their shared notes come last.
 * @throws {SearchTimeout}
 */
export function answerQuery(
  q: string,
  parsed: ParsedQuery,
  parts: IndexParts,
  { scope, hasFacets, deadline }: { scope: Scope; hasFacets: boolean; deadline: Deadline },
): PageHits {
  const { analyser, catalog } = parts
  const { limit, offset = 0 } = scope
  const visible = catalog.visible(scope)
  const allowedPages = parsed.filters.length === 0 ? visible.pages : catalog.passing(parsed.filters, visible)
  const within = { visible, allowedPages, limit: offset + limit, deadline }
  const { pages, total, matching, matched, suggestion } = pagesForAnswer(q, parsed, parts, within)
  const found = pages.slice(offset).map(({ found, leaves, rank }) => ({
    key: catalog.keyOf(found.page),
    highlight: pageExcerpt(found, leaves, parts),
    rank,
  }))
  const query = wholeQuery(parsed)
  const leaves = leavesOf(query)
  const noted = parsed.required.length === 0 ? [] : notedPages(query, catalog, { allowedPages, matching, deadline })
  const skipped = Math.max(0, offset - pages.length)
  const shown = noted.slice(skipped, skipped + limit - found.length).map(({ page, note }) => ({
    key: catalog.keyOf(page),
    highlight: highlight(note, leaves, analyser),
    rank: (pages.at(-1)?.rank ?? 2) / 2,
  }))
  return {
    hits: [...found, ...shown],
    total: total + noted.length,
    matched,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(hasFacets ? { facets: facetsOf(withPages(matching(), noted), catalog) } : {}),
  }
}

function withPages(pages: Uint8Array, others: readonly { page: number }[]): Uint8Array {
  const all = pages.slice()
  for (const { page } of others) all[page] = 1
  return all
}

const maxValues = 50

/** Counts pages by tag, kind and folder, most frequent first. @param pages 1 for each page to count, by id */
function facetsOf(pages: Uint8Array, catalog: Catalog): Facets {
  const [tags, kinds, folders] = [new Counter(), new Counter(), new Counter()]
  for (let page = 0; page < pages.length; page++) {
    if (pages[page] !== 1) continue
    const facts = catalog.factsOf(page)
    if (facts === undefined) continue
    kinds.add(catalog.kindOf(page))
    folders.add(facts.path.slice(0, Math.max(0, facts.path.lastIndexOf('/'))))
    for (const tag of facts.tags) tags.add(tag, tagKey(tag))
  }
  return { tags: tags.counts(), kinds: kinds.counts(), folders: folders.counts() }
}

class Counter {
  readonly #counts = new Map<string, FacetCount>()

  /** Counts a value. @param key same for all spellings of a value; the alphabetically first spelling is shown */
  add(value: string, key = value): void {
    const known = this.#counts.get(key)
    if (known === undefined) this.#counts.set(key, { value, count: 1 })
    else this.#counts.set(key, { value: value < known.value ? value : known.value, count: known.count + 1 })
  }

  counts(): FacetCount[] {
    return [...this.#counts.values()]
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, maxValues)
  }
}

/**
 * Returns the pages that match only by their shared note, by key.
 * @param among 1 for each page that may be found, by id
 * @param matching pages found by their text
 */
function notedPages(
  query: Query,
  catalog: Catalog,
  { allowedPages, matching, deadline }: { allowedPages: Uint8Array; matching: () => Uint8Array; deadline: Deadline },
): { page: number; note: string }[] {
  const noted: { page: number; note: string }[] = []
  let found: Uint8Array | undefined
  for (const [page, note] of catalog.notes()) {
    deadline.check()
    if (allowedPages[page] !== 1 || !matchesNote(query, note)) continue
    found ??= matching()
    if (found[page] === 1) continue
    noted.push({ page, note })
  }
  return noted.sort((a, b) => (catalog.keyOf(a.page) < catalog.keyOf(b.page) ? -1 : 1))
}

/** True if a query matches a note. The typed text of each leaf is searched as a substring, inside words too. */
export function matchesNote(query: Query, note: string): boolean {
  const text = literalOf(note)
  const matches = (part: Query): boolean => {
    if (part.type === 'and') return part.queries.every(matches)
    if (part.type === 'or') return part.queries.some(matches)
    if (part.type === 'not') return !matches(part.query)
    return text.includes(part.text)
  }
  return matches(query)
}

/** Maximum chunks of a page to search for an excerpt. */
const maxExcerpts = 10

/** Returns an excerpt of a page as highlighted HTML: from its best chunk, else from another chunk, a heading or the title. */
function pageExcerpt(
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
