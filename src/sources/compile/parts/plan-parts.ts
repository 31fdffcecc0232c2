import { characterStart } from '../../../rules/text/whole-characters.ts'
import { hasWords, type SourceBlock, sizeOf } from '../source-blocks.ts'
import { headingText, titleBelow } from '../titles/document-title.ts'
import { isPlaceholder } from '../titles/generic-names.ts'

/** Minimum characters of a section that is not joined to a neighbour. */
const least = 400
const maxParts = 500

export type PlannedPart = {
  /** Text of the heading that names it; absent if there is none. */
  name?: string
  /** Heading of the last of several small sections in one part. */
  lastName?: string
  /** Names of the sections that contain it, outermost first. */
  path: string[]
  /** Number of this piece of its section, from 1; absent if the section is whole. */
  piece?: number
  /** Heading of the part, if that is not among the blocks. */
  heading?: SourceBlock
  blocks: SourceBlock[]
  /** Line of the document, from 1. */
  line: number
}

export type Plan = {
  /** Blocks before the first section. */
  preamble: SourceBlock[]
  parts: PlannedPart[]
  /** Number of parts if it were unlimited. */
  found: number
}

type Section = {
  heading?: SourceBlock
  lastName?: string
  path: string[]
  blocks: SourceBlock[]
  /** Small sections that were joined to it. */
  before: SourceBlock[]
  after: SourceBlock[]
}

/**
 * Splits a document into at most 500 parts, at the shallowest level of headings that occurs twice. Sections below 400 characters are joined
 * to a neighbour. Those above 12,000 are split at deeper headings, then between blocks. Pieces without words are left out.
 */
export function planParts(blocks: readonly SourceBlock[]): Plan {
  const level = splitLevel(blocks)
  const first = blocks.findIndex(({ depth }) => depth > 0 && depth === level)
  const head = first < 0 ? [...blocks] : blocks.slice(0, first)
  const isLong = sizeOf(head) > (first < 0 ? longestBlock : target)
  const sections = first < 0 ? [] : sectionsAt(blocks.slice(first), level, [])
  const parts = [...(isLong ? cutSection(asSection(head, [])) : []), ...joinSmall(sections).flatMap(splitSection)]
  return { preamble: isLong ? [] : head, parts: joinMany(parts, sizeOf(blocks)), found: parts.length }
}

function splitLevel(blocks: readonly SourceBlock[]): number {
  const counts = [0, 0, 0, 0, 0, 0, 0]
  for (const { depth } of blocks) counts[depth] = (counts[depth] ?? 0) + 1
  return counts.findIndex((count, depth) => depth > 0 && count > 1)
}

function shallowest(blocks: readonly SourceBlock[]): number | undefined {
  let least: number | undefined
  for (const { depth } of blocks) if (depth > 0) least = Math.min(depth, least ?? depth)
  return least
}

/** Splits blocks into sections at headings down to a level. Text before the first heading is a section without a heading. */
function sectionsAt(blocks: readonly SourceBlock[], level: number, path: string[]): Section[] {
  const sections: Section[] = []
  for (const block of blocks) {
    const isBoundary = block.depth > 0 && block.depth <= level
    const open = sections.at(-1)
    if (isBoundary) sections.push({ ...asSection([], path), heading: block })
    else if (open) open.blocks.push(block)
    else sections.push(asSection([block], path))
  }
  return sections
}

function asSection(blocks: SourceBlock[], path: string[]): Section {
  return { path, blocks, before: [], after: [] }
}

/** Joins small sections to the previous section, else to the next; adjacent small ones form a section. */
function joinSmall(sections: readonly Section[]): Section[] {
  const joined: Section[] = []
  let size = 0
  let waiting: Section[] = []
  let waitingSize = 0
  for (const section of sections) {
    const more = sizeOf(allBlocks(section))
    const open = joined.at(-1)
    if (open && waiting.length === 0 && more < least && size + more <= target) {
      open.after.push(...allBlocks(section))
      if (open.lastName !== undefined) open.lastName = nameOf(section) ?? open.lastName
      size += more
    } else if (more < least) {
      waiting.push(section)
      waitingSize += more
      if (waitingSize >= least) {
        joined.push(together(waiting))
        size = waitingSize
        waiting = []
        waitingSize = 0
      }
    } else {
      joined.push({ ...section, before: waiting.flatMap(allBlocks) })
      size = more + waitingSize
      waiting = []
      waitingSize = 0
    }
  }
  const last = joined.at(-1)
  if (last) last.after.push(...waiting.flatMap(allBlocks))
  else if (waiting.length > 0) joined.push(together(waiting))
  return joined
}

function together(sections: readonly Section[]): Section {
  const [first, ...others] = sections
  const lastName = others.map(nameOf).at(-1)
  return {
    ...(first ?? asSection([], [])),
    after: others.flatMap(allBlocks),
    ...(lastName !== undefined && { lastName }),
  }
}

