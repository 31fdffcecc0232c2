import type { PdfPage } from './pdf-page.ts'

/** Lines that a header or footer may have. */
const edgeLines = 3
const pageNumber = /^(?:page\s+)?[-–—\s]*(?:\d{1,4}|[ivxlc]{1,7})[-–—\s]*(?:(?:of|\/)\s*\d{1,4})?$/i

/**
 * Takes the lines off the edges of pages that most pages repeat word by word but for their own number, and page numbers. Where that
 * would leave most pages empty, what repeats is the text, and only page numbers go.
 */
export function dropRunningLines(pages: readonly PdfPage[]): PdfPage[] {
  const running = runningLines(pages)
  const trimmed = pages.map((page) => trim(page, running))
  return 2 * filledPages(trimmed).length < filledPages(pages).length
    ? pages.map((page) => trim(page, new Set()))
    : trimmed
}

function trim({ number, lines }: PdfPage, running: ReadonlySet<string>): PdfPage {
  const kept = lines.slice()
  trimEdge(kept, number, running, 'top')
  trimEdge(kept, number, running, 'bottom')
  return { number, lines: kept }
}

function filledPages(pages: readonly PdfPage[]): PdfPage[] {
  return pages.filter(({ lines }) => lines.some((line) => line !== ''))
}

function runningLines(pages: readonly PdfPage[]): Set<string> {
  const counts = new Map<string, number>()
  for (const { number, lines } of pages) {
    const filled = lines.filter((line) => line !== '')
    const edges = new Set(
      [...filled.slice(0, edgeLines), ...filled.slice(-edgeLines)].map((line) => keyOf(line, number)),
    )
    for (const key of edges) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const fewest = Math.max(3, filledPages(pages).length * 0.5)
  return new Set([...counts].filter(([, count]) => count >= fewest).map(([key]) => key))
}

function trimEdge(lines: string[], number: number, running: ReadonlySet<string>, edge: 'top' | 'bottom') {
  for (let dropped = 0; dropped < edgeLines; dropped++) {
    while (lines.length > 0 && lines.at(edge === 'top' ? 0 : -1) === '') drop(lines, edge)
    const line = lines.at(edge === 'top' ? 0 : -1)
    if (line === undefined || !(running.has(keyOf(line, number)) || plain(line) === String(number))) return
    drop(lines, edge)
  }
  while (lines.length > 0 && lines.at(edge === 'top' ? 0 : -1) === '') drop(lines, edge)
}

function drop(lines: string[], edge: 'top' | 'bottom') {
  if (edge === 'top') lines.shift()
  else lines.pop()
}

function keyOf(line: string, number: number): string {
  const text = plain(line)
  if (pageNumber.test(text)) return '\0'
  return text.replace(new RegExp(`(?<!\\d)${number}(?!\\d)`), '\0')
}

function plain(line: string): string {
  return line
    .replace(/^#+\s+/, '')
    .replaceAll('\\', '')
    .trim()
}
