import type { Chunk } from '../../rules/neurons/chunk.ts'
import { type Piece, packPieces } from '../parse/piece.ts'

/** Maximum number of chunks of a page. */
export const maxChunks = 2000

/** Splits a text without parsing it: into paragraphs, then lines. Takes linear time. */
export function plainChunks(content: string): Chunk[] {
  return packPieces(content, plainPieces(content))
    .slice(0, maxChunks)
    .map((chunk) => ({ headings: [], ...chunk }))
}

/** Splits a text into paragraphs without parsing it. `base`: offset of the text in the page. */
export function plainPieces(text: string, base = 0): Piece[] {
  const paragraphs = splitAt(text, /(?:\r\n|[\r\n])(?:[ \t]*(?:\r\n|[\r\n]))+/g, base, (start, end) =>
    splitAt(text.slice(start - base, end - base), /\r\n|[\r\n]/g, start),
  )
  return paragraphs.filter((piece) => piece.text.trim() !== '')
}

function splitAt(
  text: string,
  separator: RegExp,
  base: number,
  parts?: (start: number, end: number) => Piece[],
): Piece[] {
  const pieces: Piece[] = []
  const add = (from: number, to: number) => {
    const [start, end] = [base + from, base + to]
    const piece: Piece = { start, end, text: text.slice(from, to), glue: '\n' }
    pieces.push(parts ? { ...piece, parts: () => parts(start, end) } : piece)
  }
  let at = 0
  for (const { index, 0: ends } of text.matchAll(separator)) {
    add(at, index)
    at = index + ends.length
  }
  add(at, text.length)
  return pieces
}
