import type { DocumentKind } from '../../contract/search.ts'
import { maySee } from '../../knowledge/audience.ts'
import type { FilterGroup, PageFilter } from '../query/filters.ts'
import type { Scope, View } from '../search-index.ts'
import { grown } from './grown.ts'
import { type IndexStore, type PageClass, type StoredPage, unfinished } from './index-store.ts'
import { ComparedFacts, type PageFacts } from './page-facts.ts'

/** What a scope lets see, and the statistics of exactly that, which ranking needs. */
export type Visible = {
  /** 1 where the page of that id is seen. */
  pages: Uint8Array
  /** Every page is seen. */
  isAll: boolean
  /** 1 where pages of the class of that id are seen. */
  classes: Uint8Array
  pageCount: number
  chunkCount: number
  averagePageLength: number
  averageChunkLength: number
}

/** What a page is, by id. */
const state = { none: 0, unfinished: 1, whole: 2 }

/** Whether a page has not all of its chunks: nobody sees it. */
export function isUnfinished({ version }: { version: string }): boolean {
  return version.startsWith(unfinished)
}

/**
 * The pages of an index in memory: who may see them, which chunks are whose, and how long they are. Typed arrays by the ids of
 * pages and chunks hold it, so that a chunk takes 8 bytes and no object.
 */
export class Catalog {
  readonly #classes: PageClass[] = []
  readonly #keys: string[] = []
  readonly #notes: Map<number, string>
  readonly #facts = new Map<number, ComparedFacts>()
  readonly #visible = new Map<string, Visible>()
  #states = new Uint8Array(1024)
  #classOf = new Uint8Array(1024)
  #firstChunks = new Uint32Array(1024)
  #chunkCounts = new Uint32Array(1024)
  #lengths = new Uint32Array(1024)
  #pageOf = new Uint32Array(1024)
  #lengthOf = new Uint32Array(1024)
  #pageEnd = 0
  #pageCount = 0
  #chunkCount = 0

  constructor(store: IndexStore) {
    for (const known of store.classes()) this.#classes[known.id] = known
    this.#notes = store.notes()
    for (const [page, facts] of store.facts()) this.#facts.set(page, new ComparedFacts(facts))
    for (const page of store.pages()) this.#put(page)
  }

  get pageCount(): number {
    return this.#pageCount
  }

  get chunkCount(): number {
    return this.#chunkCount
  }

  /** One more than the highest id of a page. */
  get pageEnd(): number {
    return this.#pageEnd
  }

  /** By id of a page: the id of its first chunk. Also of pages that are gone. */
  get firstChunks(): Uint32Array {
    return this.#firstChunks
  }

  /** By id of a chunk: the id of its page. Also of chunks that are gone. */
  get pagesOfChunks(): Uint32Array {
    return this.#pageOf
  }

  /** By id of a chunk: its length in terms. Also of chunks that are gone. */
  get chunkLengths(): Uint32Array {
    return this.#lengthOf
  }

  /** By id of a page: its length in terms. Also of pages that are gone. */
  get pageLengths(): Uint32Array {
    return this.#lengths
  }

  add(page: StoredPage, ofClass: PageClass, note: string | undefined, facts: PageFacts): void {
    this.#classes[ofClass.id] = ofClass
    this.#facts.set(page.id, new ComparedFacts(facts))
    if (note !== undefined) this.#notes.set(page.id, note)
    this.#put(page)
    this.#visible.clear()
  }

  /** A page has other chunks, or another version. */
  update(page: StoredPage): void {
    this.#chunkCount -= this.#chunkCounts[page.id] ?? 0
    this.#pageCount--
    this.#put(page)
    this.#visible.clear()
  }

  remove({ id }: { id: number }): void {
    this.#states[id] = state.none
    this.#keys[id] = ''
    this.#notes.delete(id)
    this.#facts.delete(id)
    this.#chunkCount -= this.#chunkCounts[id] ?? 0
    this.#pageCount--
    this.#visible.clear()
  }

  keyOf(page: number): string {
    return this.#keys[page] ?? ''
  }

  /** Pages with a user's note that is shared. */
  notes(): IterableIterator<[page: number, note: string]> {
    return this.#notes.entries()
  }

  factsOf(page: number): ComparedFacts | undefined {
    return this.#facts.get(page)
  }

  kindOf(page: number): DocumentKind {
    return this.#classes[this.classOf(page)]?.kind ?? 'wiki'
  }

