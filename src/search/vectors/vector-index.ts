import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Catalog, Visible } from '../index/catalog.ts'
import type { IndexStore } from '../index/index-store.ts'
import { embeddedText } from '../index/page-terms.ts'
import type { Nearness } from '../rank/fuse.ts'
import { EstimatedNearness } from './estimated-nearness.ts'
import { cosine, type Quantised, quantise, SignRows } from './sign-rows.ts'
import { VectorStore } from './vector-store.ts'

/** A text without a vector, to be embedded. */
export type LackingText = { hash: Uint8Array; text: string }

/** Vector of a text; undefined if the model rejects the text. */
export type EmbeddedText = { hash: Uint8Array; vector: Float32Array | undefined }

/** Texts to embed next, and the progress. */
export type EmbeddingWork = {
  texts: LackingText[]
  /** Number of chunks with a vector. */
  embedded: number
  /** Number of texts without a vector, of the chunks examined so far. */
  lacking: number
  /** True if all chunks were examined. */
  isWhole: boolean
}

/** Maximum chunks that are examined at once: some 20 ms. */
const stepSize = 2000
/** Maximum bytes in memory. Further chunks are found by words alone. */
const maxBytes = 300 * 2 ** 20
/** Share of rows of removed chunks at which the others are compacted. */
const maxGone = 0.25

/** The vectors of an index's chunks in memory. */
export class VectorIndex {
  readonly #store: VectorStore
  readonly #pages: IndexStore
  readonly #catalog: Catalog
  readonly #mostWhole: number | undefined
  #rows: SignRows | undefined
  /** Chunk of each row. */
  #chunks: number[] = []
  /** Place of each row's vector in the store. */
  #places: number[] = []
  /** Row of each chunk. */
  #rowOf: number[] = []
  /** Chunks without a vector, by the hash of their text. */
  readonly #lacking = new Map<string, { hash: Uint8Array; chunks: number[] }>()
  /** Hashes of texts that the model rejects. */
  readonly #without = new Set<string>()
  /** Id of the last hash examined. */
  #lookedAt = 0

  /** Creates an index without rows. @param mostWhole see `SignRows` */
  constructor(store: VectorStore, pages: IndexStore, catalog: Catalog, mostWhole?: number) {
    this.#mostWhole = mostWhole
    this.#store = store
    this.#pages = pages
    this.#catalog = catalog
  }

  /** Bytes in memory. */
  get size(): number {
    return this.#rows?.size ?? 0
  }

  /** Examines more chunks, and returns at most `limit` texts without vectors. */
  next(limit: number): EmbeddingWork {
    const gone = this.#dropGone()
    const looked = this.#pages.hashes(this.#lookedAt, stepSize)
    for (const { id, chunk, hash } of looked) {
      this.#lookedAt = id
      this.#place(chunk, hash)
    }
    const texts = this.#isFull ? [] : this.#texts(limit)
    return {
      texts,
      embedded: this.#chunks.length - gone,
      lacking: this.#lacking.size,
      isWhole: looked.length < stepSize,
    }
  }

  /** Adds vectors of texts. A text without one is not returned again while the index is open. @throws {OtherDimensions} */
  add(vectors: readonly EmbeddedText[]): void {
    const usable = vectors.flatMap(({ hash, vector }) => (vector ? [{ hash, vector: quantise(vector) }] : []))
    this.#store.add(usable)
    for (const { hash, vector } of vectors) if (vector === undefined) this.#without.add(keyOf(hash))
    for (const { hash } of vectors) {
      const { chunks = [] } = this.#lacking.get(keyOf(hash)) ?? {}
      this.#lacking.delete(keyOf(hash))
      for (const chunk of chunks) this.#place(chunk, hash)
    }
  }

