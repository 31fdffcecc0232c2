import { withoutComments } from '../../markdown/comments.ts'
import { linkKey } from '../../rules/links/link-target.ts'
import { fold } from '../../rules/text/fold.ts'
import type { Anchor, Extracted } from '../extracted.ts'
import { type SourceBlock, sourceBlocks } from './source-blocks.ts'
import { documentTitle, headingText, linkableTitle, maxTitle } from './titles/document-title.ts'

/** A document's own title, and its blocks without the heading that is that title. */
export type EntitledSource = { title: string; blocks: SourceBlock[] }

/** Maximum blocks before the heading that shows a document's title. */
const maxBeforeTitle = 20
/** Maximum characters of the file name that is appended to a title another Neuron has. */
const maxName = 120

/**
 * Returns the title of a document, and its blocks without running headers and footers. Comments are left out, too: if the document is cut
 * into pages, a comment could begin on one page and end on another. The title gets the file's name appended if a Neuron of another origin
 * has it (`taken`, as returned by `linkKey`).
 */
export function entitledSource(
  extracted: Pick<Extracted, 'title' | 'markdown' | 'searchOnlyFrom' | 'anchors'>,
  filename: string,
  taken: ReadonlySet<string>,
): EntitledSource {
  const { lines, running } = compiledLines(extracted)
  const repeated = new Set([...running].map((line) => keyOf(lines[line - 1] ?? '')))
  const blocks = sourceBlocks(lines.map((line, at) => (running.has(at + 1) ? '' : line)).join('\n'))
  const isRunning = (text: string) => repeated.has(keyOf(text))
  const title = documentTitle({ own: extracted.title, blocks, filename, isRunning })
  const shown = blocks
    .slice(0, maxBeforeTitle)
    .findIndex(
      ({ depth, lines }) => depth > 0 && linkKey(linkableTitle(headingText(lines[0] ?? ''))) === linkKey(title),
    )
  const suffix = ` (${linkableTitle(filename, maxName)})`
  return {
    title: taken.has(linkKey(title)) ? linkableTitle(title, maxTitle - suffix.length) + suffix : title,
    blocks: shown < 0 ? blocks : blocks.toSpliced(shown, 1),
  }
}

/** Returns a document's lines without comments, and the 1-based numbers of its running headers and footers. */
export function compiledLines({
  markdown,
  searchOnlyFrom,
  anchors,
}: Pick<Extracted, 'markdown' | 'searchOnlyFrom' | 'anchors'>): { lines: string[]; running: Set<number> } {
  const lines = cleaned(firstLines(withoutComments(markdown), searchOnlyFrom)).split('\n')
  return { lines, running: runningLines(lines, anchors) }
}

/** Returns the text up to the line before `end`, 1-based. */
export function firstLines(text: string, end = Number.POSITIVE_INFINITY): string {
  let at = 0
  for (let line = 1; line < end; line++) {
    const next = text.indexOf('\n', at)
    if (next < 0) return text
    at = next + 1
  }
  return text.slice(0, at)
}

/** Replaces control characters and byte order marks by blanks, and CRLF by LF. The number of lines stays the same. */
function cleaned(markdown: string): string {
  return markdown
    .toWellFormed()
    .replace(/\r\n/g, '\n')
    .replace(/[^\P{Cc}\t\n]|\uFEFF/gu, ' ')
}

