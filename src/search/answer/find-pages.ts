import { matchesOf } from '../excerpt/highlight.ts'
import type { Visible } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import { boundary } from '../index/page-terms.ts'
import type { IndexParts, PageMatches, ScoredChunk } from '../index/term-engine.ts'
import { type Correction, correctionOf, type Suspect, suspectOf, type Vocabulary } from '../query/corrections.ts'
import { type ParsedQuery, type QueryPart, wholeQuery, withNames, withWholeName } from '../query/parse-query.ts'
import { type Leaf, leavesOf, type Query, withoutBonus } from '../query/query-tree.ts'
import { joinWords, literalOf } from '../query/query-words.ts'
import { SearchTimeout } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'
import { isWithinEdits } from '../text/edit-rows.ts'
import { initialismsMeant, wholeName } from '../text/name-terms.ts'
import { unspaced } from '../text/script.ts'
import { foldWord } from '../text/spelling.ts'

/** Maximum words of a query to correct: each takes a walk through the terms. */
const maxSuspects = 4
/** Maximum chunks that are read to find phrases as they were typed. */
const maxCompared = 1_000
/** Maximum words that an initialism stands for, and its weight compared with these words. */
const [maxInitials, initialsWeight] = [6, 0.8]

/** Pages found in one way, best first. Pages of a later tier rank behind all of an earlier one. */
type Tier = { pages: readonly ScoredChunk[]; leaves: readonly Leaf[] }

export type FoundPages = {
  /** Pages, best first, each with its best chunk, the leaves that found it, and its rank in (0, 1]. */
  pages: { found: ScoredChunk; leaves: readonly Leaf[]; rank: number }[]
  total: number
  /** Returns 1 for every matching page, by id, including pages beyond the limit. Computed on demand. */
  matching: () => Uint8Array
  /** Extent of the match: `all` if every part of the query matches, `some` if only some do. */
  matched: 'all' | 'some'
  /** The corrected query. */
  suggestion: string | undefined
}

type Bounds = { visible: Visible; allowedPages: Uint8Array; limit: number; deadline: Deadline }

/**
 * Finds the pages that a query matches, best first. Words in hardly any page are also corrected, and pages found by a correction
 * rank last. If nothing matches every part, finds pages that match some, most parts first.
 * @param allowedPages 1 for each page that may be found, by id
 * @throws {SearchTimeout} if not even the query as written could be searched in time
 */
export function pagesForAnswer(q: string, parsed: ParsedQuery, index: IndexParts, scope: Bounds): FoundPages {
  if (parsed.required.length === 0) return listPages(parsed, index, scope)
  const named = withNames(parsed, index.analyser)
  const query = wholeQuery(named)
  const exact = index.engine.search(query, scope.visible, scope.limit, scope.deadline, scope.allowedPages)
  const leaves = shownLeavesOf(query)
  try {
    const first = quotedFirst(parsed, query, exact, index, scope).map((pages) => ({ pages, leaves }))
    return forgive(q, named, { exact, first }, index, scope)
  } catch (error) {
    if (!(error instanceof SearchTimeout) || exact.total === 0) throw error
    return result([{ pages: exact.pages, leaves }], exact.matching, exact.total)
  }
}

