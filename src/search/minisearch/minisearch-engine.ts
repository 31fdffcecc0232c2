import { randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import MiniSearch, { type Options, type SearchOptions } from 'minisearch'
import type { Catalog, Visible } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import type { IndexStore } from '../index/index-store.ts'
import { boundary, occurrences } from '../index/page-terms.ts'
import type { StoredPage } from '../index/store-tables.ts'
import { mostFrequent, type TermChunk, type TermEngine } from '../index/term-engine.ts'
import { type Found, type IndexPart, PostingEngine } from '../rank/posting-engine.ts'
import { end, PostingList } from '../rank/posting-list.ts'
import { idf } from '../rank/scores.ts'
import { isWithinEdits } from '../text/edit-rows.ts'
import { isNameTerm } from '../text/name-terms.ts'

const indexOptions: Options<TermChunk> = {
  fields: ['terms'],
  tokenize: (terms) => terms.trim().split(' '),
  processTerm: (term) => (term === boundary ? null : term),
}
/** Options with which MiniSearch's score of a chunk is the frequency of the term times its `idf` among all chunks. */
const byFrequency: SearchOptions = { bm25: { k: 1e9, b: 0, d: 0 } }

/** Engine of small knowledge bases: MiniSearch in memory, which finds the chunks with a term, a prefix or a similar term. */
export class MiniSearchEngine extends PostingEngine<IndexPart> implements TermEngine {
  readonly #store: IndexStore
  readonly #file: string
  readonly #index: MiniSearch<TermChunk>
  /** Terms of each chunk, to find phrases. */
  readonly #terms: Map<number, string>
  /** Engine below this layer. */
  readonly #below: MiniSearchEngine | undefined
  /** Terms at the last count, and chunks then: MiniSearch walks through all terms to count them. */
  #counted = { terms: 0, chunks: 0 }
  /** Parts of the index: MiniSearch has a single one. */
  protected readonly parts = [{ windows: Uint32Array.of(0, end) }]

  /** Loads the index. @param file of the snapshot */
  constructor(catalog: Catalog, store: IndexStore, file: string, below?: MiniSearchEngine) {
    super(catalog)
    this.#below = below
    this.#store = store
    this.#file = file
    this.#index = restore(store, file) ?? new MiniSearch(indexOptions)
    const chunks = Array.from(store.termsOf(0, Number.MAX_SAFE_INTEGER))
    this.#terms = new Map(chunks.map(({ id, terms }) => [id, terms]))
    for (const chunk of chunks) if (!this.#index.has(chunk.id)) this.#index.add(chunk)
  }

  over(catalog: Catalog, store: IndexStore): MiniSearchEngine {
    return new MiniSearchEngine(catalog, store, '', this)
  }

  get termsInMemory(): number {
    const { documentCount: chunks } = this.#index
    if (4 * Math.abs(chunks - this.#counted.chunks) > chunks) this.#counted = { terms: this.#index.termCount, chunks }
    return Math.round((this.#counted.terms * chunks) / Math.max(1, this.#counted.chunks))
  }

  addChunks(chunks: readonly TermChunk[]): void {
    for (const chunk of chunks) {
      this.#terms.set(chunk.id, chunk.terms)
      this.#index.add(chunk)
    }
  }

  removeChunks(page: StoredPage, count: number): void {
    this.#store.removedChunks.note(page, count)
    const stop = page.firstChunk + page.lengths.length
    for (let id = stop - count; id < stop; id++) {
      // The engine below keeps its chunks; their pages are not visible here.
      if (!this.#terms.has(id)) continue
      this.#index.remove({ id, terms: this.#terms.get(id) ?? '' })
      this.#terms.delete(id)
    }
  }

  /** Does nothing: this engine knows pages by their chunks. */
  addPage(): void {}

  removePage(): void {}

  commit(): void {}

  work(): boolean {
    return false
  }

  close(): void {}

  chunksWith(term: string, visible: Visible): number {
    return this.#counts(term, visible).get(term) ?? 0
  }

  similarTerms(
    word: string,
    maxEdits: number,
    visible: Visible,
    deadline: Deadline,
  ): [term: string, chunkCount: number][] {
    deadline.check()
    // MiniSearch counts a transposition as two edits.
    return [...this.#counts(word, visible, { fuzzy: 2 * maxEdits })].filter(([term]) => {
      return isWithinEdits(word, term, maxEdits) && (isNameTerm(term) || !isNameTerm(word))
    })
  }

  termsEnding(ending: string, visible: Visible, deadline: Deadline): [term: string, chunkCount: number][] {
    const found = new Set<string>()
    const sought = `${ending} `
    for (const terms of this.#indexed.flatMap((engine) => [...engine.#terms.values()])) {
      deadline.check()
      for (let at = terms.indexOf(sought); at >= 0; at = terms.indexOf(sought, at + 1)) {
        found.add(terms.slice(terms.lastIndexOf(' ', at) + 1, at + ending.length))
      }
    }
    return this.counted(
      [...found].filter((term) => !isNameTerm(term)),
      visible,
    )
  }

  /** Replaces the snapshot. After a crash there is the old one, the new one, or one that is ignored. Must run within a transaction. */
  save(): void {
    const id = randomUUID()
    const json = Buffer.from(JSON.stringify(this.#index))
    const header = JSON.stringify({ id, crc32: crc32(json) } satisfies Header)
    const unfinished = `${this.#file}.new`
    writeFileSync(unfinished, `${header}\n`)
    appendFileSync(unfinished, json)
    renameSync(unfinished, this.#file)
    this.#store.removedChunks.noteSnapshot(id)
  }

  protected ofTerm(term: string, visible: Visible, deadline: Deadline): Found<IndexPart> {
    return this.#found(this.#frequencies(term, visible, deadline))
  }

  protected ofPrefix(prefix: string, visible: Visible, deadline: Deadline): Found<IndexPart> {
    const together = new Map<number, number>()
    for (const term of mostFrequent(this.#counts(prefix, visible, { prefix: true }))) {
      for (const [chunk, frequency] of this.#frequencies(term, visible, deadline)) {
        together.set(chunk, (together.get(chunk) ?? 0) + frequency)
      }
    }
    return this.#found(together)
  }

  protected ofPhrase(terms: readonly string[], visible: Visible, deadline: Deadline): Found<IndexPart> {
    const [rarest] = terms.map((term) => this.#frequencies(term, visible, deadline)).sort((a, b) => a.size - b.size)
    const phrase = terms.join(' ')
    const found = new Map<number, number>()
    for (const chunk of rarest?.keys() ?? []) {
      deadline.check()
      const frequency = occurrences(this.#termsOf(chunk), phrase)
      if (frequency > 0) found.set(chunk, frequency)
    }
    return this.#found(found)
  }

  /** Engines that contain the content: this one, and the one below its layer. */
  get #indexed(): MiniSearchEngine[] {
    return this.#below === undefined ? [this] : [this.#below, this]
  }

  #termsOf(chunk: number): string {
    return this.#terms.get(chunk) ?? (this.#below === undefined ? '' : this.#below.#termsOf(chunk))
  }

  /** Returns the terms that MiniSearch finds for a word, with their numbers of visible chunks. */
  #counts(word: string, visible: Visible, options?: SearchOptions): Map<string, number> {
    const counts = new Map<string, number>()
    const { pagesOfChunks } = this.catalog
    const count = (chunk: number, term: string) => {
      if (visible.pages[pagesOfChunks[chunk] ?? 0] === 1) counts.set(term, (counts.get(term) ?? 0) + 1)
      return 0
    }
    for (const engine of this.#indexed) engine.#index.search(word, { ...options, boostDocument: count })
    return counts
  }

  /** Returns the frequency of a term in each visible chunk that has it. */
  #frequencies(term: string, visible: Visible, deadline: Deadline): Map<number, number> {
    deadline.check()
    const frequencies = new Map<number, number>()
    for (const engine of this.#indexed) {
      const found = engine.#index.search(term, byFrequency)
      const rarity = idf(found.length, engine.#index.documentCount)
      for (const { id, score } of found) {
        if (visible.pages[this.catalog.pageOf(id)] === 1) frequencies.set(id, Math.round(score / rarity))
      }
    }
    return frequencies
  }

  #found(frequencies: ReadonlyMap<number, number>): Found<IndexPart> {
    const chunks = Uint32Array.from(frequencies.keys()).sort()
    return this.computed(
      () =>
        new PostingList(
          chunks,
          chunks.map((chunk) => frequencies.get(chunk) ?? 0),
        ),
    )
  }
}

/** First line of a snapshot: its id, and the CRC-32 of MiniSearch's own serialisation, which follows. */
type Header = { id: string; crc32: number }
const newline = 0x0a

/** Loads the snapshot that the store names: the store lists chunks removed since then, and has reused no id. */
function restore(store: IndexStore, file: string): MiniSearch<TermChunk> | undefined {
  try {
    const bytes = readFileSync(file)
    const stop = bytes.indexOf(newline)
    const { id, crc32: sum }: Partial<Header> = JSON.parse(bytes.toString('utf8', 0, stop))
    const json = bytes.subarray(stop + 1)
    // The store names none before the first snapshot.
    if (id === undefined || id !== store.removedChunks.snapshot() || sum !== crc32(json)) return undefined
    const index = MiniSearch.loadJSON<TermChunk>(json.toString('utf8'), indexOptions)
    for (const chunk of store.removedChunks.all()) if (index.has(chunk.id)) index.remove(chunk)
    return index
  } catch {
    return undefined
  }
}
