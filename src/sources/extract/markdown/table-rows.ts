import { plainLine } from './escape-markdown.ts'

/** Maximum bytes of a document's rows that are kept for search only. */
const maxBytes = 16 * 2 ** 20
/** Maximum bytes of a document with them. Leaves room for the escapes that make Markdown safe. */
const maxDocumentBytes = 19 * 2 ** 20
/** Maximum characters of a paragraph of rows: as much as search shows at a time. */
const maxParagraph = 900

/** Remaining bytes for rows that are kept for search only. The tables of a document share it. */
export class Room {
  bytes = maxBytes

  /** Adds a line to the rows, if there is room. */
  add(rows: string[], line: string): void {
    this.bytes -= Buffer.byteLength(line) + 1
    if (this.bytes >= 0) rows.push(line)
  }
}

/** Rows that no page shows, as text. `first` is the number of the first one in its table. */
export type LooseRows = {
  name?: string | undefined
  first?: number
  rows: readonly string[]
  /** Returns the warning for people, if search finds `kept` of the rows. */
  warning: (kept: number) => string
}

export function rowLine(cells: readonly string[]): string {
  return plainLine(cells.filter((cell) => cell !== '').join('; '))
}

/**
 * Appends rows for search to Markdown, as far as there is room. They are paragraphs, because search reads these faster than large
 * tables.
 */
export function withLooseRows(
  markdown: string,
  tables: readonly LooseRows[],
): { markdown: string; searchOnlyFrom?: number; warnings: string[] } {
  if (tables.length === 0) return { markdown, warnings: [] }
  const head = `${markdown.trimEnd()}\n\n`
  let bytes = maxDocumentBytes - Buffer.byteLength(head)
  const written = [head]
  const warnings = tables.map(({ name, first, rows, warning }) => {
    const fitting = rows.findIndex((row) => {
      bytes -= Buffer.byteLength(row) + 2
      return bytes < 0
    })
    const count = fitting < 0 ? rows.length : fitting
    const place = first === undefined ? '' : `rows ${first}–${first + count - 1}`
    const parts = [...(name === undefined ? [] : [plainLine(name)]), ...(place === '' ? [] : [place])]
    if (count > 0) written.push(`## ${parts.join(': ')}\n\n`, paragraphs(rows.slice(0, count)))
    return warning(count)
  })
  return { markdown: written.join('').trimEnd(), searchOnlyFrom: head.split('\n').length, warnings }
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

/** Text of the columns beyond those that a table shows: the further values of each row, behind the row's first value. */
export class FurtherColumns {
  readonly #rows: string[] = []
  readonly #room: Room
  #count = 0

  constructor(room: Room) {
    this.#room = room
  }

  add(first: string, values: readonly string[]): void {
    if (values.every((value) => value === '')) return
    this.#count++
    this.#room.add(this.#rows, rowLine([first, ...values]))
  }

  /** Returns the warning for people. @param what the columns, for people */
  loose(what: string, name?: string): LooseRows[] {
    if (this.#count === 0) return []
    const warning = (kept: number) =>
      `${what} are on no page: search finds ${kept >= this.#count ? 'them' : `them for ${kept} of ${this.#count} rows`}.`
    return [{ name: name ?? what, rows: this.#rows, warning }]
  }
}