/** Returns the best pages, of which those that have all phrases of the query as they were typed come before those with other forms. */
function quotedFirst(
  { required }: ParsedQuery,
  query: Query,
  exact: PageMatches,
  index: IndexParts,
  { visible, allowedPages, limit, deadline }: Bounds,
): ScoredChunk[][] {
  const { engine, store, catalog, analyser } = index
  const phrases = required.flatMap(({ quoted }) => {
    const typed = quoted?.replace(punctuationAround, '') ?? ''
    return typed === '' ? [] : [{ typed: literalOf(typed), name: wholeName(typed, analyser) }]
  })
  if (phrases.length === 0 || exact.total < 2) return [exact.pages]
  const most = Math.max(limit, maxCompared)
  const ranked = exact.total <= limit ? exact.pages : engine.search(query, visible, most, deadline, allowedPages).pages
  let left = maxCompared
  const hasPhrases = ({ page, chunk: best }: ScoredChunk) => {
    let lacking = phrases
    for (const chunk of new Set([best, ...catalog.chunksOf(page)])) {
      if (left-- <= 0) break
      deadline.check()
      const { headings, text } = store.chunks.chunk(chunk)
      const title = chunk === best ? store.title(page) : ''
      const texts = literalOf([title, ...headings, text].join(` ${boundary} `))
      lacking = lacking.filter(({ typed }) => !hasAsTyped(texts, typed))
      if (lacking.length === 0) return true
    }
    const { terms } = store.chunks.terms(catalog.chunkRange(page).from)
    return lacking.every(({ name }) => name !== undefined && terms.includes(` ${name} `))
  }
  const { true: first = [], false: others = [] } = Object.groupBy(ranked, (page) => `${hasPhrases(page)}`)
  return [first.slice(0, limit), others.slice(0, Math.max(0, limit - first.length))]
}

const letter = new RegExp(`[[\\p{L}\\p{N}]--${unspaced}]`, 'v')
const punctuationAround = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu

/** True if a folded text has a phrase that is not a part of longer words. */
function hasAsTyped(text: string, phrase: string): boolean {
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    if (!letter.test(text.charAt(at - 1)) && !letter.test(text.charAt(at + phrase.length))) return true
  }
  return false
}

/** Lists all pages that are not excluded, most recently changed first. */
function listPages(
  { excluded }: ParsedQuery,
  { engine, catalog }: IndexParts,
  { visible, allowedPages, limit, deadline }: Bounds,
): FoundPages {
  const unwanted =
    excluded.length === 0 ? undefined : engine.search(joinWords('or', excluded), visible, 0, deadline, allowedPages)
  const matching = unwanted === undefined ? allowedPages : without(allowedPages, unwanted.matching())
  const ids = Array.from(matching.keys()).filter((page) => matching[page] === 1)
  const changedAt = (page: number) => catalog.factsOf(page)?.changedAt ?? ''
  const isBefore = (a: number, b: number) =>
    changedAt(a) === changedAt(b) ? catalog.keyOf(a) < catalog.keyOf(b) : changedAt(a) > changedAt(b)
  ids.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  const pages = ids.slice(0, limit).map((page) => ({ page, chunk: catalog.chunkRange(page).from, score: 1 }))
  return result([{ pages, leaves: [] }], () => matching, ids.length)
}

function forgive(
  q: string,
  parsed: ParsedQuery,
  { exact, first }: { exact: PageMatches; first: readonly Tier[] },
  index: IndexParts,
  { visible, allowedPages, limit, deadline }: Bounds,
): FoundPages {
  const search = (query: Query, most: number, pages: Uint8Array) =>
    index.engine.search(query, visible, most, deadline, pages)
  let half: Deadline | undefined
  const correctingUntil = () => {
    half ??= deadline.half()
    return half
  }
  const vocabulary: Vocabulary = {
    chunkCount: visible.chunkCount,
    chunksWith: (term) => index.engine.chunksWith(term, visible),
    similarTerms: (word, maxEdits) => index.engine.similarTerms(word, maxEdits, visible, correctingUntil()),
    termsEnding: (ending) => index.engine.termsEnding(ending, visible, correctingUntil()),
    pagesWith: (query) => index.engine.search(query, visible, 0, correctingUntil()).total,
  }
  const corrections = correct(parsed.required, index.analyser, vocabulary)
  const written = initialsOf(q, parsed.required, index.analyser, vocabulary)
  if (corrections.size === 0 && written.size === 0 && (exact.total > 0 || parsed.required.length === 1)) {
    return result(first, exact.matching, exact.total)
  }
  const corrected = {
    ...parsed,
    required: parsed.required.map((part) => {
      const others = [corrections.get(part)?.query ?? [], written.get(part) ?? []].flat()
      return others.length === 0 ? part : { query: joinWords('or', [part.query, ...others]) }
    }),
  }
  const suggestion = suggest(q, corrections, (likeliest, typed) => {
    const [found] = search(likeliest, 1, visible.pages).pages
    return found && spelledAs(found, leavesOf(likeliest), typed, index)
  })
  const last = parsed.required.at(-1)
  const isOpen = last !== undefined && corrections.get(last)?.isCompleted === true
  const query = wholeQuery(
    suggestion === undefined || parsed.name === undefined
      ? corrected
      : withWholeName(corrected, isOpen ? parsed.name : suggestion, isOpen, index.analyser),
  )
  const exactly = exact.matching()
  const near = search(query, limit - exact.pages.length, without(allowedPages, exactly))
  if (exact.total + near.total > 0 || parsed.required.length === 1) {
    const tiers = [...first, { pages: near.pages, leaves: shownLeavesOf(query) }]
    return result(tiers, () => joined(exactly, near.matching()), exact.total + near.total, suggestion)
  }
  return { ...findSome(corrected, search, { allowedPages, limit }), suggestion }
}

