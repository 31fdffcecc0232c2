import { characterStart } from '../../rules/text/whole-characters.ts'

/** A stretch of a page, and what a reader sees of it. */
export type Piece = {
  /** Offsets in the page. */
  start: number
  end: number
  text: string
  /** What parts its text from that of the piece before it. */
  glue: '\n' | ' ' | ''
  /** Finer pieces with the same text, for where this one is too long. Without them it is cut between words. */
  parts?: () => Piece[]
}

/** A block of a page; `depth` is that of a heading. */
export type BlockPiece = Piece & { depth?: number }

/** Characters of what is packed together. */
const target = 1000
/** Characters of what stays whole, though it is longer. */
const longest = 1200
/** Characters of what is too little to stand alone. */
export const little = 200

/**
 * Slices of the page of at most 1,200 characters that hold the pieces in their order, neighbours together as far as they fit in
 * 1,000. Pieces that are longer are taken apart.
 */
export function packPieces(page: string, pieces: readonly Piece[]): { content: string; text: string }[] {
  const groups: Piece[][] = []
  for (const piece of pieces.flatMap((whole) => takeApart(page, whole))) {
    const group = groups.at(-1)
    if (group && spanOf(group, [piece]) <= target) group.push(piece)
    else groups.push([piece])
  }
  const [before, last] = groups.slice(-2)
  if (before && last && spanOf(last, last) < little && spanOf(before, last) <= longest) {
    before.push(...last)
    groups.pop()
  }
  return groups
    .map((group) => ({ content: page.slice(group[0]?.start, group.at(-1)?.end).trim(), text: joinText(group) }))
    .filter(({ text }) => text !== '')
}

export function joinText(pieces: readonly Piece[]): string {
  return pieces
    .map(({ text, glue }, index) => (index === 0 ? text : glue + text))
    .join('')
    .trim()
}

function spanOf(from: readonly Piece[], to: readonly Piece[]): number {
  return (to.at(-1)?.end ?? 0) - (from[0]?.start ?? 0)
}

function takeApart(page: string, piece: Piece): Piece[] {
  if (piece.text === '') return []
  if (piece.end - piece.start <= longest) return [piece]
  const parts = (piece.parts?.() ?? []).flatMap((part) => takeApart(page, part))
  const [first] = parts
  if (!first) return cut(page, piece)
  parts[0] = { ...first, glue: piece.glue }
  return withMarkers(piece, parts)
}

/** Gives the first part the whole's opening marker (a bullet, a fence), and the last its closing one, where they still fit. */
function withMarkers(whole: Piece, parts: Piece[]): Piece[] {
  const first = parts[0]
  if (first && first.end - whole.start <= longest) parts[0] = { ...first, start: whole.start }
  const last = parts.at(-1)
  if (last && whole.end - last.start <= longest) parts[parts.length - 1] = { ...last, end: whole.end }
  return parts
}

/** Cuts between words where there are any. Text that is not its slice of the page is cut in proportion. */
function cut(page: string, { start, end, text, glue }: Piece): Piece[] {
  // Little to see in much markup, as in an image whose address holds its data.
  if (text.length <= little) return [{ start, end: characterStart(page, start + longest), text, glue }]
  const ratio = (end - start) / text.length
  const step = Math.max(1, Math.floor(target / ratio))
  const offset = (at: number) => characterStart(page, start + Math.round(at * ratio))
  const pieces: Piece[] = []
  for (let at = 0; at < text.length; ) {
    const next = wordStart(text, at, at + step)
    pieces.push({ start: offset(at), end: offset(next), text: text.slice(at, next), glue: at === 0 ? glue : '' })
    at = next
  }
  return pieces
}

/** Where the last word begins that begins after `from` and not after `limit`; `limit` itself in a word that is as long. */
function wordStart(text: string, from: number, limit: number): number {
  if (limit >= text.length) return text.length
  for (let at = limit; at > from; at--) if (/\s/.test(text.charAt(at - 1))) return at
  const start = characterStart(text, limit)
  return start > from ? start : limit + 1
}
