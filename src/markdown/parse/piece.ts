import { characterStart } from '../../rules/text/whole-characters.ts'

/** Range of a page, and its text as readers see it. */
export type Piece = {
  /** Offsets in the page. */
  start: number
  end: number
  text: string
  /** Separator between the text of the previous piece and this one. */
  glue: '\n' | ' ' | ''
  /** Returns finer pieces with the same text, for a piece that is too long. Absent: it is cut between words. */
  parts?: () => Piece[]
  /** Returns the head (range and text) that is repeated before each part except the first, where the head itself is. */
  head?: () => Head | undefined
  /** Markdown before and after the piece: markers and heads of the block it was taken from. `lead`: text of the heads. */
  before?: string
  after?: string
  lead?: string
}

export type Head = { end: number; text: string }

/** Block of a page. `depth`: level of a heading. */
export type BlockPiece = Piece & { depth?: number }

/** Target length of a packed chunk, in characters. */
const target = 1000
/** Maximum length of a piece that is not split, in characters. */
export const longest = 1200
/** Maximum length of a piece together with its introduction, in characters. */
const mostIntroduced = 2 * target
/** Maximum length of the markers and heads that a part repeats, in characters. */
const mostRepeated = 600
/** Length below which a section is packed together with its neighbours, in characters. */
export const little = 200

/**
 * Packs neighbouring pieces into chunks of up to 1,000 characters, in order: slices of the page, with the markers of the block they were
 * taken from. Splits pieces longer than 1,200 characters. A piece that ends in a colon stays with the next one.
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

/** Moves the introduction of a piece from the end of the group before it. */
function takeIntroduction(group: Piece[], piece: Piece): Piece[] {
  const at = group.findLastIndex(({ text }) => !/[:：]$/.test(text.trimEnd())) + 1
  return lengthOf(group[at] ?? piece, piece) <= mostIntroduced ? group.splice(at) : []
}

function markdownOf(page: string, group: readonly Piece[]): string {
  const [first, last] = [group[0], group.at(-1)]
  const slice = page.slice(first?.start, last?.end)
  // Emphasis cannot begin before a space or end after one; lines of code can.
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

/** Adds the surrounding Markdown to a piece, if it is short. */
function within(piece: Piece, { before = '', after = '', lead = '' }: Pick<Piece, 'before' | 'after' | 'lead'>): Piece {
  const framed = { before: before + (piece.before ?? ''), after: (piece.after ?? '') + after }
  if (framed.before.length + framed.after.length > mostRepeated) return piece
  return { ...piece, ...framed, lead: [lead, piece.lead ?? ''].filter((text) => text !== '').join('\n') }
}

/** Cuts a piece between words if possible. Text that differs from its slice of the page is cut in proportion. */
function cut(page: string, { start, end, text, glue }: Piece): Piece[] {
  // Little text in much markup, such as an image with a data URL.
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

/** Returns the start of the last word that begins after `from` and not after `limit`, or `limit` within a longer word. */
function wordStart(text: string, from: number, limit: number): number {
  if (limit >= text.length) return text.length
  for (let at = limit; at > from; at--) if (/\s/.test(text.charAt(at - 1))) return at
  const start = characterStart(text, limit)
  return start > from ? start : limit + 1
}
