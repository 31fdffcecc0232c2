import type { Deadline } from '../index/deadline.ts'
import { mostFrequent } from '../index/term-engine.ts'
import type { Visible } from '../index/visible.ts'
import type { TermEntry } from './dictionary.ts'
import type { RemovedTerms } from './removed-terms.ts'
import type { OpenSegment } from './segment-log.ts'

/** Terms whose entries are kept in memory: words that are asked for, and those of feedback, come again and again. */
const maxKnown = 10_000

/** The entries of a term in the segments that have it. */
export type Entries = ReadonlyMap<OpenSegment, TermEntry>

type Count = { chunks: number; pages: number }

/** The dictionaries of all segments as one. */
export class TermDirectory {
  readonly #removed: RemovedTerms
  readonly #openSegments: () => readonly OpenSegment[]
  #known: { segments: readonly OpenSegment[]; entries: Map<string, Entries> } = { segments: [], entries: new Map() }

  /** @param openSegments gives another array whenever the segments are others */
  constructor(removed: RemovedTerms, openSegments: () => readonly OpenSegment[]) {
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
  withPrefix(prefix: string, { classes }: Visible, deadline: Deadline): string[] {
    const { segments, entries: known } = this.#current()
    const beginning = Buffer.from(prefix)
    const counts = new Map<string, number>()
    let steps = 0
    for (const { segment } of segments) {
      for (const cursor = segment.dictionary.from(beginning); cursor.beginsWith(beginning); cursor.next()) {
        if (++steps % 1024 === 0) deadline.check()
        const count = cursor.chunkCount(classes)
        if (count === 0) continue
        const term = cursor.text
        counts.set(term, (counts.get(term) ?? 0) + count)
      }
    }
    const live = Array.from(counts, ([term, count]): [string, number] => [
      term,
      count - this.#removedOf(term, classes).chunks,
    ])
    const terms = mostFrequent(live.filter(([, count]) => count > 0))
    // Looking for each in turn would take longer than passing over all again.
    const missing = new Map<string, Map<OpenSegment, TermEntry>>()
    for (const term of terms) if (!known.has(term)) missing.set(term, new Map())
    for (const open of missing.size === 0 ? [] : segments) {
      for (const cursor = open.segment.dictionary.from(beginning); cursor.beginsWith(beginning); cursor.next()) {
        missing.get(cursor.text)?.set(open, cursor.entry)
      }
    }
    for (const [term, entries] of missing) known.set(term, entries)
    return terms
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
    for (let ofPages = 0; ofPages < classes.length; ofPages++) {
      const count = classes[ofPages] === 1 ? this.#removed.countOf(term, ofPages) : undefined
      removed.chunks += count?.chunks ?? 0
      removed.pages += count?.pages ?? 0
    }
    return removed
  }
}
