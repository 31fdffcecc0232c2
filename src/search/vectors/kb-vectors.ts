import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Catalog } from '../index/catalog.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { Visible } from '../index/visible.ts'
import type { Nearness } from '../rank/fuse.ts'
import { type EmbeddedText, type EmbeddingWork, VectorIndex } from './vector-index.ts'
import { VectorStore } from './vector-store.ts'

/** File of an index's vectors, the name of their model, and optionally the maximum bytes of whole vectors in memory. */
export type VectorsAddress = { file: string; model: string; mostWhole?: number }

/** An error of the vectors, which must not make the index itself fail. */
export class VectorsFailed extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/** The vectors of one knowledge base. Opened on first use and again after an error, because opening detects damage. */
export class KbVectors {
  readonly #address: VectorsAddress
  readonly #pages: IndexStore
  readonly #catalog: Catalog
  #open: { store: VectorStore; index: VectorIndex } | undefined

  constructor(address: VectorsAddress, pages: IndexStore, catalog: Catalog) {
    this.#address = address
    this.#pages = pages
    this.#catalog = catalog
  }

  /** Bytes in memory. */
  get size(): number {
    return this.#open?.index.size ?? 0
  }

  next(limit: number): EmbeddingWork {
    return this.#guarded((index) => index.next(limit))
  }

  add(vectors: readonly EmbeddedText[]): void {
    this.#guarded((index) => index.add(vectors))
  }

  sweep(times: { now: number; before: number }): void {
    this.#guarded((index) => index.sweep(times))
  }

  /** See `VectorIndex.near`. Undefined before the vectors are opened. */
  near(vector: Float32Array, visible: Pick<Visible, 'pages'>): Nearness | undefined {
    return this.#open?.index.near(vector, visible)
  }

  close(): void {
    this.#open?.store.close()
    this.#open = undefined
  }

  #guarded<Result>(work: (index: VectorIndex) => Result): Result {
    const { file, model, mostWhole } = this.#address
    try {
      if (this.#open === undefined) {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
        const store = new VectorStore(file, model)
        this.#open = { store, index: new VectorIndex(store, this.#pages, this.#catalog, mostWhole) }
      }
      return work(this.#open.index)
    } catch (error) {
      this.close()
      throw new VectorsFailed(error)
    }
  }
}