  /** Returns the nearness of the visible chunks to a question. Undefined if none has a vector, or the dimensions differ. */
  near(question: Float32Array, { pages }: Pick<Visible, 'pages'>): Nearness | undefined {
    const rows = this.#rows
    if (rows === undefined || rows.dimensions !== question.length) return undefined
    const query = quantise(question)
    const known = { chunks: this.#chunks, rowOf: this.#rowOf, catalog: this.#catalog }
    const vectors = { signs: rows, cosine: (row: number) => this.#cosine(query, row) }
    const isVisible = (chunk: number) => pages[this.#catalog.pageOf(chunk)] === 1
    const nearness = new EstimatedNearness(query, vectors, known, isVisible)
    return nearness.count === 0 ? undefined : nearness
  }

  sweep(times: { now: number; before: number }): void {
    const used = new Set<string>()
    let after = 0
    for (;;) {
      const hashes = this.#pages.hashes(after, stepSize)
      for (const { id, hash } of hashes) {
        after = id
        used.add(keyOf(hash))
      }
      if (hashes.length < stepSize) break
    }
    this.#store.sweep((hash) => used.has(keyOf(hash)), times)
  }

  get #isFull(): boolean {
    return this.size >= maxBytes
  }

  #cosine(query: Quantised, row: number): number | undefined {
    const vector = this.#rows?.vectorOf(row) ?? this.#store.at(this.#places[row] ?? 0)
    return vector?.bytes.length === query.bytes.length ? cosine(query, vector) : undefined
  }

  /** Adds a chunk to those with a vector or to those without. */
  #place(chunk: number, hash: Uint8Array): void {
    if (this.#catalog.pageOf(chunk) === 0 || this.#without.has(keyOf(hash))) return
    const vector = this.#isFull ? undefined : this.#store.find(hash)
    if (vector === undefined) {
      const lacking = this.#lacking.get(keyOf(hash)) ?? { hash, chunks: [] }
      lacking.chunks.push(chunk)
      this.#lacking.set(keyOf(hash), lacking)
      return
    }
    this.#rows ??= new SignRows(vector.bytes.length, this.#mostWhole)
    this.#rowOf[chunk] = this.#rows.count
    this.#chunks.push(chunk)
    this.#places.push(vector.place)
    this.#rows.push(vector)
  }

  #texts(limit: number): LackingText[] {
    const texts: LackingText[] = []
    for (const [key, { hash, chunks }] of this.#lacking) {
      if (texts.length === limit) break
      const chunk = chunks.find((id) => this.#catalog.pageOf(id) !== 0)
      const text = chunk === undefined ? '' : this.#textOf(chunk)
      // Removed chunks, and those without text, need no vector.
      if (text === '') this.#lacking.delete(key)
      else texts.push({ hash, text })
    }
    return texts
  }

  #textOf(chunk: number): string {
    return embeddedText(this.#pages.title(this.#catalog.pageOf(chunk)), this.#pages.chunks.chunk(chunk))
  }

  /** Drops the rows of removed chunks once there are many. @returns the number of such rows left */
  #dropGone(): number {
    const kept: number[] = []
    for (const [row, chunk] of this.#chunks.entries()) if (this.#catalog.pageOf(chunk) !== 0) kept.push(row)
    const gone = this.#chunks.length - kept.length
    if (gone <= maxGone * this.#chunks.length) return gone
    this.#rows?.keep(kept)
    this.#chunks = kept.map((row) => this.#chunks[row] ?? 0)
    this.#places = kept.map((row) => this.#places[row] ?? 0)
    this.#rowOf = []
    for (const [row, chunk] of this.#chunks.entries()) this.#rowOf[chunk] = row
    return 0
  }
}

function keyOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('latin1')
}

/** File of an index's vectors, the name of their model, and optionally the maximum bytes of whole vectors in memory. */
export type VectorsAddress = { file: string; model: string; mostWhole?: number }

/** Thrown for a failure of the vectors, which must not make the index itself fail. */
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

  /** Returns the nearness of chunks, see `VectorIndex.near`. Undefined before the vectors are opened. */
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
