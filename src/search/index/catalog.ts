import type { DocumentKind } from '../../contract/enumerations.ts'
import { maySee } from '../../rules/access/audience.ts'
import { grown } from '../bytes/byte-writer.ts'
import { ComparedFacts, type FilterGroup, type PageFacts, type PageFilter } from '../query/filters.ts'
import type { Scope, View } from '../search-index.ts'
import { type IndexStore, type PageClass, unfinished } from './index-store.ts'
import { type CatalogPage, packPages, pagesPerBlock, type StoredPage, unpackPages } from './store-tables.ts'

/** Maximum cached {@link Visible}s, each of which takes memory for every page. */
const maxVisible = 32

const state = { none: 0, unfinished: 1, whole: 2 }

/** True if a page lacks chunks, so that nobody sees it. */
export function isUnfinished({ version }: { version: string }): boolean {
  return version.startsWith(unfinished)
}

/**
 * The pages of an index in memory: their access classes, chunks and lengths. Typed arrays by the ids of pages and chunks, so that
 * a chunk takes 8 bytes and no object.
 */
export class Catalog {
  readonly #classes: PageClass[] = []
  #keys: string[] = []
  readonly #notes: Map<number, string>
  readonly #store: IndexStore
  /** Facts of all pages; undefined until first used. */
  #facts: Map<number, ComparedFacts> | undefined
  /** Numbers of the blocks with unsaved changes. */
  readonly #changed = new Set<number>()
  readonly #visible = new Map<string, Visible>()
  #states = new Uint8Array(1024)
  #classOf = new Uint8Array(1024)
  #chunkCounts = new Uint32Array(1024)
  // Arrays of pages and chunks, including removed ones. Only the catalog changes them.
  /** First chunk of each page. */
  firstChunks = new Uint32Array(1024)
  /** Length of each page in terms. */
  pageLengths = new Uint32Array(1024)
  /** Page of each chunk. */
  pagesOfChunks = new Uint32Array(1024)
  /** Length of each chunk in terms. */
  chunkLengths = new Uint32Array(1024)
  /** One more than the highest page id. */
  pageEnd = 0
  pageCount = 0
  chunkCount = 0

  /** Reads the catalog of a store. @throws if it is incomplete */
  constructor(store: IndexStore) {
    for (const known of store.classes()) this.#classes[known.id] = known
    this.#notes = store.notes()
    this.#store = store
    for (const block of store.blocks()) for (const page of unpackPages(block)) this.#put(page)
    if (this.pageCount !== store.pageCount()) throw new Error('The catalog of a search index is damaged.')
  }

