import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { Chunk } from '../../rules/neurons/chunk.ts'
import { type TermPlaces, unpackOffsets } from './page-terms.ts'

/** Bytes of memory that the rows of all indexes take together, roughly. */
const maxSize = 16 * 2 ** 20
/** What a row takes beside its texts. */
const rowSize = 300

/** Ids of chunks stay below it. */
const idsPerIndex = 2 ** 31

/** By the number of the index and the id of the chunk. */
const kept = new LRUCache<number, TermPlaces>({ maxSize, sizeCalculation: sizeOf })
let indexes = 0

/**
 * Reads the rows of chunks. What excerpts are made from is kept: the best pages for one query are often those for another. A row never
 * changes, and no other chunk gets its id while an index is open.
 */
export class ChunkRows {
  readonly #index = ++indexes
  readonly #below: { rows: ChunkRows; end: number } | undefined
  readonly #selectChunk: StatementSync
  readonly #selectPlaces: StatementSync
  readonly #selectTerms: StatementSync

  /** @param below reads the chunks with ids up to before `end` */
  constructor(db: DatabaseSync, below?: { rows: ChunkRows; end: number }) {
    this.#below = below
    const prepare = (columns: string) => ofArrays(db.prepare(`SELECT ${columns} FROM chunks WHERE id = ?`))
    this.#selectChunk = prepare('headings, content, coalesce(text, content)')
    this.#selectPlaces = prepare('coalesce(text, content), terms, own_at, text_at, offsets')
    const fences = "('```', '~~~')"
    this.#selectTerms = prepare(
      `terms, own_at, substr(content, 1, 3) IN ${fences} AND substr(content, -3) IN ${fences}`,
    )
  }

  chunk(id: number): Chunk {
    const below = this.#rowsBelow(id)
    if (below !== undefined) return below.chunk(id)
    const { 0: headings, 1: content, 2: text } = this.#selectChunk.get(id) ?? {}
    return { headings: JSON.parse(String(headings ?? '[]')), content: String(content ?? ''), text: String(text ?? '') }
  }

  /** A chunk's text, and where its terms stand in it. */
  termPlaces(id: number): TermPlaces {
    const below = this.#rowsBelow(id)
    if (below !== undefined) return below.termPlaces(id)
    const key = this.#keyOf(id)
    const known = kept.get(key)
    if (known !== undefined) return known
    const { 0: text, 1: terms, 2: ownAt, 3: textAt, 4: offsets } = this.#selectPlaces.get(id) ?? {}
    const places = {
      text: String(text ?? ''),
      terms: String(terms ?? ''),
      ownAt: Number(ownAt ?? 0),
      textAt: Number(textAt ?? 0),
      offsets: unpackOffsets(offsets instanceof Uint8Array ? offsets : new Uint8Array()),
    }
    kept.set(key, places)
    return places
  }

  /** The terms of a chunk; see `TermPlaces`. `isCode`: it begins and ends with a fence. */
  terms(id: number): Pick<TermPlaces, 'terms' | 'ownAt'> & { isCode: boolean } {
    const below = this.#rowsBelow(id)
    if (below !== undefined) return below.terms(id)
    const { 0: terms, 1: ownAt, 2: isCode } = this.#selectTerms.get(id) ?? {}
    return { terms: String(terms ?? ''), ownAt: Number(ownAt ?? 0), isCode: isCode === 1 }
  }

  #rowsBelow(id: number): ChunkRows | undefined {
    return this.#below !== undefined && id < this.#below.end ? this.#below.rows : undefined
  }

  #keyOf(id: number): number {
    return this.#index * idsPerIndex + id
  }
}

function sizeOf({ text, terms, offsets }: TermPlaces): number {
  return rowSize + 2 * text.length + terms.length + offsets.buffer.byteLength
}

/** A statement whose rows are arrays, which takes half of the time: for what is read a hundred times for one answer. */
export function ofArrays(statement: StatementSync): StatementSync {
  statement.setReturnArrays(true)
  return statement
}