/** Returns the leaves to mark in an excerpt: all but bonus leaves, whose terms exist only in names. */
function shownLeavesOf(query: Query): Leaf[] {
  return leavesOf(withoutBonus(query))
}

/** Finds pages that match some of the parts, most parts first. */
function findSome(
  { required, excluded }: ParsedQuery,
  search: (query: Query, most: number, pages: Uint8Array) => PageMatches,
  { allowedPages, limit }: { allowedPages: Uint8Array; limit: number },
): FoundPages {
  const open =
    excluded.length === 0
      ? allowedPages
      : without(allowedPages, search(joinWords('or', excluded), 0, allowedPages).matching())
  const counts = new Uint8Array(open.length)
  for (const { query } of required) {
    const matching = search(query, 0, open).matching()
    for (let page = 0; page < counts.length; page++) counts[page] = (counts[page] ?? 0) + (matching[page] ?? 0)
  }
  const any = joinWords(
    'or',
    required.map(({ query }) => query),
  )
  const leaves = shownLeavesOf(any)
  const tiers: Tier[] = []
  let left = limit
  for (let count = required.length - 1; count > 0 && left > 0; count--) {
    if (!counts.includes(count)) continue
    const { pages } = search(any, left, equalTo(counts, count))
    tiers.push({ pages, leaves })
    left -= pages.length
  }
  const matching = new Uint8Array(counts.length)
  let total = 0
  for (let page = 0; page < counts.length; page++) {
    if (counts[page] === 0) continue
    matching[page] = 1
    total++
  }
  return { ...result(tiers, () => matching, total), matched: total === 0 ? 'all' : 'some' }
}

type Corrections = ReadonlyMap<QueryPart, Correction & { suspect: Suspect }>

/** Corrects the first misspelled words, as far as there is time. */
function correct(parts: readonly QueryPart[], analyser: Analyser, vocabulary: Vocabulary): Corrections {
  const corrections = new Map<QueryPart, Correction & { suspect: Suspect }>()
  let looked = 0
  try {
    for (const part of parts) {
      const suspect = suspectOf(part, analyser, vocabulary)
      if (suspect === undefined) continue
      const correction = correctionOf(suspect, analyser, vocabulary)
      if (correction !== undefined) corrections.set(part, { ...correction, suspect })
      if (++looked === maxSuspects) break
    }
  } catch (error) {
    if (!(error instanceof SearchTimeout)) throw error
  }
  return corrections
}

