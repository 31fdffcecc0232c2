import { asInlineMarkdown } from './escape-markdown.ts'
import { type LooseRows, type Room, rowLine } from './table-rows.ts'

/** Maximum number of distinct values that are counted. */
const maxDistinct = 1_000
const maxShown = 5
const maxValue = 60
const number = /^-?\d{1,15}(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i
const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?$/

/** Number of rows after which the header of a table is repeated. */
const batch = 100
/** Maximum size of a table that is written in full. A larger one is shown by statistics and its first rows. */
const maxRows = 5_000
const maxCharacters = 4 * 2 ** 20
const maxSampleCharacters = 2 ** 17

/**
 * A table of any size, to which rows are added one by one, in bounded memory. The first row is its header. Cells are plain text. Rows that
 * a summary leaves out remain available for search.
 */
export class DataTable {
  #count = 0
  #characters = 0
  readonly #rows: string[][] = []
  readonly #columns: ColumnStatistics[] = []
  /** Rows beyond those shown, as text, while there is room. */
  readonly #further: string[] = []
  readonly #room: Room

  constructor(room: Room) {
    this.#room = room
  }

  /** Number of rows below the header. */
  get size(): number {
    return Math.max(this.#count - 1, 0)
  }

  get isSummarized(): boolean {
    return this.#rows.length < this.#count
  }

  /** Adds a row, of any length and with holes. `numbers`: values of cells that show a number with other signs. */
  add(row: readonly (string | undefined)[], numbers: readonly (number | undefined)[] = []): void {
    this.#count++
    const cells = Array.from(row, (cell) => cell ?? '')
    for (const [at, cell] of cells.entries()) {
      this.#columns[at] ??= new ColumnStatistics()
      if (this.#count > 1) this.#columns[at].add(cell, numbers[at])
      this.#characters += cell.length
    }
    if (this.#count <= maxRows + 1 && this.#characters <= maxCharacters) this.#rows.push(cells)
    else if (this.#room.bytes > 0) this.#room.add(this.#further, rowLine(cells))
  }

  /** Rows that the blocks show, below the header. */
  get shown(): number {
    return this.isSummarized ? this.#sample().length - 1 : this.size
  }

  /** Returns the rows that the blocks do not show, while there is room. @param table name of the table, for people */
  loose(table: string, name?: string): LooseRows[] {
    if (!this.isSummarized) return []
    const { shown, size } = this
    const rows = [...this.#rows.slice(shown + 1).map(rowLine), ...this.#further]
    const warning = (kept: number) => {
      const found =
        shown + kept >= size
          ? 'search finds all of them'
          : `search finds the first ${shown + kept}, the others were left out`
      return `${table} has ${size} rows: its page has statistics and the first ${shown}; ${found}.`
    }
    return [{ name, first: shown + 1, rows, warning }]
  }

  /** Fills an empty cell, as for merged cells; row 0 is the header. */
  fill(row: number, column: number, text: string): void {
    const cells = this.#rows[row]
    if (cells === undefined || cells[column]) return
    while (cells.length < column) cells.push('')
    cells[column] = text
  }

  cell(row: number, column: number): string | undefined {
    return this.#rows[row]?.[column]
  }

  blocks(): string[] {
    const used = this.#columns.flatMap((column, at) =>
      column.filled > 0 || this.#rows.some((row) => row[at]) ? [at] : [],
    )
    const pick = (row: readonly string[]) => used.map((at) => asInlineMarkdown(row[at] ?? ''))
    if (!this.isSummarized) return [markdownTable(this.#rows.map(pick))]
    const header = this.#rows[0] ?? []
    const statistics = used.map((at) => [asInlineMarkdown(header[at] ?? ''), ...(this.#columns[at]?.summary() ?? [])])
    const sample = this.#sample()
    return [
      `${this.size} rows.`,
      markdownTable([['Column', 'Filled', 'Distinct', 'Least', 'Greatest', 'Mean', 'Most frequent'], ...statistics]),
      `The first ${sample.length - 1} rows:`,
      markdownTable(sample.map(pick)),
    ]
  }

  #sample(): string[][] {
    let characters = 0
    return this.#rows.slice(0, batch + 1).filter((row, at) => {
      characters += row.reduce((sum, cell) => sum + cell.length, 0)
      return at === 0 || characters <= maxSampleCharacters
    })
  }
}

/**
 * Returns a table of GitHub Flavored Markdown whose first row is its header. A long one is split into tables of 100 rows, each with the
 * header.
 * @param rows Markdown on one line, `|` escaped; short rows are filled up
 */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 1)
  const [header = [], ...body] = rows
  const top = `${line(header, width)}\n|${' --- |'.repeat(width)}`
  const tables: string[] = []
  for (let at = 0; at === 0 || at < body.length; at += batch) {
    tables.push([top, ...body.slice(at, at + batch).map((row) => line(row, width))].join('\n'))
  }
  return tables.join('\n\n')
}

function line(row: readonly string[], width: number): string {
  return `| ${Array.from({ length: width }, (_, at) => row[at] ?? '').join(' | ')} |`
}

class ColumnStatistics {
  filled = 0
  #numbers = 0
  #sum = 0
  #least = Number.POSITIVE_INFINITY
  #greatest = Number.NEGATIVE_INFINITY
  #dates = 0
  #first = ''
  #last = ''
  readonly #counts = new Map<string, number>()
  #isFull = false

  /** Counts a value of a column. @param known the number that the value shows, if its text cannot be parsed as one */
  add(value: string, known?: number): void {
    if (value === '') return
    this.filled++
    if (known !== undefined || number.test(value)) this.#addNumber(known ?? Number(value))
    else if (date.test(value)) this.#addDate(value)
    // A column with too many distinct values has no most frequent one.
    if (this.#isFull) return
    const key = value.slice(0, maxValue)
    const count = this.#counts.get(key)
    if (count !== undefined) this.#counts.set(key, count + 1)
    else if (this.#counts.size < maxDistinct) this.#counts.set(key, 1)
    else this.#isFull = true
  }

  /** Returns filled and distinct cells, minimum, maximum, mean and most frequent values as Markdown; empty texts if not applicable. */
  summary(): string[] {
    const distinct = this.#isFull ? `over ${maxDistinct}` : String(this.#counts.size)
    return [String(this.filled), distinct, ...this.#range(), this.#frequent()]
  }

  #range(): [string, string, string] {
    if (this.filled > 0 && this.#numbers === this.filled) {
      const mean = Number((this.#sum / this.#numbers).toPrecision(6))
      return [String(this.#least), String(this.#greatest), String(mean)]
    }
    if (this.filled > 0 && this.#dates === this.filled) return [this.#first, this.#last, '']
    return ['', '', '']
  }

  #frequent(): string {
    if (this.#isFull || this.#counts.size === this.filled) return ''
    const byCount = [...this.#counts].sort((a, b) => b[1] - a[1]).slice(0, maxShown)
    return byCount.map(([value, count]) => `${asInlineMarkdown(value)} (${count})`).join(', ')
  }

  #addNumber(value: number): void {
    this.#numbers++
    this.#sum += value
    this.#least = Math.min(this.#least, value)
    this.#greatest = Math.max(this.#greatest, value)
  }

  #addDate(value: string): void {
    if (this.#dates === 0 || value < this.#first) this.#first = value
    if (this.#dates === 0 || value > this.#last) this.#last = value
    this.#dates++
  }
}
