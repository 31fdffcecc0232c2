import type { Code, InlineCode, Nodes, Root, RootContent } from 'mdast'
import { hideMarks } from '../obsidian-marks.ts'
import type { BlockPiece, Head, Piece } from '../parse/piece.ts'
import { type Line, linesOf } from '../parse/split-blocks.ts'
import { plainText } from '../plain-text.ts'

/** Page, and offset of the parsed text in it. */
type Place = { page: string; base: number }

const sentences = new Intl.Segmenter('und', { granularity: 'sentence' })

/**
 * Returns the visible top-level blocks of a parsed text, and the items of a list as blocks of their own. Modifies the tree. `base`: offset
 * of the text in the page.
 */
export function treePieces(tree: Root, page: string, base = 0): BlockPiece[] {
  hideMarks(tree)
  return blockPieces(tree.children, { page, base })
}

function blockPieces(nodes: readonly RootContent[], place: Place): BlockPiece[] {
  return nodes.flatMap((node) => {
    if (node.type === 'list') return blockPieces(node.children, place)
    const piece = wholePiece(node, place, '\n')
    const text = piece.text.trim()
    if (text === '') return []
    return [{ ...piece, text, ...(node.type === 'heading' && { depth: node.depth }) }]
  })
}

function partsOf(node: Nodes, place: Place): Piece[] {
  switch (node.type) {
    case 'blockquote':
    case 'listItem':
    case 'footnoteDefinition':
      return blockPieces(node.children, place)
    case 'table':
      return node.children.slice(headOf(node, place) === undefined ? 0 : 1).map((row) => wholePiece(row, place, '\n'))
    case 'tableRow':
      // Empty cells before a cell keep it in its column.
      return node.children.map((cell, at) => ({ ...wholePiece(cell, place, ' '), before: '| '.repeat(at) }))
    case 'inlineCode':
      return insidePiece(node, place)
    case 'code':
      return codeLines(node, place)
    case 'text':
      return textParts(node.value, rangeOf(node, place), place)
    default:
      return 'children' in node ? inlinePieces(node, place) : []
  }
}

function wholePiece(node: Nodes, place: Place, glue: Piece['glue']): Piece {
  const text = plainText(node)
  return { ...rangeOf(node, place), text, glue, parts: () => partsOf(node, place), head: () => headOf(node, place) }
}

/** Returns the part of a block that is repeated with each of its pieces: the head of a table, or the introducing lines of a list item. */
function headOf(node: Nodes, place: Place): Head | undefined {
  if (node.type !== 'table' && node.type !== 'listItem') return undefined
  const [first, second] = node.children
  if (first === undefined || second === undefined) return undefined
  const isHead = first.type === 'tableRow' || (first.type === 'paragraph' && announced.has(second.type))
  const end = rangeOf(second, place).start
  return isHead && end - rangeOf(node, place).start <= mostHead ? { end, text: plainText(first) } : undefined
}

const announced: ReadonlySet<Nodes['type']> = new Set(['list', 'table', 'code'])
/** Maximum characters of a repeated head. */
const mostHead = 300

function insidePiece(node: InlineCode, place: Place): Piece[] {
  const { start, end } = rangeOf(node, place)
  const at = place.page.slice(start, end).indexOf(node.value)
  const from = start + at
  return at < 0 ? [] : [{ start: from, end: from + node.value.length, text: plainText(node), glue: '' }]
}

/** Splits a node into its inline children. Nodes without a position, which transforms create, share the range between their neighbours. */
function inlinePieces(parent: Extract<Nodes, { children: unknown }>, place: Place): Piece[] {
  const pieces: Piece[] = []
  const { start, end } = rangeOf(parent, place)
  let at = start
  let adrift = ''
  const land = (to: number) => {
    if (adrift !== '') pieces.push({ start: at, end: to, text: adrift, glue: '' })
    adrift = ''
  }
  for (const child of parent.children) {
    if (child.position === undefined) adrift += plainText(child)
    else {
      const piece = wholePiece(child, place, '')
      land(piece.start)
      pieces.push(piece)
      at = piece.end
    }
  }
  land(end)
  return pieces
}

/** Splits a text into sentences if the page contains it unchanged, else (because of escapes or quote markers) into lines. */
function textParts(value: string, { start, end }: { start: number; end: number }, { page }: Place): Piece[] {
  const source = page.slice(start, end)
  if (source.startsWith(value)) return sentencePieces(value.replace(/[\r\n]/g, ' '), start)
  const lines = splitLines(page, start, end)
  const values = value.split(/\r\n|[\r\n]/)
  if (lines.length !== values.length) return []
  return lines.map((line, index) => lineInPage(line, values[index] ?? '', index > 0 ? ' ' : ''))
}

function sentencePieces(text: string, start: number): Piece[] {
  return Array.from(sentences.segment(text), ({ segment, index }) => ({
    start: start + index,
    end: start + index + segment.length,
    text: segment,
    glue: '',
  }))
}

/** Splits a code block into lines, without its opening fence and, if it is closed, its closing fence. */
function codeLines(node: Code, place: Place): Piece[] {
  const { start, end } = rangeOf(node, place)
  const values = node.value.split(/\r\n|[\r\n]/)
  const lines = splitLines(place.page, start, end)
  const isFenced = /^(?:```|~~~)/.test(place.page.slice(start, start + 3))
  const inside = isFenced ? lines.slice(1, values.length + 1) : lines
  return inside.length === values.length ? inside.map((line, index) => lineInPage(line, values[index] ?? '', '\n')) : []
}

function lineInPage({ start, end, text: source }: Line, text: string, glue: Piece['glue']): Piece {
  const at = source.indexOf(text)
  return at < 0 ? { start, end, text, glue } : { start: start + at, end: start + at + text.length, text, glue }
}

function splitLines(page: string, start: number, end: number): Line[] {
  return linesOf(page.slice(start, end)).map((line) => ({
    text: line.text,
    start: start + line.start,
    end: start + line.end,
  }))
}

function rangeOf(node: Nodes, { base }: Place): { start: number; end: number } {
  return { start: base + (node.position?.start.offset ?? 0), end: base + (node.position?.end.offset ?? 0) }
}