  /** 1 for each of some pages that passes filters, by id. */
  passing(groups: readonly FilterGroup[], { pages }: Visible): Uint8Array {
    const passes = (page: number, filter: PageFilter) =>
      filter.type === 'kind' ? this.kindOf(page) === filter.kind : this.#facts.get(page)?.passes(filter) === true
    return pages.map((isSeen, page) => {
      if (isSeen !== 1) return 0
      return groups.every(({ any, isNegated }) => any.some((filter) => passes(page, filter)) !== isNegated) ? 1 : 0
    })
  }

  /** The id of the class of a page, also of one that is gone. */
  classOf(page: number): number {
    return this.#classOf[page] ?? 0
  }

  /** Whether there is such a page, with all its chunks. */
  isWhole(page: number): boolean {
    return this.#states[page] === state.whole
  }

  /** The id of the page that a chunk belongs to; 0, which no page has, for a chunk that is gone. */
  pageOf(chunk: number): number {
    const page = this.#pageOf[chunk] ?? 0
    if (this.#states[page] === state.none) return 0
    return chunk < (this.#firstChunks[page] ?? 0) + (this.#chunkCounts[page] ?? 0) ? page : 0
  }

  /** In terms. */
  lengthOf(chunk: number): number {
    return this.#lengthOf[chunk] ?? 0
  }

  chunkCountOf(page: number): number {
    return this.#chunkCounts[page] ?? 0
  }

  /** The ids of a page's chunks: from one to before another. Also of a page that is gone. */
  chunkRange(page: number): { from: number; to: number } {
    const from = this.#firstChunks[page] ?? 0
    return { from, to: from + (this.#chunkCounts[page] ?? 0) }
  }

  /** The ids of a page's chunks, in the order of its text. */
  chunksOf(page: number): number[] {
    const { from, to } = this.chunkRange(page)
    return Array.from({ length: to - from }, (_, index) => from + index)
  }

  visible({ audience, defaultAudience, kind }: View & Pick<Scope, 'kind'>): Visible {
    const key = JSON.stringify([audience, defaultAudience, kind ?? null])
    const known = this.#visible.get(key)
    if (known !== undefined) return known
    const classes = new Uint8Array(this.#classes.length)
    for (const ofClass of this.#classes) {
      if (ofClass === undefined || (kind !== undefined && kind !== ofClass.kind)) continue
      if (maySee(audience, ofClass, defaultAudience)) classes[ofClass.id] = 1
    }
    const pages = new Uint8Array(this.#pageEnd)
    let [pageCount, chunkCount, length] = [0, 0, 0]
    for (let page = 0; page < pages.length; page++) {
      if (this.#states[page] !== state.whole || classes[this.#classOf[page] ?? 0] !== 1) continue
      pages[page] = 1
      pageCount++
      chunkCount += this.#chunkCounts[page] ?? 0
      length += this.#lengths[page] ?? 0
    }
    const visible = {
      pages,
      isAll: pageCount === this.#pageCount,
      classes,
      pageCount,
      chunkCount,
      averagePageLength: length / Math.max(1, pageCount),
      averageChunkLength: length / Math.max(1, chunkCount),
    }
    this.#visible.set(key, visible)
    return visible
  }

  #put(page: StoredPage): void {
    const { id, firstChunk, lengths } = page
    this.#growFor(id, firstChunk + lengths.length)
    this.#keys[id] = page.key
    this.#states[id] = isUnfinished(page) ? state.unfinished : state.whole
    this.#classOf[id] = page.class
    this.#firstChunks[id] = firstChunk
    this.#chunkCounts[id] = lengths.length
    this.#pageOf.fill(id, firstChunk, firstChunk + lengths.length)
    this.#lengthOf.set(lengths, firstChunk)
    let length = 0
    for (let index = 0; index < lengths.length; index++) length += lengths[index] ?? 0
    this.#lengths[id] = length
    this.#pageCount++
    this.#chunkCount += lengths.length
  }

  #growFor(page: number, chunkEnd: number): void {
    this.#pageEnd = Math.max(this.#pageEnd, page + 1)
    if (page >= this.#states.length) {
      this.#states = grown(this.#states, page + 1)
      this.#classOf = grown(this.#classOf, page + 1)
      this.#firstChunks = grown(this.#firstChunks, page + 1)
      this.#chunkCounts = grown(this.#chunkCounts, page + 1)
      this.#lengths = grown(this.#lengths, page + 1)
    }
    if (chunkEnd <= this.#pageOf.length) return
    this.#pageOf = grown(this.#pageOf, chunkEnd)
    this.#lengthOf = grown(this.#lengthOf, chunkEnd)
  }
}
