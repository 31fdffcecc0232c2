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
  /** What each of them but the first begins with, and that too where it is behind: the stretch up to an offset, and its text. */
  head?: () => Head | undefined
  /** Markdown that what begins or ends with it stands in: the marks and heads of what it was taken from; and the heads' text. */
  before?: string
  after?: string
  lead?: string
}

export type Head = { end: number; text: string }

/** A block of a page; `depth` is that of a heading. */
export type BlockPiece = Piece & { depth?: number }

/** Characters of what is packed together. */
const target = 1000
/** Characters of what stays whole, though it is longer. */
const longest = 1200
/** Characters of what introduces a piece, with it. */
const mostIntroduced = 2 * target
/** Characters of the marks and heads that a part has from what it was taken from. */
const mostRepeated = 600
/** Characters of what is too little to stand alone. */
export const little = 200

/**
 * Markdown that holds the pieces in their order, neighbours together as far as they fit in 1,000 characters: slices of the page, in the
 * marks of what was taken apart. What is longer than 1,200 is. What ends in a colon stays with what follows.
 */
export function packPieces(page: string, pieces: readonly Piece[]): { content: string; text: string }[] {
  const groups: Piece[][] = []
  for (const piece of pieces.flatMap((whole) => takeApart(page, whole))) {
    const group = groups.at(-1) ?? []
    if (group.length > 0 && lengthOf(group[0], piece) <= target) group.push(piece)
    else groups.push([...takeIntroduction(group, piece), piece])
  }
  const full = groups.filter((group) => group.length > 0)
  const [before, last] = full.slice(-2)
  const isLittle = last && lengthOf(last[0], last.at(-1)) < little
  if (isLittle && before && lengthOf(before[0], last.at(-1)) <= longest) before.push(...last.splice(0))
  return full
    .map((group) => ({ content: markdownOf(page, group), text: textOf(group) }))
    .filter(({ text }) => text !== '')
}

/** Takes what introduces a piece from the end of the group before it. */
function takeIntroduction(group: Piece[], piece: Piece): Piece[] {
  const at = group.findLastIndex(({ text }) => !/[:：]$/.test(text.trimEnd())) + 1
  return lengthOf(group[at] ?? piece, piece) <= mostIntroduced ? group.splice(at) : []
}

function markdownOf(page: string, group: readonly Piece[]): string {
  const [first, last] = [group[0], group.at(-1)]
  const slice = page.slice(first?.start, last?.end)
  // No emphasis begins before a space or ends behind one; lines of code do.
  const begun = first?.glue === '' ? slice.trimStart() : slice
  const inMarks = `${first?.before ?? ''}${last?.after ? begun.trimEnd() + last.after : begun}`
  return inMarks.replace(/^\s*[\r\n]/, '').trimEnd()
}

function textOf(group: readonly Piece[]): string {
  const text = joinText(group)
  const lead = group[0]?.lead ?? ''
  return lead === '' || text === '' ? text : `${lead}\n${text}`
}

export function joinText(pieces: readonly Piece[]): string {
  return pieces
    .map(({ text, glue }, index) => (index === 0 ? text : glue + text))
    .join('')
    .trim()
}

function lengthOf(first: Piece | undefined, last: Piece | undefined): number {
  return (first?.before?.length ?? 0) + (last?.end ?? 0) - (first?.start ?? 0) + (last?.after?.length ?? 0)
}

function takeApart(page: string, piece: Piece): Piece[] {
  if (piece.text === '') return []
  if (piece.end - piece.start <= longest) return [piece]
  const inner = piece.parts?.() ?? []
  const parts = inner.flatMap((part) => takeApart(page, part))
  if (parts.length === 0) return cut(page, piece)
  const [first, last] = [inner[0]?.start ?? 0, inner.at(-1)?.end]
  const marks = { before: page.slice(piece.start, first), after: page.slice(last, piece.end), lead: '' }
  const head = piece.head?.()
  const withHead = head && { ...marks, before: page.slice(piece.start, head.end), lead: head.text }
  return parts.map((part, index) => {
    if (index > 0) return within(within(part, withHead ?? marks), piece)
    const isBehind = head !== undefined && head.end <= first
    const text = isBehind ? `${head.text}\n${part.text}` : part.text
    return within(within({ ...part, text, glue: piece.glue }, marks), piece)
  })
}

/** A piece with what it stands in, if that is short. */
function within(piece: Piece, { before = '', after = '', lead = '' }: Pick<Piece, 'before' | 'after' | 'lead'>): Piece {
  const framed = { before: before + (piece.before ?? ''), after: (piece.after ?? '') + after }
  if (framed.before.length + framed.after.length > mostRepeated) return piece
  return { ...piece, ...framed, lead: [lead, piece.lead ?? ''].filter((text) => text !== '').join('\n') }
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
