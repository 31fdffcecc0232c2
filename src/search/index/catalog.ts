import { accessClass, maySee } from '../../knowledge/audience.ts'
import type { Scope, View } from '../search-index.ts'
import type { StoredChunk, StoredPage } from './index-store.ts'

/** What a scope lets see, and the figures that ranking needs of just that. */
export type Visible = {
  /** 1 where the page of that id is seen. */
  pages: Uint8Array
  /** Every page is seen. */
  isAll: boolean
  /** The classes of the pages that are seen; see {@link Catalog.classOf}. */
  classes: readonly string[]
  /** Whether a page of these classes has not all of its chunks. */
  hasUnfinished: boolean
  pageCount: number
  chunkCount: number
  averagePageLength: number
  averageChunkLength: number
}

type Entry = StoredPage & { length: number; class: string }

/** Begins the version of a page that has not all of its chunks. */
export const unfinished = 'unfinished '

/** Whether a page has not all of its chunks: nobody sees it. */
export function isUnfinished({ version }: { version: string }): boolean {
  return version.startsWith(unfinished)
}

/** The pages of an index in memory: who may see them, which chunks are whose, and how long they are. */
export class Catalog {
  readonly #byKey = new Map<string, Entry>()
  readonly #noted = new Map<string, StoredPage>()
  readonly #byId: (Entry | undefined)[] = []
  readonly #pageOf: number[] = []
  readonly #lengthOf: number[] = []
  /** A page of each class. */
  readonly #samples = new Map<string, Entry>()
  readonly #visible = new Map<string, Visible>()
  #chunkCount = 0

  get pageCount(): number {
    return this.#byKey.size
  }

  get chunkCount(): number {
    return this.#chunkCount
  }

  add(page: StoredPage): void {
    const length = page.chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    const entry = { ...page, length, class: classOf(page) }
    if (!this.#samples.has(entry.class)) this.#samples.set(entry.class, entry)
    this.#byKey.set(page.key, entry)
    this.#byId[page.id] = entry
    if (page.note !== undefined) this.#noted.set(page.key, page)
    this.#note(page.id, page.chunks)
    this.#visible.clear()
  }

  /** More of a page that is unfinished. */
  addChunks(key: string, chunks: readonly StoredChunk[]): void {
    const entry = this.#byKey.get(key)
    if (entry === undefined) return
    entry.chunks.push(...chunks)
    for (const { length } of chunks) entry.length += length
    this.#note(entry.id, chunks)
  }

  /** Forgets the last chunks of a page that is unfinished. */
  removeLast(key: string, count: number): void {
    const entry = this.#byKey.get(key)
    if (entry === undefined) return
    const removed = entry.chunks.splice(-count)
    for (const { length } of removed) entry.length -= length
    this.#forget(removed)
  }

  /** Finishes a page, or makes it one that is unfinished. */
  setVersion(key: string, version: string): void {
    const entry = this.#byKey.get(key)
    if (entry !== undefined) entry.version = version
    this.#visible.clear()
  }

  remove(page: StoredPage): void {
    this.#byKey.delete(page.key)
    this.#noted.delete(page.key)
    this.#byId[page.id] = undefined
    this.#forget(page.chunks)
    this.#visible.clear()
  }

  find(key: string): StoredPage | undefined {
    return this.#byKey.get(key)
  }

  /** @throws {RangeError} for an id that no page has. */
  page(id: number): StoredPage & { length: number } {
    const page = this.#byId[id]
    if (page === undefined) throw new RangeError(`There is no page ${id}.`)
    return page
  }

  pages(): IterableIterator<StoredPage> {
    return this.#byKey.values()
  }

  /** Those with a user's note that is shared. */
  notedPages(): IterableIterator<StoredPage> {
    return this.#noted.values()
  }

  /** Names who sees the page of an id: pages of one class are seen by the same scopes. Letters and `_`. */
  classOf(id: number): string {
    return this.#byId[id]?.class ?? ''
  }

  /** The id of the page that a chunk belongs to; 0, which no page has, for a chunk that is gone. */
  pageOf(chunk: number): number {
    return this.#pageOf[chunk] ?? 0
  }

  /** In terms. */
  lengthOf(chunk: number): number {
    return this.#lengthOf[chunk] ?? 0
  }

  visible({ audience, defaultAudience, kind }: View & Pick<Scope, 'kind'>): Visible {
    const key = JSON.stringify([audience, defaultAudience, kind ?? null])
    const known = this.#visible.get(key)
    if (known !== undefined) return known
    const seen = new Set<string>()
    for (const [name, { kind: ofPage, audience: listed, tags }] of this.#samples) {
      const isOfKind = kind === undefined || kind === ofPage
      if (isOfKind && maySee(audience, { audience: listed, tags }, defaultAudience)) seen.add(name)
    }
    const pages = new Uint8Array(this.#byId.length)
    let [pageCount, chunkCount, length] = [0, 0, 0]
    let hasUnfinished = false
    for (const page of this.#byKey.values()) {
      if (!seen.has(page.class)) continue
      if (isUnfinished(page)) {
        hasUnfinished = true
        continue
      }
      pages[page.id] = 1
      pageCount++
      chunkCount += page.chunks.length
      length += page.length
    }
    const visible = {
      pages,
      isAll: pageCount === this.#byKey.size,
      classes: [...seen],
      hasUnfinished,
      pageCount,
      chunkCount,
      averagePageLength: length / Math.max(1, pageCount),
      averageChunkLength: length / Math.max(1, chunkCount),
    }
    this.#visible.set(key, visible)
    return visible
  }

  #note(page: number, chunks: readonly StoredChunk[]): void {
    for (const { id, length } of chunks) {
      this.#pageOf[id] = page
      this.#lengthOf[id] = length
    }
    this.#chunkCount += chunks.length
  }

  #forget(chunks: readonly StoredChunk[]): void {
    for (const { id } of chunks) this.#pageOf[id] = 0
    this.#chunkCount -= chunks.length
  }
}

function classOf(page: StoredPage): string {
  return `${page.kind}_${accessClass(page)}`
}
