import type { Root, RootContent } from 'mdast'
import { mayHoldAddress, parseMarkdown } from '../parse/parse-markdown.ts'
import { type BlockPiece, longest } from '../parse/piece.ts'
import { parseWikiLinkText } from '../parse/wiki-link-text.ts'
import { treePieces } from './tree-pieces.ts'

/** Stands for plain paragraphs in the text that is parsed. */
const placeholder = 'x'
const text = '[^\\n\\r\\t\\0`*_[\\]<>&\\\\~$^!]|!(?!\\[)'
const link = '\\[\\[[^\\n\\r\\t\\0`[\\]<>\\\\]+\\]\\](?!\\()'
const code = '`[^`\\s]+`(?!`)'
const line = `(?=\\p{L})(?:${text}|${link}|${code})+(?<! )`
const paragraph = `${line}(?:\\n${line})*`
/**
 * Matches paragraphs of text, wiki links and code without blanks, between empty lines. Nothing in them can be read in another way. Also
 * matches fenced code, so as not to look into it.
 */
const paragraphs = new RegExp(
  `(?<=^|\\n)(\`{3}|~{3})[^]*?(?:\\n\\1|$)|(?<=^|\\n\\n)${paragraph}(?:\\n\\n${paragraph})*(?=\\n\\n|\\n*$)`,
  'gu',
)

/** Plain paragraphs: their place in the text that is parsed, and their range in the source. */
type Plain = { at: number; start: number; end: number; pieces: BlockPiece[] }
/** Parsed source, whose plain paragraphs are each a {@link placeholder} in the tree. */
export type ShortTree = { tree: Root; plain: readonly Plain[] }

/**
 * Parses a source without its plain paragraphs, which are most of most pages: micromark takes some 300 ns for each character. The parser
 * decides whether they are paragraphs; if one is code or HTML, all of the source is parsed.
 */
export function parseShort(source: string): ShortTree {
  const plain: Plain[] = []
  let removed = 0
  const short = source.replace(paragraphs, (text: string, fence: string | undefined, start: number) => {
    const pieces = fence === undefined ? piecesOf(text, start) : undefined
    if (pieces === undefined) return text
    plain.push({ at: start - removed, start, end: start + text.length, pieces })
    removed += text.length - placeholder.length
    return placeholder
  })
  const tree = parseMarkdown(short)
  const blocks = new Set(tree.children.filter(isPlaceholder).map(offsetOf))
  return plain.every(({ at }) => blocks.has(at)) ? { tree, plain } : { tree: parseMarkdown(source), plain: [] }
}

/** Returns the pieces of a parsed source that begins at `base` of a page. */
export function shortTreePieces({ tree, plain }: ShortTree, page: string, base: number): BlockPiece[] {
  let [next, removed] = [0, 0]
  return tree.children.flatMap((block) => {
    const paragraphs = plain[next]
    if (paragraphs?.at !== offsetOf(block)) return treePieces({ ...tree, children: [block] }, page, base + removed)
    next++
    removed = paragraphs.end - paragraphs.at - placeholder.length
    return paragraphs.pieces.map((piece) => ({ ...piece, start: base + piece.start, end: base + piece.end }))
  })
}

function piecesOf(text: string, start: number): BlockPiece[] | undefined {
  if (mayHoldAddress.test(text)) return undefined
  const pieces: BlockPiece[] = []
  let at = start
  for (const source of text.split('\n\n')) {
    const shown = shownText(source)
    // A longer one is split where its sentences end.
    if (shown === undefined || source.length > longest) return undefined
    pieces.push({ start: at, end: at + source.length, text: shown, glue: '\n' })
    at += source.length + '\n\n'.length
  }
  return pieces
}

function shownText(source: string): string | undefined {
  let isCertain = true
  const text = source.replace(/\n|`([^`]+)`|\[\[([^\]]+)\]\]/g, (whole, code?: string, inner?: string) => {
    const link = inner === undefined ? undefined : parseWikiLinkText(inner)
    if (inner !== undefined && link === undefined) isCertain = false
    return code ?? link?.alias ?? link?.target ?? (whole === '\n' ? ' ' : whole)
  })
  return isCertain ? text.trim() : undefined
}

function isPlaceholder(block: RootContent): boolean {
  const { start, end } = block.position ?? {}
  return block.type === 'paragraph' && (end?.offset ?? 0) - (start?.offset ?? 0) === placeholder.length
}

function offsetOf({ position }: RootContent): number {
  return position?.start.offset ?? -1
}
