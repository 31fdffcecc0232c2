import type { Visible } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import { mostFrequent } from '../index/term-engine.ts'
import { pairs } from '../rank/posting-engine.ts'
import { EditRows } from '../text/edit-rows.ts'
import { isNameTerm, nameSign } from '../text/name-terms.ts'
import type { TermDocs } from './computed-postings.ts'
import { MergedTerms, type TermEntry } from './format/dictionary.ts'
import type { Segment } from './format/segment.ts'
import type { CountedTerms, OpenSegment } from './segment-log.ts'

/** Maximum cached terms: words of queries, and those of feedback, recur. */
const maxKnown = 10_000

/** Maximum candidates before the most frequent are selected. */
const maxCandidates = 400

/** Entries of a term, by segment. */
export type Entries = ReadonlyMap<OpenSegment, TermEntry>

/** A term with a prefix, and the locations of its postings. */
export type PrefixTerm = { term: string; docs: readonly (TermDocs & { owner: OpenSegment })[] }

type Count = { chunks: number; pages: number }

/** Dictionaries of all segments as one. */
export class TermDirectory {
  readonly #removed: CountedTerms
  readonly #openSegments: () => readonly OpenSegment[]
  #known: { segments: readonly OpenSegment[]; entries: Map<string, Entries> } = { segments: [], entries: new Map() }

  /** Creates the directory. @param openSegments returns a new array whenever the segments change */
  constructor(removed: CountedTerms, openSegments: () => readonly OpenSegment[]) {
    this.#removed = removed
    this.#openSegments = openSegments
  }

  entriesOf(term: string): Entries {
    const { segments, entries: known } = this.#current()
    const found = known.get(term)
    if (found !== undefined) return found
    const bytes = Buffer.from(term)
    const entries = new Map<OpenSegment, TermEntry>()
    for (const open of segments) {
      const entry = open.segment.dictionary.find(bytes)
      if (entry !== undefined) entries.set(open, entry)
    }
    known.set(term, entries)
    return entries
  }

  /** Returns the numbers of visible chunks and pages with a term. */
  countOf(term: string, { classes }: Visible): { chunkCount: number; pageCount: number } {
    let [chunkCount, pageCount] = [0, 0]
    for (const { counts } of this.entriesOf(term).values()) {
      for (const { class: ofPages, chunks, pages } of counts) {
        if (classes[ofPages] !== 1) continue
        chunkCount += chunks
        pageCount += pages
      }
    }
    const removed = this.#removedOf(term, classes)
    return { chunkCount: chunkCount - removed.chunks, pageCount: pageCount - removed.pages }
  }

  /** Returns the most frequent visible terms with a prefix. @throws {SearchTimeout} */
  withPrefix(prefix: string, { classes }: Visible, deadline: Deadline): PrefixTerm[] {
    const beginning = Buffer.from(prefix)
    const all = this.#openSegments().map((open) => ({ owner: open, terms: open.segment.dictionary.from(beginning) }))
    let found = new Map<string, PrefixTerm & { count: number }>()
    /** Minimum chunks that a further term needs to be among the most frequent. */
    let least = 1
    const keepMostFrequent = () => {
      const best = mostFrequent(Array.from(found, ([term, { count }]) => [term, count]))
      found = new Map(best.flatMap((term) => pairs(term, found.get(term))))
      return best
    }
    let steps = 0
    for (const merged = new MergedTerms(all, beginning); merged.at[0] !== undefined; merged.next()) {
      if (++steps % 1024 === 0) deadline.check()
      let count = 0
      for (const { terms } of merged.at) count += terms.chunkCount(classes)
      if (count < least) continue
      const term = merged.at[0].terms.text
      count -= this.#removedOf(term, classes).chunks
      if (count < least) continue
      const docs = merged.at.map(({ owner, terms }) => {
        return { owner, offset: terms.offset, docs: terms.docs, count: terms.chunkCount() }
      })
      found.set(term, { term, count, docs })
      if (found.size < maxCandidates) continue
      least = found.get(keepMostFrequent().at(-1) ?? '')?.count ?? 1
    }
    keepMostFrequent()
    return [...found.values()]
  }

  #current(): { segments: readonly OpenSegment[]; entries: Map<string, Entries> } {
    const segments = this.#openSegments()
    if (this.#known.segments !== segments || this.#known.entries.size >= maxKnown) {
      this.#known = { segments, entries: new Map() }
    }
    return this.#known
  }

  /** Counts removed chunks and pages, which segments still count. */
  #removedOf(term: string, classes: Uint8Array): Count {
    const removed = { chunks: 0, pages: 0 }
    if (this.#removed.isEmpty) return removed
    for (let ofPages = 0; ofPages < classes.length; ofPages++) {
      const count = classes[ofPages] === 1 ? this.#removed.countOf(term, ofPages) : undefined
      removed.chunks += count?.chunks ?? 0
      removed.pages += count?.pages ?? 0
    }
    return removed
  }
}

/**
 * Adds the terms of a segment within `maxEdits` edits of a word; see {@link EditRows}. Terms with a common beginning share its
 * rows, and terms that cannot be similar are skipped. A name is similar to names alone.
 * @throws {SearchTimeout}
 */
export function addSimilar(
  { dictionary }: Segment,
  word: string,
  maxEdits: number,
  similar: Set<string>,
  deadline: Deadline,
): void {
  const rows = new EditRows(word, maxEdits)
  const beginning = Buffer.from(isNameTerm(word) ? nameSign : '')
  let taken = ''
  let steps = 0
  for (let cursor = dictionary.from(beginning); cursor.beginsWith(beginning); ) {
    if (++steps % 256 === 0) deadline.check()
    const term = cursor.text
    let live = commonLength(term, taken)
    while (live < term.length && rows.take(live, term.charCodeAt(live))) live++
    taken = term.slice(0, live)
    if (live === term.length && rows.isWithin(live)) similar.add(term)
    const next = Buffer.from(rows.after(term, live))
    if (next.length === 0) return
    for (let left = nearby; left > 0 && cursor.isAt && cursor.compareTo(next) < 0; left--) cursor.next()
    if (cursor.isAt && cursor.compareTo(next) < 0) cursor = dictionary.from(next)
  }
}

/** Maximum terms to skip one by one before seeking. */
const nearby = 8

/** Adds the terms of a segment with an ending, except names. @throws {SearchTimeout} */
export function addEnding({ dictionary }: Segment, ending: string, found: Set<string>, deadline: Deadline): void {
  const sought = Buffer.from(ending)
  let steps = 0
  for (const cursor = dictionary.from(new Uint8Array()); cursor.isAt; cursor.next()) {
    if (++steps % 1024 === 0) deadline.check()
    const { term } = cursor
    if (!sought.equals(term.subarray(-sought.length)) || isNameTerm(cursor.text)) continue
    found.add(cursor.text)
  }
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && length < other.length && one[length] === other[length]) length++
  return length
}