function splitSection(section: Section): PlannedPart[] {
  const { heading, path, blocks, before, after } = section
  if (sizeOf(blocks) <= longestBlock) return [asPart(section)]
  const name = nameOf(section)
  const level = shallowest(blocks)
  if (level === undefined) return cutSection(section)
  const [own, ...deeper] = sectionsAt(blocks, level, name === undefined ? path : [...path, name])
  const isOwn = own?.heading === undefined
  const intro: Section = { ...asSection(isOwn ? (own?.blocks ?? []) : [], path), ...(heading && { heading }) }
  const parts = joinSmall([intro, ...(isOwn || own === undefined ? [] : [own]), ...deeper]).flatMap(splitSection)
  return around(before, parts, after)
}

/** Splits a section between blocks. Pieces without words are left out; if no piece has any, the first one stays. */
function cutSection(section: Section): PlannedPart[] {
  const { before, after, ...inside } = section
  const all = packBlocks(cutBlocks(inside.blocks))
  const worded = all.filter((run) => run.some(hasWords))
  const runs = worded.length > 0 ? worded : all.slice(0, 1)
  const parts = runs.map((run, index): PlannedPart => {
    const { heading, ...part } = asPart({ ...inside, before: [], blocks: run, after: [] })
    if (runs.length === 1) return heading ? { ...part, heading } : part
    return { ...part, ...(index === 0 && heading && { heading }), line: run[0]?.line ?? 1, piece: index + 1 }
  })
  return around(before, parts, after)
}

function around(before: readonly SourceBlock[], parts: PlannedPart[], after: readonly SourceBlock[]): PlannedPart[] {
  const first = parts[0]
  if (first && before.length > 0) parts[0] = precede(before, first)
  parts.at(-1)?.blocks.push(...after)
  return parts
}

function precede(before: readonly SourceBlock[], { heading, ...part }: PlannedPart): PlannedPart {
  const blocks = [...before, ...(heading ? [heading] : []), ...part.blocks]
  return { ...part, blocks, line: before[0]?.line ?? part.line }
}

function asPart(section: Section): PlannedPart {
  const { heading, lastName, path, blocks, before, after } = section
  const name = nameOf(section)
  const part: PlannedPart = {
    path,
    blocks: [...blocks, ...after],
    line: heading?.line ?? blocks[0]?.line ?? 1,
    ...(name !== undefined && { name }),
    ...(lastName !== undefined && { lastName }),
    ...(heading && { heading }),
  }
  // Small sections in one part keep their headings.
  return before.length > 0 || (heading && lastName !== undefined) ? precede(before, part) : part
}

/** Returns the heading of a section, or the text below a heading that is only a label. */
function nameOf({ heading, blocks }: Section): string | undefined {
  const name = headingText(heading?.lines[0] ?? '')
  if (name === '') return undefined
  if (!isPlaceholder(name)) return name
  const title = titleBelow(blocks)
  return title === '' || isPlaceholder(title) ? name : title
}

function allBlocks({ heading, blocks, before, after }: Section): SourceBlock[] {
  return [...before, ...(heading ? [heading] : []), ...blocks, ...after]
}

function joinMany(parts: PlannedPart[], size: number): PlannedPart[] {
  if (parts.length <= maxParts) return parts
  const enough = Math.ceil((size * 1.1) / (maxParts - 1))
  const joined: PlannedPart[] = []
  let open = 0
  for (const part of parts) {
    const last = joined.pop()
    if (last && open < enough) {
      const lastName = part.lastName ?? part.name
      // Each of the joined sections shows its heading.
      const shown = precede([], last)
      shown.blocks.push(...precede([], part).blocks)
      joined.push(lastName === undefined ? shown : { ...shown, lastName })
    } else {
      joined.push(...(last ? [last] : []), part)
      open = 0
    }
    open += sizeOf(part.blocks)
  }
  return joined
}

/** Maximum characters of a part that is not cut. */
const longestBlock = 12_000
/** Approximate characters of a part that is cut out of a longer one. */
const target = 6000
/** Maximum characters of code and lists, which stay whole even if they are longer than a part. */
const longestWhole = 48_000
/** Maximum characters of the first two lines of a table that are repeated as its header. */
const longestHeader = 2000

/**
 * Returns blocks of at most 12,000 characters with the same lines. A table is cut between rows, with its header repeated, text between
 * lines, a line between sentences or words. Code and lists up to 48,000 stay whole; longer ones are cut between lines and items.
 */
function cutBlocks(blocks: readonly SourceBlock[]): SourceBlock[] {
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
function packBlocks(blocks: readonly SourceBlock[]): SourceBlock[][] {
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
