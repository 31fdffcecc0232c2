import type { Chunk } from '../../rules/neurons/chunk.ts'
import { append } from '../append.ts'
import { splitParts, unlessTooComplex } from '../parse/parse-parts.ts'
import { type BlockPiece, joinText, little, type Piece, packPieces } from '../parse/piece.ts'
import { maxChunks, plainChunks, plainPieces } from './plain-chunks.ts'
import { parseShort, shortTreePieces } from './plain-paragraphs.ts'

/** Maximum length of a heading that opens a section, since its text is repeated with every chunk. */
const maxHeading = 200

/** Content below a heading. The page itself is a section without one. */
type Section = { heading?: Piece; depth: number; blocks: Piece[]; children: Section[]; end: number }

/**
 * Splits a content into at most 2,000 chunks in order: sections by heading, with their blocks packed. Text that is too complex to parse is
 * split as plain text, and `isPartial` is set. Unsafe for hostile text: see `parseMarkdown`.
 */
export function findChunks(content: string): { chunks: Chunk[]; isPartial: boolean } {
  const pieces: BlockPiece[] = []
  let isPartial = false
  for (const { source, start } of splitParts(content)) {
    const parsed = unlessTooComplex(source, parseShort)
    append(pieces, parsed === undefined ? plainPieces(source, start) : shortTreePieces(parsed, content, start))
    isPartial ||= parsed === undefined
  }
  return { chunks: chunksOf(content, pieces), isPartial }
}

function chunksOf(content: string, pieces: readonly BlockPiece[]): Chunk[] {
  const chunks = sectionChunks(content, sectionsOf(pieces), [])
  return chunks.length <= maxChunks ? chunks : plainChunks(content)
}

function sectionsOf(pieces: readonly BlockPiece[]): Section {
  const page: Section = { depth: 0, blocks: [], children: [], end: 0 }
  let path = [page]
  for (const piece of pieces) {
    const { depth } = piece
    if (depth !== undefined && piece.text.length <= maxHeading) {
      path = path.filter((section) => section.depth < depth)
      const section = { heading: piece, depth, blocks: [], children: [], end: piece.end }
      path.at(-1)?.children.push(section)
      path.push(section)
    } else path.at(-1)?.blocks.push(piece)
    for (const section of path) section.end = piece.end
  }
  return page
}

/** Packs small neighbouring sections together under their common headings, each with its own heading as text. */
function sectionChunks(content: string, section: Section, headings: string[]): Chunk[] {
  const pack = (pieces: readonly Piece[]) => packPieces(content, pieces).map((chunk) => ({ headings, ...chunk }))
  const chunks = pack(section.blocks)
  let together: Section[] = []
  const endTogether = () => {
    const [only, ...others] = together
    if (only && others.length === 0 && !isEmpty(only)) append(chunks, below(only))
    else append(chunks, pack(together.map(wholePiece)))
    together = []
  }
  const below = (child: Section) => sectionChunks(content, child, [...headings, child.heading?.text ?? ''])
  for (const child of section.children) {
    if (isEmpty(child) || child.end - (child.heading?.start ?? 0) < little) together.push(child)
    else {
      endTogether()
      append(chunks, below(child))
    }
  }
  endTogether()
  return chunks
}

function isEmpty({ blocks, children }: Section): boolean {
  return blocks.length === 0 && children.length === 0
}

function wholePiece({ heading, blocks, children, end }: Section): Piece {
  const pieces = [...(heading ? [heading] : []), ...blocks, ...children.map(wholePiece)]
  return { start: pieces[0]?.start ?? end, end, text: joinText(pieces), glue: '\n' }
}
