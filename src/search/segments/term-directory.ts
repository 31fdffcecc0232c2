import type { Deadline } from '../index/deadline.ts'
import { mostFrequent } from '../index/term-engine.ts'
import type { Visible } from '../index/visible.ts'
import type { TermDocs } from './any-postings.ts'
import type { TermEntry } from './format/dictionary.ts'
import { MergedTerms } from './merged-terms.ts'
import type { CountedTerms } from './removed-terms.ts'
import type { OpenSegment } from './segment-log.ts'

/** Terms whose entries are kept in memory: words that are asked for, and those of feedback, come again and again. */
const maxKnown = 10_000

/** Terms that may be the most frequent of a prefix, before those are chosen. */
const maxCandidates = 400

/** The entries of a term in the segments that have it. */
export type Entries = ReadonlyMap<OpenSegment, TermEntry>

/** A term that begins with a prefix, and where its postings are. */
export type PrefixTerm = { term: string; docs: readonly (TermDocs & { owner: OpenSegment })[] }

type Count = { chunks: number; pages: number }

/** The dictionaries of all segments as one. */
export class TermDirectory {
  readonly #removed: CountedTerms
  readonly #openSegments: () => readonly OpenSegment[]
  #known: { segments: readonly OpenSegment[]; entries: Map<string, Entries> } = { segments: [], entries: new Map() }

  /** @param openSegments gives another array whenever the segments are others */
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

  /** In how many visible chunks and pages a term is. */
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

  /** The terms that a prefix stands for: of those of visible chunks, the most frequent. @throws {SearchTimeout} */
  withPrefix(prefix: string, { classes }: Visible, deadline: Deadline): PrefixTerm[] {
    const beginning = Buffer.from(prefix)
    const all = this.#openSegments().map((open) => ({ owner: open, terms: open.segment.dictionary.from(beginning) }))
    let found = new Map<string, PrefixTerm & { count: number }>()
    /** What is in fewer chunks is not among the most frequent. */
    let least = 1
    const keepMostFrequent = () => {
      const best = mostFrequent(Array.from(found, ([term, { count }]) => [term, count]))
      found = new Map(best.flatMap((term) => pair(term, found.get(term))))
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
      const docs = merged.at.map(({ owner, terms: { offset, docs, postingCount } }) => {
        return { owner, offset, docs, count: postingCount }
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

  /** What is counted in segments, but is gone. */
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

function pair<Value>(term: string, value: Value | undefined): [string, Value][] {
  return value === undefined ? [] : [[term, value]]
}
