import { fold } from '../../rules/text/fold.ts'
import type { Anchor } from '../extracted.ts'

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
export function runningLines(lines: readonly string[], anchors: readonly Anchor[]): Set<number> {
  const edges = edgesOf(lines, anchors)
  const running = new Set<number>()
  for (const [key, found] of Map.groupBy(edges, ({ text }) => keyOf(text))) {
    const repeated = key === '' ? numbered(found.filter(({ text }) => isNumber(text))) : nearby(found)
    for (const { line } of repeated) running.add(line)
  }
  return running
}

/** Returns the part of a line that is compared: its words, without numbers. */
export function keyOf(text: string): string {
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
