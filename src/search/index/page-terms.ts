import { hash } from 'node:crypto'
import type { Chunk } from '../../rules/neurons/chunk.ts'
import { ByteReader, ByteWriter } from '../bytes/byte-writer.ts'
import type { IndexedDocument } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'
import { initialismsIn, initialismsOf, nameTerms } from '../text/name-terms.ts'
import { type Token, unjoined } from '../text/tokens.ts'

/** Separator of texts that do not continue each other, so that no phrase matches across them. */
export const boundary = '¶'

/** Weight of a title in the first chunk of its page, and in the others. */
const titleWeights = { first: 3, other: 1 }

const emptyChunk: Chunk = { headings: [], content: '', text: '' }

/** A text with its terms and their offsets. */
export type TermPlaces = {
  text: string
  /**
   * Terms with a space before, between and after, in three parts: of the page (title as often as it counts, aliases, tags, seqId,
   * and in the first chunk the unstemmed names), of the headings with initialisms, and of the text, in its order. Texts end with
   * {@link boundary}; alternative terms of words come last in each part.
   */
  terms: string
  /** Start of the terms of the headings, in UTF-16 units. The part before is the same for all chunks of a page. */
  ownAt: number
  /** Start of the terms of the text. */
  textAt: number
  /** Start and end of each term of the text, in UTF-16 units. */
  offsets: Uint32Array
}

export type ChunkTerms = Chunk &
  Omit<TermPlaces, 'offsets'> & {
    /** Offsets of the terms in the text, as packed by `OffsetWriter`. */
    offsets: Uint8Array
    /** Number of terms, without boundaries. */
    length: number
    /** Hash of the text that is embedded for the chunk. */
    hash: Uint8Array
  }

/**
 * Returns the terms of each chunk of a page. A page without text has one chunk, so that its title is found.
 * @param start number of the page's chunks before these
 */
export function pageTerms(page: IndexedDocument, analyser: Analyser, start = 0): ChunkTerms[] {
  const title = analyser.tokens(page.title)
  const otherNames = [...page.aliases, ...page.tags].map((name) => analyser.tokens(name))
  // A seqId is one term: its prefix is on every page, and its number on unrelated pages.
  const seqId = page.kind === 'wiki' ? [analyser.tokens(unjoined(page.key))] : []
  const called = [page.title, ...page.aliases]
  const names = [...nameTerms(called, analyser), ...called.flatMap((name) => initialismsOf(name, analyser))]
  const chunks = page.chunks.length === 0 ? [emptyChunk] : page.chunks
  return chunks.map((chunk, index) => {
    const isFirst = start + index === 0
    const titles = Array<Token[]>(isFirst ? titleWeights.first : titleWeights.other).fill(title)
    const ofPage = joinTerms([...titles, ...otherNames, ...(isFirst ? seqId : [])])
    const ofNames = isFirst ? names.map((name) => `${name} `).join('') : ''
    const ofHeadings = joinTerms(chunk.headings.map((heading) => analyser.tokens(heading)))
    const { offsets, ...ofText } = textTerms(chunk.text, analyser)
    const initials = [
      ...chunk.headings.flatMap((heading) => initialismsOf(heading, analyser)),
      ...initialismsIn(chunk.text, analyser),
    ]
    const ofOwn = ofHeadings.terms + [...new Set(initials)].map((term) => `${term} `).join('')
    return {
      ...chunk,
      terms: ` ${ofPage.terms}${ofNames}${ofOwn}${ofText.terms}`,
      length: ofPage.length + ofHeadings.length + ofText.length,
      ownAt: ofPage.terms.length + ofNames.length,
      textAt: ofPage.terms.length + ofNames.length + ofOwn.length,
      offsets,
      hash: textHash(embeddedText(page.title, chunk)),
    }
  })
}

type JoinedTerms = { terms: string; length: number }

function joinTerms(texts: readonly Token[][]): JoinedTerms {
  const joined = new TermJoiner()
  for (const tokens of texts) {
    for (const token of tokens) joined.add(token)
    joined.endText()
  }
  return joined.finish()
}

/** Returns the terms of a text and their offsets. */
function textTerms(text: string, analyser: Analyser): JoinedTerms & { offsets: Uint8Array } {
  const joined = new TermJoiner()
  const offsets = new OffsetWriter()
  analyser.eachToken(text, (token, from) => {
    joined.add(token)
    offsets.add(from + token.start, from + token.end)
  })
  joined.endText()
  return { ...joined.finish(), offsets: offsets.written }
}

/** Joins the terms of texts: a {@link boundary} after each, and alternative terms after all. */
class TermJoiner {
  readonly #terms: string[] = []
  readonly #others: string[] = []
  #length = 0
  #isBegun = false

  add({ term, also }: Token): void {
    this.#terms.push(term)
    this.#length++
    this.#isBegun = true
    for (const other of also) {
      this.#others.push(other, boundary)
      this.#length++
    }
  }

  endText(): void {
    if (this.#isBegun) this.#terms.push(boundary)
    this.#isBegun = false
  }

  /** Returns the terms, each followed by a space. */
  finish(): JoinedTerms {
    const all = this.#others.length === 0 ? this.#terms : [...this.#terms, ...this.#others]
    return { terms: all.length === 0 ? '' : `${all.join(' ')} `, length: this.#length }
  }
}

/** Counts occurrences of a term, or of the consecutive terms of a phrase, in a chunk's terms. */
export function occurrences(terms: string, phrase: string): number {
  const sought = ` ${phrase} `
  let count = 0
  // The space after one occurrence is the space before the next.
  for (let at = terms.indexOf(sought); at >= 0; at = terms.indexOf(sought, at + sought.length - 1)) count++
  return count
}

/** Packs the start and end of tokens: the distance from the previous start, and the length. Most take two bytes instead of eight. */
export class OffsetWriter {
  readonly #writer = new ByteWriter()
  #last = 0

  add(start: number, end: number): void {
    this.#writer.varint((start - this.#last) >>> 0)
    this.#writer.varint(end - start)
    this.#last = start
  }

  get written(): Uint8Array {
    return this.#writer.written
  }
}

/** Returns start and end of each token that an {@link OffsetWriter} packed. */
export function unpackOffsets(bytes: Uint8Array): Uint32Array {
  const reader = new ByteReader(bytes)
  // Every number takes at least one byte.
  const offsets = new Uint32Array(bytes.length)
  let count = 0
  for (let start = 0; reader.at < bytes.length; ) {
    start = (start + reader.varint()) >>> 0
    offsets[count++] = start
    offsets[count++] = start + reader.varint()
  }
  return offsets.subarray(0, count)
}

/** Maximum UTF-16 units of an embedded text. Only a very long title or headings exceed it. */
const maxLength = 4000
/** Bytes of a hash: the chance that two of 10^9 texts collide is below 10^-20. */
const hashLength = 16

/** Returns the text that is embedded for a chunk: title, headings and text, one per line. */
export function embeddedText(title: string, { headings, text }: Pick<Chunk, 'headings' | 'text'>): string {
  const lines = [title, headings.join(' > '), text].map((line) => line.trim())
  return lines
    .filter((line) => line !== '')
    .join('\n')
    .slice(0, maxLength)
    .toWellFormed()
}

/** Returns a hash of 16 bytes. */
function textHash(text: string): Uint8Array {
  return hash('sha256', text, 'buffer').subarray(0, hashLength)
}