/** Returns queries for the initialisms of a query's words, and for the words of its initialisms, by part. */
function initialsOf(
  q: string,
  parts: readonly QueryPart[],
  analyser: Analyser,
  { chunksWith }: Vocabulary,
): Map<QueryPart, Query[]> {
  const found = new Map<QueryPart, Query[]>()
  const words = parts.flatMap((part) => (part.word === undefined ? [] : [{ part, ...part.word }]))
  for (const [first, { at }] of words.entries()) {
    for (let last = first; last < words.length && last < first + maxInitials; last++) {
      const end = words[last]
      if (end === undefined) break
      const text = q.slice(at, end.at + end.text.length)
      const terms = initialismsMeant(text, analyser, chunksWith)
      const queries = terms.map((term): Query => ({ type: 'term', term, text, weight: initialsWeight }))
      if (queries.length === 0) continue
      for (const { part } of words.slice(first, last + 1)) found.set(part, [...(found.get(part) ?? []), ...queries])
    }
  }
  return found
}

/** Returns the query with corrected words, spelled as in the pages. */
function suggest(
  q: string,
  corrections: Corrections,
  spell: (likeliest: Query, typed: string) => string | undefined,
): string | undefined {
  let suggestion = ''
  let end = 0
  for (const { likeliest, split, suspect } of corrections.values()) {
    const { typed, at } = suspect
    const spelled = split ?? spell(likeliest, typed)
    if (spelled === undefined || spelled === typed.toLowerCase()) continue
    suggestion += q.slice(end, at) + spelled
    end = at + typed.length
  }
  return end === 0 ? undefined : suggestion + q.slice(end)
}

/** Ranks the pages of all tiers: the best of a tier has half the rank of the last page before it. */
function result(
  tiers: readonly Tier[],
  matching: FoundPages['matching'],
  total: number,
  suggestion?: string,
): FoundPages {
  const pages: FoundPages['pages'] = []
  for (const { pages: ofTier, leaves } of tiers) {
    const highest = (pages.at(-1)?.rank ?? 2) / 2
    const best = ofTier[0]?.score ?? 1
    for (const found of ofTier) pages.push({ found, leaves, rank: (highest * found.score) / best })
  }
  return { pages, matching, total, matched: 'all', suggestion }
}

// Loops, because `map` over a million pages would take longer than the search.

/** Returns 1 for each page with this count, by id. */
function equalTo(counts: Uint8Array, count: number): Uint8Array {
  const equal = new Uint8Array(counts.length)
  for (let page = 0; page < equal.length; page++) if (counts[page] === count) equal[page] = 1
  return equal
}

function without(pages: Uint8Array, others: Uint8Array): Uint8Array {
  const left = pages.slice()
  for (let page = 0; page < left.length; page++) if (others[page] === 1) left[page] = 0
  return left
}

function joined(pages: Uint8Array, others: Uint8Array): Uint8Array {
  const all = pages.slice()
  for (let page = 0; page < all.length; page++) if (others[page] === 1) all[page] = 1
  return all
}

/** Maximum edits that are compared; all greater distances count alike. */
const maxEdits = 4

/**
 * Returns the page's own spelling, in lower case, of the word that matched: the nearest to the typed word, then the first.
 * Searches the chunk's text, its headings and the title.
 */
function spelledAs(
  { page, chunk }: ScoredChunk,
  leaves: readonly Leaf[],
  typed: string,
  { store, analyser }: IndexParts,
): string | undefined {
  const { text, headings } = store.chunks.chunk(chunk)
  const words = [text, ...headings, store.title(page)].flatMap((part) =>
    matchesOf(part, leaves, analyser).map(({ start, end }) => part.slice(start, end)),
  )
  return nearestTo(typed, words)
}

function nearestTo(typed: string, words: readonly string[]): string | undefined {
  const folded = foldWord(typed)
  const distances = words.map((word) => editsBetween(folded, foldWord(word)))
  const least = Math.min(...distances)
  return words[distances.indexOf(least)]?.toLowerCase()
}

/** Counts edits, a transposition as one: Levenshtein's distance, which counts two, suggests other words more often. */
function editsBetween(one: string, other: string): number {
  for (let edits = 0; edits < maxEdits; edits++) if (isWithinEdits(one, other, edits)) return edits
  return maxEdits + Math.abs(one.length - other.length)
}
