import { spelledAs } from '../excerpt/spelled-as.ts'
import type { Catalog } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { PageMatches, ScoredChunk, TermEngine } from '../index/term-engine.ts'
import type { Visible } from '../index/visible.ts'
import { type Correction, correctionOf, type Suspect, suspectOf, type Vocabulary } from '../query/corrections.ts'
import { withNames, withWholeName } from '../query/names.ts'
import { type ParsedQuery, type QueryPart, wholeQuery } from '../query/parse-query.ts'
import { type Leaf, leavesOf, type Query, withoutBonus } from '../query/query-tree.ts'
import { joinWords } from '../query/query-words.ts'
import { SearchTimeout } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'
import { initialismsMeant } from '../text/initialisms.ts'

/** Words of a query for which similar ones are looked for at most: each takes a walk through the terms. */
const maxSuspects = 4
/** Words that an initialism stands for, at most; and what it counts in place of them. */
const [maxInitials, initialsWeight] = [6, 0.8]

/** Pages found in one way, best first: those of a later tier come behind all of an earlier one. */
type Tier = { pages: readonly ScoredChunk[]; leaves: readonly Leaf[] }

export type FoundPages = {
  /** Best first: each with its best chunk, what it was found by, and its rank, from 1 down to above 0. */
  pages: { found: ScoredChunk; leaves: readonly Leaf[]; rank: number }[]
  total: number
  /** 1 for every page that was found, by id, beyond the limit too. Computed when it is asked for. */
  matching: () => Uint8Array
  /** Whether every part of the query matches, or only some of them do. */
  matched: 'all' | 'some'
  /** The query as it may have been meant. */
  suggestion: string | undefined
}

type Index = { analyser: Analyser; engine: TermEngine; store: IndexStore; catalog: Catalog }
type Among = { visible: Visible; among: Uint8Array; limit: number; deadline: Deadline }

/**
 * Finds the pages that a query matches, best first. Words that no page has, or hardly any, are also read as they may have been
 * meant; what is found by that comes last. Where nothing matches every part, pages that match some are found, most parts first.
 * @param among 1 for each page that may be found, by id.
 * @throws {SearchTimeout} where not even what is written could be looked for in time.
 */
export function pagesForAnswer(q: string, parsed: ParsedQuery, index: Index, scope: Among): FoundPages {
  if (parsed.required.length === 0) return listPages(parsed, index, scope)
  const named = withNames(parsed, index.analyser)
  const query = wholeQuery(named)
  const exact = index.engine.search(query, scope.visible, scope.limit, scope.deadline, scope.among)
  const first = { pages: exact.pages, leaves: shownLeavesOf(query) }
  try {
    return forgive(q, named, { exact, first }, index, scope)
  } catch (error) {
    if (!(error instanceof SearchTimeout) || exact.total === 0) throw error
    return { ...result([first], exact.matching), total: exact.total, matched: 'all', suggestion: undefined }
  }
}

/** All pages that there are, but for what is excluded: those that were changed last come first. */
function listPages(
  { excluded }: ParsedQuery,
  { engine, catalog }: Index,
  { visible, among, limit, deadline }: Among,
): FoundPages {
  const unwanted =
    excluded.length === 0 ? undefined : engine.search(joinWords('or', excluded), visible, 0, deadline, among)
  const matching = unwanted === undefined ? among : without(among, unwanted.matching())
  const ids = Array.from(matching.keys()).filter((page) => matching[page] === 1)
  const changedAt = (page: number) => catalog.factsOf(page)?.changedAt ?? ''
  const isBefore = (a: number, b: number) =>
    changedAt(a) === changedAt(b) ? catalog.keyOf(a) < catalog.keyOf(b) : changedAt(a) > changedAt(b)
  ids.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  const pages = ids.slice(0, limit).map((page) => ({ page, chunk: catalog.chunkRange(page).from, score: 1 }))
  return {
    ...result([{ pages, leaves: [] }], () => matching),
    total: ids.length,
    matched: 'all',
    suggestion: undefined,
  }
}

function forgive(
  q: string,
  parsed: ParsedQuery,
  { exact, first }: { exact: PageMatches; first: Tier },
  index: Index,
  { visible, among, limit, deadline }: Among,
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
    return { ...result([first], exact.matching), total: exact.total, matched: 'all', suggestion: undefined }
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
  const near = search(query, limit - exact.pages.length, without(among, exactly))
  if (exact.total + near.total > 0 || parsed.required.length === 1) {
    const tiers = [first, { pages: near.pages, leaves: shownLeavesOf(query) }]
    return {
      ...result(tiers, () => joined(exactly, near.matching())),
      total: exact.total + near.total,
      matched: 'all',
      suggestion,
    }
  }
  return { ...findSome(corrected, search, { among, limit }), suggestion }
}

/** What may be marked in an excerpt: names as they are written stand in no text. */
function shownLeavesOf(query: Query): Leaf[] {
  return leavesOf(withoutBonus(query))
}

/** Pages that match some of the parts, those with most first. */
function findSome(
  { required, excluded }: ParsedQuery,
  search: (query: Query, most: number, pages: Uint8Array) => PageMatches,
  { among, limit }: { among: Uint8Array; limit: number },
): Omit<FoundPages, 'suggestion'> {
  const open = excluded.length === 0 ? among : without(among, search(joinWords('or', excluded), 0, among).matching())
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
  return { ...result(tiers, () => matching), total, matched: total === 0 ? 'all' : 'some' }
}

type Corrections = ReadonlyMap<QueryPart, Correction & { suspect: Suspect }>

/** What the first words that need it may have been meant to be, as far as there is time. */
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

/** What finds initialisms of a query's words in place of each of them, and words of its initialisms. */
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

/** The query with its words as pages write those that were meant. */
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

/** Ranks fall from tier to tier: the best of one has half the rank of the last before it. */
function result(tiers: readonly Tier[], matching: FoundPages['matching']): Pick<FoundPages, 'pages' | 'matching'> {
  const pages: FoundPages['pages'] = []
  for (const { pages: ofTier, leaves } of tiers) {
    const highest = (pages.at(-1)?.rank ?? 2) / 2
    const best = ofTier[0]?.score ?? 1
    for (const found of ofTier) pages.push({ found, leaves, rank: (highest * found.score) / best })
  }
  return { pages, matching }
}

// Loops: of a million pages, `map` would take longer than the search.

/** 1 where the count is so high. */
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
