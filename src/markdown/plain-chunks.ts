import type { Chunk } from '../knowledge/chunk.ts'
import { type Piece, packPieces } from './piece.ts'

/** A page has at most so many chunks. */
export const maxChunks = 2000

/** The chunks of a text that is not parsed, as a reader sees its source: paragraphs, then lines. Takes linear time. */
export function plainChunks(content: string): Chunk[] {
  const paragraphs = splitAt(content, /(?:\r\n|[\r\n])(?:[ \t]*(?:\r\n|[\r\n]))+/g, 0, (start, end) =>
    splitAt(content.slice(start, end), /\r\n|[\r\n]/g, start),
  )
  return packPieces(content, paragraphs)
    .slice(0, maxChunks)
    .map((chunk) => ({ headings: [], ...chunk }))
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