/** Number of lines at the top and at the bottom of a page that may be its header and footer. */
const edgeLines = 2
/** Minimum pages that repeat a header or footer. */
const fewest = 3
/** Maximum distance in pages between repetitions: left and right pages may have different heads. */
const nextPages = 2
/** Maximum UTF-16 units of a header or footer. */
const longest = 150
const structured = /^(?:\||```|~~~| {4}|[-*+>] )/
const pageNumber =
  /^[\s\-–—*_|[(]*(?:(?:page|p\.|seite|s\.)\s*)?(\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|\/|von)\s*\d{1,4})?[\s\-–—*_|)\]]*$/i

type EdgeLine = { line: number; page: number; text: string }

/**
 * Finds running headers and footers, as 1-based lines of a document: lines at the edge of at least three nearby pages that are equal apart
 * from numbers that grow with the pages, and lines with only a page number.
 */
function runningLines(lines: readonly string[], anchors: readonly Anchor[]): Set<number> {
  const edges = edgesOf(lines, anchors)
  const running = new Set<number>()
  for (const [key, found] of Map.groupBy(edges, ({ text }) => keyOf(text))) {
    const repeated = key === '' ? numbered(found.filter(({ text }) => isNumber(text))) : nearby(found)
    for (const { line } of repeated) running.add(line)
  }
  return running
}

/** Returns the part of a line that is compared: its words, without numbers. */
function keyOf(text: string): string {
  return isNumber(text) ? '' : (fold(bare(text)).match(/\p{L}+/gu) ?? []).join(' ')
}

function edgesOf(lines: readonly string[], anchors: readonly Anchor[]): EdgeLine[] {
  const pages = anchors.filter(({ page }) => page !== undefined)
  return pages.flatMap(({ line, page = 0 }, at) => {
    const end = (pages[at + 1]?.line ?? lines.length + 1) - 1
    const filled: EdgeLine[] = []
    for (let number = line; number <= end; number++) {
      const text = lines[number - 1] ?? ''
      if (text.trim() !== '') filled.push({ line: number, page, text })
    }
    const edge = [...filled.slice(0, edgeLines), ...filled.slice(edgeLines).slice(-edgeLines)]
    return edge.filter(({ text }) => text.length <= longest && (isNumber(text) || !structured.test(text)))
  })
}

/** Returns the lines that nearby pages repeat, among lines with the same words. */
function nearby(found: readonly EdgeLine[]): EdgeLine[] {
  const repeated: EdgeLine[] = []
  let chain: EdgeLine[] = []
  const close = () => {
    if (new Set(chain.map(({ page }) => page)).size >= fewest && isRunning(chain)) repeated.push(...chain)
  }
  for (const edge of found) {
    if (edge.page - (chain.at(-1)?.page ?? edge.page) > nextPages) {
      close()
      chain = []
    }
    chain.push(edge)
  }
  close()
  return repeated
}

function isRunning(chain: readonly EdgeLine[]): boolean {
  const [first, ...others] = chain
  return others.every(({ text }) => bare(text) === bare(first?.text ?? '')) || growing(chain).length === chain.length
}

/** Returns the lines with nothing but the number of their page. */
function numbered(found: readonly EdgeLine[]): EdgeLine[] {
  const grown = growing(found)
  return grown.length >= fewest ? grown : []
}

/** Returns the lines that contain a number whose distance from the page number is the most common one. */
function growing(found: readonly EdgeLine[]): EdgeLine[] {
  const offsets = found.map(({ text, page }) => new Set(numbersIn(text).map((number) => number - page)))
  const counts = new Map<number, number>()
  for (const set of offsets) for (const offset of set) counts.set(offset, (counts.get(offset) ?? 0) + 1)
  const [[most] = []] = [...counts].sort(([, a], [, b]) => b - a)
  return found.filter((_, at) => most !== undefined && offsets[at]?.has(most))
}

function numbersIn(text: string): number[] {
  const roman = /^[ivxlc]+$/i.test(bare(text)) ? [romanNumber(bare(text).toLowerCase())] : []
  return [...(text.match(/\d{1,4}/g) ?? []).map(Number), ...roman]
}

function romanNumber(text: string): number {
  const values = Array.from(text, (letter) => ({ i: 1, v: 5, x: 10, l: 50, c: 100 })[letter] ?? 0)
  return values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0)
}

function isNumber(line: string): boolean {
  return pageNumber.test(bare(line))
}

function bare(line: string): string {
  return line.replace(/^\s*#+\s+|[\\*_]/g, '').trim()
}