  /** Creates a catalog that starts as a copy of another one. @param store of the layer */
  static over(below: Catalog, store: IndexStore): Catalog {
    const catalog = new Catalog(store)
    catalog.#keys = below.#keys.slice()
    for (const [page, note] of below.#notes) catalog.#notes.set(page, note)
    catalog.#facts = below.#facts && new Map(below.#facts)
    catalog.#states = below.#states.slice()
    catalog.#classOf = below.#classOf.slice()
    catalog.#chunkCounts = below.#chunkCounts.slice()
    for (const name of ['firstChunks', 'pageLengths', 'pagesOfChunks', 'chunkLengths'] as const) {
      catalog[name] = below[name].slice()
    }
    const { pageEnd, pageCount, chunkCount } = below
    return Object.assign(catalog, { pageEnd, pageCount, chunkCount })
  }

  add(page: StoredPage, ofClass: PageClass, note: string | undefined, facts: PageFacts): void {
    if (this.#classes[ofClass.id] === undefined) this.#visible.clear()
    this.#classes[ofClass.id] = ofClass
    this.#facts?.set(page.id, new ComparedFacts(facts))
    if (note !== undefined) this.#notes.set(page.id, note)
    this.#change(page)
  }

  /** Updates a page with changed chunks or a changed version. */
  update(page: StoredPage): void {
    this.#takeOut(page.id)
    this.#change(page)
  }

  remove({ id }: { id: number }): void {
    this.#takeOut(id)
    this.#states[id] = state.none
    this.#keys[id] = ''
    this.#notes.delete(id)
    this.#facts?.delete(id)
    this.#changed.add(blockOf(id))
  }

  keyOf(page: number): string {
    return this.#keys[page] ?? ''
  }

  /** Yields pages with a shared note. */
  notes(): IterableIterator<[page: number, note: string]> {
    return this.#notes.entries()
  }

  /** Returns the facts of a page. The first call reads those of all pages. */
  factsOf(page: number): ComparedFacts | undefined {
    this.#facts ??= new Map(this.#store.facts().map(([id, facts]) => [id, new ComparedFacts(facts)]))
    return this.#facts.get(page)
  }

  stored({ id, version }: { id: number; version: string }): StoredPage {
    const { from, to } = this.chunkRange(id)
    const lengths = this.chunkLengths.slice(from, to)
    return { id, key: this.keyOf(id), version, class: this.classOf(id), firstChunk: from, lengths }
  }

  /** Stores changed blocks. Must run within a transaction. */
  save(): void {
    for (const block of this.#changed) this.#store.setBlock(block, packPages(this.#pagesOf(block)))
    this.#changed.clear()
  }

  kindOf(page: number): DocumentKind {
    return this.#classes[this.classOf(page)]?.kind ?? 'wiki'
  }

  /** Returns 1 for each visible page that passes the filters, by id. */
  passing(groups: readonly FilterGroup[], { pages }: Visible): Uint8Array {
    const passes = (page: number, filter: PageFilter) => {
      if (filter.type === 'kind') return this.kindOf(page) === filter.kind
      if (filter.type === 'keys') return filter.keys.has(this.keyOf(page))
      return this.factsOf(page)?.passes(filter) === true
    }
    return pages.map((isSeen, page) => {
      if (isSeen !== 1) return 0
      return groups.every(({ any, isNegated }) => any.some((filter) => passes(page, filter)) !== isNegated) ? 1 : 0
    })
  }

  /** Returns the class of a page, also of a removed one. */
  classOf(page: number): number {
    return this.#classOf[page] ?? 0
  }

  /** True if the page exists and has all its chunks. */
  isWhole(page: number): boolean {
    return this.#states[page] === state.whole
  }

  pageOf(chunk: number): number {
    const page = this.pagesOfChunks[chunk] ?? 0
    if (this.#states[page] === state.none) return 0
    return chunk < (this.firstChunks[page] ?? 0) + (this.#chunkCounts[page] ?? 0) ? page : 0
  }

  /** Returns the length of a chunk in terms. */
  lengthOf(chunk: number): number {
    return this.chunkLengths[chunk] ?? 0
  }

  chunkCountOf(page: number): number {
    return this.#chunkCounts[page] ?? 0
  }

  /** Returns the range of a page's chunk ids, also of a removed page. */
  chunkRange(page: number): { from: number; to: number } {
    const from = this.firstChunks[page] ?? 0
    return { from, to: from + (this.#chunkCounts[page] ?? 0) }
  }

  /** Returns the chunk ids of a page, in the order of its text. */
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
    const visible = new Visible(classes, this.pageEnd)
    for (let id = 0; id < this.pageEnd; id++) this.#count(id, visible, 1)
    if (this.#visible.size >= maxVisible) this.#visible.clear()
    this.#visible.set(key, visible)
    return visible
  }

  /** Adds a page to the counts or subtracts it, unless it lacks chunks. */
  #count(id: number, visible: Visible, amount: 1 | -1): void {
    if (!this.isWhole(id)) return
    const [chunkCount, length] = [this.chunkCountOf(id), this.pageLengths[id] ?? 0]
    visible.count({ id, class: this.classOf(id), chunkCount, length }, amount)
  }

  /** Subtracts a page from the counts. */
  #takeOut(id: number): void {
    for (const visible of this.#visible.values()) this.#count(id, visible, -1)
    this.chunkCount -= this.chunkCountOf(id)
    this.pageCount--
  }

  #change(page: StoredPage): void {
    this.#put({ ...page, isWhole: !isUnfinished(page) })
    this.#changed.add(blockOf(page.id))
    for (const visible of this.#visible.values()) this.#count(page.id, visible, 1)
  }

  *pages(): Generator<CatalogPage> {
    for (let block = 0; block <= blockOf(this.pageEnd); block++) yield* this.#pagesOf(block)
  }

  *#pagesOf(block: number): Generator<CatalogPage> {
    const end = Math.min((block + 1) * pagesPerBlock, this.pageEnd)
    for (let id = block * pagesPerBlock; id < end; id++) {
      if (this.#states[id] === state.none) continue
      yield { ...this.stored({ id, version: '' }), isWhole: this.isWhole(id) }
    }
  }

  #put({ id, key, class: ofPages, isWhole, firstChunk, lengths }: CatalogPage): void {
    this.#growFor(id, firstChunk + lengths.length)
    this.#keys[id] = key
    this.#states[id] = isWhole ? state.whole : state.unfinished
    this.#classOf[id] = ofPages
    this.firstChunks[id] = firstChunk
    this.#chunkCounts[id] = lengths.length
    let length = 0
    for (let index = 0; index < lengths.length; index++) {
      this.pagesOfChunks[firstChunk + index] = id
      this.chunkLengths[firstChunk + index] = lengths[index] ?? 0
      length += lengths[index] ?? 0
    }
    this.pageLengths[id] = length
    this.pageCount++
    this.chunkCount += lengths.length
  }

  #growFor(page: number, chunkEnd: number): void {
    this.pageEnd = Math.max(this.pageEnd, page + 1)
    if (page >= this.#states.length) {
      this.#states = grown(this.#states, page + 1)
      this.#classOf = grown(this.#classOf, page + 1)
      this.firstChunks = grown(this.firstChunks, page + 1)
      this.#chunkCounts = grown(this.#chunkCounts, page + 1)
      this.pageLengths = grown(this.pageLengths, page + 1)
    }
    if (chunkEnd <= this.pagesOfChunks.length) return
    this.pagesOfChunks = grown(this.pagesOfChunks, chunkEnd)
    this.chunkLengths = grown(this.chunkLengths, chunkEnd)
  }
}

function blockOf(page: number): number {
  return Math.floor(page / pagesPerBlock)
}

/** Statistics of a page. Lengths are in terms. */
type CountedPage = { id: number; class: number; chunkCount: number; length: number }

/** The visible pages of a scope and their statistics, which ranking needs. Follows the changes of its catalog. */
export class Visible {
  /** Flags by class id: 1 if the class is visible. */
  readonly classes: Uint8Array
  /** Flags by page id: 1 if the page is visible. Valid until the next change. */
  pages: Uint8Array
  pageCount = 0
  chunkCount = 0
  #length = 0

  /** Creates statistics without pages. @param pageEnd one more than the highest page id */
  constructor(classes: Uint8Array, pageEnd: number) {
    this.classes = classes
    this.pages = new Uint8Array(pageEnd)
  }

  get averagePageLength(): number {
    return this.#length / Math.max(1, this.pageCount)
  }

  get averageChunkLength(): number {
    return this.#length / Math.max(1, this.chunkCount)
  }

  /** Adds a complete page if its class is visible, or subtracts one that was removed or is incomplete. */
  count({ id, class: ofPage, chunkCount, length }: CountedPage, amount: 1 | -1): void {
    if (this.classes[ofPage] !== 1) return
    if (id >= this.pages.length) this.pages = grown(this.pages, id + 1)
    this.pages[id] = amount === 1 ? 1 : 0
    this.pageCount += amount
    this.chunkCount += amount * chunkCount
    this.#length += amount * length
  }
}
