import { plainLine } from './as-inline-markdown.ts'

/** Maximum bytes of a document's rows that are kept for search only. */
const maxBytes = 16 * 2 ** 20
/** Maximum bytes of a document with them. Leaves room for the escapes that make Markdown safe. */
const maxDocumentBytes = 19 * 2 ** 20
/** Maximum characters of a paragraph of rows: as much as search shows at a time. */
const maxParagraph = 900

/** Remaining bytes for rows that are kept for search only. The tables of a document share it. */
export type Room = { bytes: number }

/** Rows of a large table that no page shows, as text. `first` is the number of the first row. */
export type LooseRows = { name: string | undefined; first: number; rows: readonly string[] }

export function roomForRows(): Room {
  return { bytes: maxBytes }
}

/** A row as a line of text, without its blank cells. */
export function rowLine(cells: readonly string[]): string {
  return plainLine(cells.filter((cell) => cell !== '').join('; '))
}

/**
 * Appends rows for search to Markdown, as far as there is room. They are paragraphs, because search reads these faster than large
 * tables.
 * @returns how many rows of each table are among them
 */
export function withLooseRows(
  markdown: string,
  tables: readonly LooseRows[],
): { markdown: string; searchOnlyFrom?: number; kept: number[] } {
  if (tables.length === 0) return { markdown, kept: [] }
  const head = `${markdown.trimEnd()}\n\n`
  let bytes = maxDocumentBytes - Buffer.byteLength(head)
  const written = [head]
  const kept = tables.map(({ name, first, rows }) => {
    const fitting = rows.findIndex((row) => {
      bytes -= Buffer.byteLength(row) + 2
      return bytes < 0
    })
    const count = fitting < 0 ? rows.length : fitting
    if (count > 0) written.push(heading(name, first, first + count - 1), paragraphs(rows.slice(0, count)))
    return count
  })
  return { markdown: written.join('').trimEnd(), searchOnlyFrom: head.split('\n').length, kept }
}

function heading(name: string | undefined, first: number, last: number): string {
  return `## ${name === undefined ? '' : `${plainLine(name)}: `}rows ${first}–${last}\n\n`
}

function paragraphs(rows: readonly string[]): string {
  const written: string[] = []
  let length = 0
  for (const row of rows) {
    const isFull = length > 0 && length + row.length > maxParagraph
    written.push(isFull ? '\n' : '', row, '\n')
    length = row.length + 1 + (isFull ? 0 : length)
  }
  return `${written.join('')}\n`
}

/** A table that its page does not show as a whole. `table` says which it is, `size` counts its rows. */
export type LargeTable = { table: string; size: number; loose: LooseRows }

/** Appends the rows of large tables to Markdown. Returns a warning for each table. */
export function withLargeTables(
  markdown: string,
  tables: readonly LargeTable[],
): { markdown: string; searchOnlyFrom?: number; warnings: string[] } {
  const { kept, ...text } = withLooseRows(
    markdown,
    tables.map(({ loose }) => loose),
  )
  const warnings = tables.map(({ table, size, loose }, at) =>
    largeTableWarning(table, size, loose.first - 1, kept[at] ?? 0),
  )
  return { ...text, warnings }
}

/** Warning for a table whose page does not have all of its rows. */
export function largeTableWarning(table: string, size: number, shown: number, kept: number): string {
  const isWhole = shown + kept >= size
  const found = isWhole
    ? 'search finds all of them'
    : `search finds the first ${shown + kept}, the others were left out`
  return `${table} has ${size} rows: its page has statistics and the first ${shown}; ${found}.`
}
