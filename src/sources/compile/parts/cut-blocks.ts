import { characterStart } from '../../../rules/text/whole-characters.ts'
import { type SourceBlock, sizeOf } from '../source-blocks.ts'

/** Maximum characters of a part that is not cut. */
export const longestBlock = 12_000
/** Approximate characters of a part that is cut out of a longer one. */
export const target = 6000
/** Maximum characters of code and lists, which stay whole even if they are longer than a part. */
const longestWhole = 48_000
/** Maximum characters of the first two lines of a table that are repeated as its header. */
const longestHeader = 2000

/**
 * Returns blocks of at most 12,000 characters with the same lines. A table is cut between rows, with its header repeated, text between
 * lines, a line between sentences or words. Code and lists up to 48,000 stay whole; longer ones are cut between lines and items.
 */
export function cutBlocks(blocks: readonly SourceBlock[]): SourceBlock[] {
  return blocks.flatMap((block) => {
    const size = sizeOf([block])
    if (size <= longestBlock || ((block.kind === 'code' || block.kind === 'list') && size <= longestWhole))
      return [block]
    if (block.kind === 'table') return cutTable(block)
    if (block.kind === 'code') return cutCode(block)
    const lines = block.lines.flatMap(cutLine)
    return block.kind === 'list' ? pack(block, lines, longestBlock, beginsItem) : pack(block, lines, target)
  })
}

/** Groups blocks into runs of about 6,000 characters. */
export function packBlocks(blocks: readonly SourceBlock[]): SourceBlock[][] {
  const runs: SourceBlock[][] = []
  let size = 0
  for (const block of blocks) {
    const more = sizeOf([block])
    const open = runs.at(-1)
    // A heading is never the last block of a run.
    if (open && size < target && size + more <= longestBlock && !(block.depth > 0 && size > target / 2))
      open.push(block)
    else {
      const last = open?.at(-1)
      const heads = open && open.length > 1 && last?.kind === 'heading' ? open.splice(-1) : []
      runs.push([...heads, block])
      size = sizeOf(heads)
    }
    size += more
  }
  return runs
}

function cutTable(table: SourceBlock): SourceBlock[] {
  const [header = '', delimiter = '', ...rows] = table.lines
  if (header.length + delimiter.length > longestHeader) return pack(table, table.lines.flatMap(cutLine), longestBlock)
  return pack({ ...table, line: table.line + 2 }, rows, longestBlock).map((block, index) => ({
    ...block,
    ...(index === 0 ? { line: table.line } : { repeatsHeader: true }),
    lines: [header, delimiter, ...block.lines],
  }))
}

function cutCode(code: SourceBlock): SourceBlock[] {
  const [opening = '', ...rest] = code.lines
  const marker = /`{3,}|~{3,}/.exec(opening)?.[0] ?? '```'
  const closing = rest.at(-1)?.trim().startsWith(marker) ? rest.pop() : undefined
  if (opening.length > longestHeader) return pack(code, code.lines.flatMap(cutLine), longestBlock)
  return pack({ ...code, line: code.line + 1 }, rest.flatMap(cutLine), longestBlock).map((block) => ({
    ...block,
    lines: [opening, ...block.lines, closing ?? marker],
  }))
}

/** Groups lines into blocks of at most `limit` characters. A block ends where it may, or at the limit. */
function pack(
  whole: SourceBlock,
  lines: readonly string[],
  limit: number,
  mayBegin: (line: string) => boolean = () => true,
): SourceBlock[] {
  const blocks: SourceBlock[] = []
  let size = 0
  for (const [index, line] of lines.entries()) {
    const open = blocks.at(-1)
    const isFull = size + line.length + 1 > (mayBegin(line) ? limit : longestWhole)
    if (open && !isFull) open.lines.push(line)
    else {
      blocks.push({ ...whole, line: whole.line + index, lines: [line] })
      size = 0
    }
    size += line.length + 1
  }
  return blocks
}

function beginsItem(line: string): boolean {
  return /^(?:[-+*]|\d{1,9}[.)])\s/.test(line)
}

function cutLine(line: string): string[] {
  const pieces: string[] = []
  let rest = line
  while (rest.length >= longestBlock) {
    const head = rest.slice(0, longestBlock - 1)
    const sentence = Math.max(head.lastIndexOf('. '), head.lastIndexOf('。')) + 1
    const end = sentence > target ? sentence : Math.max(head.lastIndexOf(' '), 0)
    const at = end > 0 ? end : characterStart(rest, head.length)
    pieces.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).trimStart()
  }
  return [...pieces, rest]
}
