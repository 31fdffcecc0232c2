import { ByteReader, ByteWriter, grown } from '../../bytes/byte-writer.ts'
import type { ClassCount } from './term-codec.ts'

/** Number of terms in a block, the first of which is written in full. */
const blockSize = 16

/** Location of a term's postings in a segment, and their numbers. */
export type TermEntry = {
  counts: readonly ClassCount[]
  /** Offset in the segment, in bytes. */
  offset: number
  /** Bytes of the postings, and of the positions after them. */
  docs: number
  positions: number
}

/** Writes terms in the order of their UTF-8 bytes, each as what differs from the one before it (front coding). */
export class DictionaryWriter {
  readonly #out = new ByteWriter()
  readonly #starts = new ByteWriter()
  #last = new Uint8Array(64)
  #lastLength = 0
  count = 0
  #lastStart = 0

  add(term: Uint8Array, { counts, offset, docs, positions }: TermEntry): void {
    let shared = 0
    if (this.count % blockSize === 0) {
      this.#starts.varint(this.#out.length - this.#lastStart)
      this.#lastStart = this.#out.length
      this.#out.long(offset)
    } else {
      const most = Math.min(term.length, this.#lastLength)
      while (shared < most && term[shared] === this.#last[shared]) shared++
      this.#out.varint(shared)
    }
    this.#out.varint(term.length - shared)
    this.#out.bytes(term, shared)
    this.#out.varint(counts.length)
    for (const { class: ofPages, chunks, pages } of counts) {
      this.#out.varint(ofPages)
      this.#out.varint(chunks)
      this.#out.varint(pages)
    }
    this.#out.varint(docs)
    this.#out.varint(positions)
    if (term.length > this.#last.length) this.#last = grown(this.#last, term.length)
    this.#last.set(term)
    this.#lastLength = term.length
    this.count++
  }

  /** Returns the length of the terms in bytes, the terms, and the starts of their blocks. */
  finish(): Uint8Array[] {
    const end = new ByteWriter()
    end.long(this.#out.length)
    return [end.written, this.#out.written, this.#starts.written]
  }
}

/** The terms of a segment. */
export class Dictionary {
  readonly #terms: Uint8Array
  readonly #starts: Uint32Array
  readonly count: number

  /** Reads the block starts. @param bytes concatenated result of {@link DictionaryWriter.finish} */
  constructor(bytes: Uint8Array, count: number) {
    const reader = new ByteReader(bytes)
    const length = reader.long()
    this.#terms = bytes.subarray(reader.at, reader.at + length)
    reader.at += length
    this.count = count
    this.#starts = new Uint32Array(Math.ceil(count / blockSize))
    for (let index = 0, start = 0; index < this.#starts.length; index++) {
      start += reader.varint()
      this.#starts[index] = start
    }
  }

  find(term: Uint8Array): TermEntry | undefined {
    const cursor = this.from(term)
    return cursor.isAt && cursor.compareTo(term) === 0 ? cursor.entry : undefined
  }

  /** Returns a cursor at the first term not before this one. */
  from(term: Uint8Array): DictionaryCursor {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#compareFirst(middle, term) <= 0) low = middle
      else high = middle - 1
    }
    const cursor = new DictionaryCursor(this.#terms, this.#starts[low] ?? 0, this.count - low * blockSize)
    while (cursor.isAt && cursor.compareTo(term) < 0) cursor.next()
    return cursor
  }

  /** Compares the first term of a block with another term. */
  #compareFirst(block: number, term: Uint8Array): number {
    const reader = new ByteReader(this.#terms, this.#starts[block])
    reader.long()
    const length = reader.varint()
    return compareBytes({ bytes: this.#terms, start: reader.at, length }, term, term.length)
  }
}

/** Iterates over the terms of a dictionary, in the order of UTF-8 bytes. */
export class DictionaryCursor {
  readonly #reader: ByteReader
  #term = Buffer.allocUnsafe(64)
  #length = 0
  #left: number
  #index = 0
  #countsAt = 0
  /** False after the last term. */
  isAt = true
  /** Location of the term's postings; see {@link TermEntry}. */
  offset = 0
  docs = 0
  positions = 0
  /** Bytes that the term shares with the one before it; 0 at the start of a block. */
  shared = 0

  /** Starts at the beginning of a block. @param left number of terms from `start` on */
  constructor(terms: Uint8Array, start: number, left: number) {
    this.#reader = new ByteReader(terms, start)
    this.#left = left
    this.next()
  }

  /** UTF-8 bytes of the term, valid until the cursor moves. */
  get term(): Uint8Array {
    return this.#term.subarray(0, this.#length)
  }

  get text(): string {
    return this.#term.toString('utf8', 0, this.#length)
  }

  /** Compares the term with that of another cursor. @param from number of bytes known to be equal */
  compare(other: DictionaryCursor, from = 0): number {
    return compareBytes({ bytes: this.#term, start: 0, length: this.#length }, other.#term, other.#length, from)
  }

  /** Compares the term with another one. */
  compareTo(term: Uint8Array): number {
    return compareBytes({ bytes: this.#term, start: 0, length: this.#length }, term, term.length)
  }

  beginsWith(prefix: Uint8Array): boolean {
    if (!this.isAt || this.#length < prefix.length) return false
    for (let at = 0; at < prefix.length; at++) if (this.#term[at] !== prefix[at]) return false
    return true
  }

  /** Counts the chunks with the term. @param classes 1 for each class to count, by id; all if absent */
  chunkCount(classes?: Uint8Array): number {
    const reader = new ByteReader(this.#reader.bytes, this.#countsAt)
    let count = 0
    for (let left = reader.varint(); left > 0; left--) {
      const ofPages = reader.varint()
      const chunks = reader.varint()
      if (classes === undefined || classes[ofPages] === 1) count += chunks
      reader.skip(1)
    }
    return count
  }

  get entry(): TermEntry {
    const reader = new ByteReader(this.#reader.bytes, this.#countsAt)
    const counts = Array.from({ length: reader.varint() }, () => ({
      class: reader.varint(),
      chunks: reader.varint(),
      pages: reader.varint(),
    }))
    return { counts, offset: this.offset, docs: this.docs, positions: this.positions }
  }

  next(): void {
    this.isAt = this.#left-- > 0
    if (!this.isAt) return
    const reader = this.#reader
    this.offset += this.docs + this.positions
    this.shared = 0
    if (this.#index++ % blockSize === 0) this.offset = reader.long()
    else this.shared = reader.varint()
    const length = reader.varint()
    if (this.shared + length > this.#term.length) this.#term = Buffer.concat([this.#term], 2 * (this.shared + length))
    for (let at = 0; at < length; at++) this.#term[this.shared + at] = reader.bytes[reader.at + at] ?? 0
    this.#length = this.shared + length
    reader.at += length
    this.#countsAt = reader.at
    reader.skip(3 * reader.varint())
    this.docs = reader.varint()
    this.positions = reader.varint()
  }
}

/**
 * Compares a range of `bytes` with the first `length` of `other`. For few bytes this is faster than `Buffer.compare`, which needs
 * views.
 * @param from number of bytes known to be equal
 */
function compareBytes(
  part: { bytes: Uint8Array; start: number; length: number },
  other: Uint8Array,
  length: number,
  from = 0,
): number {
  const common = Math.min(part.length, length)
  for (let at = from; at < common; at++) {
    const difference = (part.bytes[part.start + at] ?? 0) - (other[at] ?? 0)
    if (difference !== 0) return difference
  }
  return part.length - length
}

/** Cursor in a dictionary, with the owner of the dictionary. */
type TermsOf<Owner> = { owner: Owner; terms: DictionaryCursor }

/** Iterates over the terms of several dictionaries as one, in the order of UTF-8 bytes. */
export class MergedTerms<Owner> {
  /** Cursors with more terms. */
  #left: readonly TermsOf<Owner>[]
  readonly #prefix: Uint8Array
  /** Cursors at the current term, in their order. Empty at the end. */
  readonly at: TermsOf<Owner>[] = []

  /** Starts the iteration. @param all cursors at their first term with the prefix @param prefix of the terms to visit */
  constructor(all: readonly TermsOf<Owner>[], prefix: Uint8Array) {
    this.#left = all.filter(({ terms }) => terms.beginsWith(prefix))
    this.#prefix = prefix
    this.#findFirst()
  }

  next(): void {
    let isOneAtEnd = false
    for (const { terms } of this.at) {
      terms.next()
      // A term that shares the whole prefix with the one before has it, too.
      if (!terms.isAt || (terms.shared < this.#prefix.length && !terms.beginsWith(this.#prefix))) isOneAtEnd = true
    }
    if (isOneAtEnd) this.#left = this.#left.filter(({ terms }) => terms.beginsWith(this.#prefix))
    this.#findFirst()
  }

  #findFirst(): void {
    this.at.length = 0
    for (const one of this.#left) {
      const compared = this.at[0] === undefined ? 0 : one.terms.compare(this.at[0].terms, this.#prefix.length)
      if (compared < 0) this.at.length = 0
      if (compared <= 0) this.at.push(one)
    }
  }
}
