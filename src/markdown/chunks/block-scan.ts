import { closesFence } from '../../rules/text/fence.ts'
import { append } from '../append.ts'
import { withoutBlockId } from '../obsidian-marks.ts'
import { scanInline } from '../parse/inline-scan.ts'
import { isItem, scanList } from '../parse/list-scan.ts'
import { scanParagraph } from '../parse/paragraph-scan.ts'
import { type BlockPiece, longest } from '../parse/piece.ts'
import { type Block, type Line, rangeOf, splitBlocks } from '../parse/split-blocks.ts'

/** Blocks that are certain, or a stretch of the page that only a parser can judge. */
export type BlockSegment = { pieces: BlockPiece[] } | { start: number; end: number }

const heading = /^(#{1,6}) (?=\S)(.*[^\s#])[ \t]*$/s
const rule = /^(?:-{3,}|\*{3,}|_{3,})$/
/**
 * Finds the top-level blocks of a page, and of a list its items, without a Markdown parser where that is provably what the
 * parser would find; `undefined` when the whole page needs one.
 *
 * Why it is sound. Between two blank lines everything but fences, HTML and indentation is closed in itself, as `splitBlocks`
 * explains, and a block that begins at column 0 continues no quote and no list. Definitions, which reach everywhere, give the
 * whole page to the parser. What is certain is made of lines that begin as only a paragraph, a heading or an item can, so there
 * are no tables, no underlines of headings and no quotes in it; `scanInline` judges what is in the lines.
 */
export function scanBlocks(page: string): BlockSegment[] | undefined {
  if (/[\0\uFEFF]|\]:/.test(page)) return undefined
  const blocks = splitBlocks(page)
  if (blocks === undefined) return undefined
  const certain = blocks.map(certainPieces)
  const segments: BlockSegment[] = []
  for (const [index, block] of blocks.entries()) {
    const pieces = mayContinue(block, blocks[index + 1]) ? undefined : certain[index]
    const open = segments.at(-1)
    // With the line ends that follow, without which micromark ends some lists otherwise.
    const start = startOf(block) ?? page.length
    const end = startOf(blocks[index + 1]) ?? page.length
    if (pieces) {
      if (open && 'pieces' in open) append(open.pieces, pieces)
      else segments.push({ pieces: [...pieces] })
    } else if (open && 'end' in open) open.end = end
    else segments.push({ start, end })
  }
  return segments
}

/** An indented block may continue the list before it. */
function mayContinue({ lines }: Block, next: Block | undefined): boolean {
  return isItem(lines[0]?.text ?? '') && /^[ \t]/.test(next?.lines[0]?.text ?? '')
}

/** `undefined` when only a parser can tell. What is long goes to the parser too, since it will be taken apart. */
function certainPieces({ lines, marker }: Block): BlockPiece[] | undefined {
  const pieces = marker ? fencedCode(lines, marker) : (scanList(lines) ?? scanProse(lines))
  return pieces?.every(({ start, end }) => end - start <= longest)
    ? pieces.filter(({ text }) => text !== '')
    : undefined
}

function fencedCode(lines: readonly Line[], marker: string): BlockPiece[] | undefined {
  const isClosed = lines.length > 1 && closesFence(lines.at(-1)?.text ?? '', marker)
  const text = lines.slice(1, -1).map((line) => line.text)
  return isClosed ? [{ ...rangeOf(lines), text: text.join('\n').trim(), glue: '\n' }] : undefined
}

/** Headings and paragraphs, or a thematic break alone. */
function scanProse(lines: readonly Line[]): BlockPiece[] | undefined {
  if (lines.length === 1 && rule.test(lines[0]?.text ?? '')) return []
  const pieces: BlockPiece[] = []
  let paragraph: Line[] = []
  const endParagraph = () => {
    const text = paragraph.length === 0 ? '' : scanParagraph(paragraph.map((line) => line.text))
    if (text !== undefined) pieces.push({ ...rangeOf(paragraph), text, glue: '\n' })
    paragraph = []
    return text !== undefined
  }
  for (const line of lines) {
    const [, hashes, title] = heading.exec(line.text) ?? []
    if (hashes === undefined || title === undefined) paragraph.push(line)
    else {
      const text = title.length <= longest ? scanInline(withoutBlockId(title)) : undefined
      if (!endParagraph() || text === undefined) return undefined
      pieces.push({ ...rangeOf([line]), text, glue: '\n', depth: hashes.length })
    }
  }
  return endParagraph() ? pieces : undefined
}

function startOf(block: Block | undefined): number | undefined {
  return block?.lines[0]?.start
}
