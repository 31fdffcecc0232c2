import { ByteReader } from '../../../src/search/bytes/byte-writer.ts'
import { chunkCountOf, type Facts, type Segment } from '../../../src/search/segments/format/segment.ts'
import { decodeTerm, PostingBuffer } from '../../../src/search/segments/format/term-codec.ts'
import type { InvertedPage } from '../../../src/search/segments/invert.ts'

export type TestPage = { id: number; chunks: { id: number; terms: string }[] }

/** Pages of texts, with ids as an index gives them out. @param texts for each page those of its chunks */
export function pagesOf(texts: readonly (readonly string[])[]): TestPage[] {
  let chunk = 1
  return texts.map((ofPage, index) => ({
    id: index + 1,
    chunks: ofPage.map((text) => ({ id: chunk++, terms: text === '' ? ' ' : ` ${text} ` })),
  }))
}

/** Returns an index's facts about pages; every third has another class. */
export function factsOf(pages: readonly TestPage[]): Facts {
  const chunks = pages.flatMap(({ id: page, chunks: all }) => all.map((chunk) => ({ ...chunk, page })))
  const [pagesOfChunks, chunkLengths] = [new Uint32Array(chunks.length + 1), new Uint32Array(chunks.length + 1)]
  const pageLengths = new Uint32Array(pages.length + 1)
  for (const { id, page, terms } of chunks) {
    const length = wordsOf(terms).length
    pagesOfChunks[id] = page
    chunkLengths[id] = length
    pageLengths[page] = (pageLengths[page] ?? 0) + length
  }
  return { pagesOfChunks, chunkLengths, pageLengths, classOf: (page) => 1 + (page % 3 === 0 ? 1 : 0) }
}

/** Positions of each term, by chunk. */
export type Places = Record<string, [chunk: number, positions: number[]][]>

/** Returns the positions in a segment. */
export function placesIn(segment: Segment): Places {
  const places: Places = {}
  for (const cursor = segment.dictionary.from(new Uint8Array()); cursor.isAt; cursor.next()) {
    const { entry, text } = cursor
    const buffer = new PostingBuffer()
    decodeTerm(segment.allOf(entry), { docs: entry.docs, count: chunkCountOf(entry), isDropped: () => false }, buffer)
    const reader = new ByteReader(buffer.positions.written)
    places[text] = Array.from(buffer.chunks.subarray(0, buffer.count), (chunk, index) => {
      let position = 0
      const positions = Array.from({ length: buffer.frequencies[index] ?? 0 }, () => (position += reader.varint()))
      return [chunk, positions]
    })
  }
  return places
}

/** Returns the positions in the pages themselves. */
export function placesOf(pages: readonly InvertedPage[]): Places {
  const places: Places = {}
  for (const { id, terms } of pages.flatMap(({ chunks }) => [...chunks])) {
    for (const [position, term] of terms.slice(1).split(' ').entries()) {
      if (term === '' || term === '¶') continue
      places[term] ??= []
      const last = places[term].at(-1)
      if (last?.[0] === id) last[1].push(position)
      else places[term].push([id, [position]])
    }
  }
  return places
}

function wordsOf(terms: string): string[] {
  return terms.split(' ').filter((term) => term !== '' && term !== '¶')
}
