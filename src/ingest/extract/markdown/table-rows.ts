import { plainLine } from './inline-text.ts'

/** Bytes of the rows of a document that are kept beside its pages. */
const maxBytes = 16 * 2 ** 20
/** Bytes of a document with them, so that there is room for what makes its Markdown safe. */
const maxDocumentBytes = 19 * 2 ** 20
/** Characters of the rows that stand together: as much as search shows at a time. */
const maxParagraph = 900

/** What is left for the rows that tables do not write out themselves; the tables of a document share it. */
export type Room = { bytes: number }

/** Rows of a large table that no page shows, as text. `first` is the number of the first one. */
export type LooseRows = { name: string | undefined; first: number; rows: readonly string[] }

export function roomForRows(): Room {
  return { bytes: maxBytes }
}

/** A row as a line of text, without its blank cells. */
export function rowLine(cells: readonly string[]): string {
  return plainLine(cells.filter((cell) => cell !== '').join('; '))
}

/**
 * Lines of Markdown with rows for search alone below them, as far as there is room: paragraphs, which search takes in without the
 * time that large tables would take.
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

/** Markdown with the further rows of its large tables below it, and what is told of each. */
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

/** What is told of a table whose page has not all of its rows. */
export function largeTableWarning(table: string, size: number, shown: number, kept: number): string {
  const isWhole = shown + kept >= size
  const found = isWhole
    ? 'search finds all of them'
    : `search finds the first ${shown + kept}, the others were left out`
  return `${table} has ${size} rows: its page has statistics and the first ${shown}; ${found}.`
}
