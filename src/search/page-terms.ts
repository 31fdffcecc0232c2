import type { Chunk } from '../knowledge/chunk.ts'
import type { Analyser, Token } from './analyser.ts'
import type { IndexedDocument } from './search-index.ts'

/** Stands between texts that do not continue each other, so that no phrase reaches across. */
export const boundary = '¶'

/** How many times a title counts. */
const titleWeight = 3

const emptyChunk: Chunk = { headings: [], content: '', text: '' }

/** A text, and where its terms stand in it. */
export type TermPlaces = {
  text: string
  /**
   * Terms with a space before, between and after: of the title as often as it counts, aliases, tags, headings, then the text,
   * in the order of the text, with {@link boundary} between; at the end what else words are found by.
   */
  terms: string
  /** Where the terms of the text stand among all, */
  textAt: number
  /** and in the text: the start and the end of each, in UTF-16 units. */
  offsets: Uint32Array
}

export type ChunkTerms = Chunk &
  TermPlaces & {
    /** Terms, without boundaries. */
    length: number
  }

/** What each chunk of a page is found by; a page without any text has one chunk, so that its title is found. */
export function pageTerms(page: IndexedDocument, analyser: Analyser): ChunkTerms[] {
  const title = analyser.tokens(page.title)
  const names = [...page.aliases, ...page.tags].map((name) => analyser.tokens(name))
  const chunks = page.chunks.length === 0 ? [emptyChunk] : page.chunks
  return chunks.map((chunk) => {
    const headings = chunk.headings.map((heading) => analyser.tokens(heading))
    const repeated = Array.from({ length: titleWeight }, () => title)
    const above = [...repeated, ...names, ...headings].filter((tokens) => tokens.length > 0)
    const text = analyser.tokens(chunk.text)
    const offsets = Uint32Array.from(text.flatMap(({ start, end }) => [start, end]))
    const textAt = above.reduce((sum, tokens) => sum + tokens.length + 1, 0)
    return { ...chunk, ...joinTerms([...above, text]), textAt, offsets }
  })
}

function joinTerms(texts: readonly Token[][]): { terms: string; length: number } {
  const parts: string[] = []
  const others: string[] = []
  let length = 0
  for (const tokens of texts) {
    for (const { term, also } of tokens) {
      parts.push(term)
      others.push(...also)
    }
    if (tokens.length > 0) parts.push(boundary)
    length += tokens.length
  }
  const all = others.length === 0 ? parts : [...parts, ...others.flatMap((term) => [term, boundary])]
  return { terms: ` ${all.join(' ')} `, length: length + others.length }
}

/** How often a term, or the terms of a phrase one after the other, stand in a chunk's terms. */
export function occurrences(terms: string, phrase: string): number {
  const sought = ` ${phrase} `
  let count = 0
  // The space after one occurrence is the space before the next.
  for (let at = terms.indexOf(sought); at >= 0; at = terms.indexOf(sought, at + sought.length - 1)) count++
  return count
}
