import type { Catalog } from '../index/catalog.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { Visible } from '../index/visible.ts'
import type { Nearness } from '../rank/fuse.ts'
import { embeddedText } from '../text/embedded-text.ts'
import { EstimatedNearness } from './estimated-nearness.ts'
import { cosine, type Quantised, quantise } from './quantise.ts'
import { SignRows } from './sign-rows.ts'
import type { VectorStore } from './vector-store.ts'

/** A text that a model is to be asked about. */
export type LackingText = { hash: Uint8Array; text: string }

/** What a model gave for a text; undefined: it has no vector for it. */
export type EmbeddedText = { hash: Uint8Array; vector: Float32Array | undefined }

/** What is to be asked next, and how far it has come. */
export type EmbeddingWork = {
  texts: LackingText[]
  /** Chunks that have a vector, */
  embedded: number
  /** that lack one, as far as they were looked at, */
  lacking: number
  /** and whether all were. */
  isWhole: boolean
}

/** Chunks that are looked at in one go: some 20 ms. */
const stepSize = 2000
/** Bytes in memory. Chunks beyond are found by their words only. */
const maxBytes = 300 * 2 ** 20
/** Rows of chunks that are gone, as a part of all, before the others move together. */
const maxGone = 0.25

/** The vectors of one index's chunks in memory: of which chunks there are, which of them are near a question. */
export class VectorIndex {
  readonly #store: VectorStore
  readonly #pages: IndexStore
  readonly #catalog: Catalog
  readonly #mostWhole: number | undefined
  #rows: SignRows | undefined
  /** By row. */
  #chunks: number[] = []
  /** Places in the store, by row. */
  #places: number[] = []
  /** By chunk. */
  #rowOf: number[] = []
  /** Chunks without a vector, by hash. */
  readonly #lacking = new Map<string, { hash: Uint8Array; chunks: number[] }>()
  /** Hashes of texts that the model has no vector for. */
  readonly #without = new Set<string>()
  /** The id of the last hash that was looked at. */
  #lookedAt = 0

  /** @param mostWhole see `SignRows` */
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

  /** Looks at more of the chunks, and returns at most `limit` texts that lack vectors. */
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

  /**
   * Takes in what the model gave for texts; undefined: it has no vector for this one, which is not asked for again while the index is
   * open. @throws {OtherDimensions}
   */
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

  /**
   * How near the visible chunks are to a question. Undefined where none of them has a vector, or the question's is of another length
   * than theirs.
   */
  near(question: Float32Array, visible: Pick<Visible, 'pages'>): Nearness | undefined {
    const rows = this.#rows
    if (rows === undefined || rows.dimensions !== question.length) return undefined
    const query = quantise(question)
    const known = { chunks: this.#chunks, rowOf: this.#rowOf, catalog: this.#catalog }
    const nearness = new EstimatedNearness(
      (each) => {
        for (const { from, count } of this.#visibleRuns(visible)) rows.distances(query, from, count, each)
      },
      { signs: rows, cosine: (row) => this.#cosine(query, row) },
      known,
    )
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

  /** Puts a chunk among those with a vector, or those without. */
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
      // Chunks that are gone, or say nothing, need no vector.
      if (text === '') this.#lacking.delete(key)
      else texts.push({ hash, text })
    }
    return texts
  }

  #textOf(chunk: number): string {
    return embeddedText(this.#pages.title(this.#catalog.pageOf(chunk)), this.#pages.chunks.chunk(chunk))
  }

  /** Rows of visible chunks that follow each other: the others cost no time. */
  *#visibleRuns({ pages }: Pick<Visible, 'pages'>): Generator<{ from: number; count: number }> {
    let from = 0
    for (let row = 0; row <= this.#chunks.length; row++) {
      if (row < this.#chunks.length && pages[this.#catalog.pageOf(this.#chunks[row] ?? 0)] === 1) continue
      if (row > from) yield { from, count: row - from }
      from = row + 1
    }
  }

  /** Drops the rows of chunks that are gone, once there are many. @returns how many such rows are left */
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
