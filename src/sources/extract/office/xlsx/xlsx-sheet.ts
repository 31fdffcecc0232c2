import { plainLine } from '../../markdown/as-inline-markdown.ts'
import { DataTable } from '../../markdown/markdown-table.ts'
import { FurtherColumns, type Room } from '../../markdown/table-rows.ts'
import { type Raised, raisedText } from '../../raised-text.ts'
import { isTrue, scanXml, type XmlAttributes } from '../../xml.ts'
import { formatNumber } from './xlsx-number-format.ts'
import { maxCell, raisedRun, unescapeText, type Workbook } from './xlsx-workbook.ts'

const maxColumns = 256
/** Tables of one sheet; what comes after belongs to the last. */
const maxTables = 500
/** Rows of one cell each that are lines above a table; more of them are a table. */
const maxLines = 20
/** Cells that are filled because they are merged with one above. */
const maxFilled = 10_000

export type SheetText = {
  blocks: string[]
  /** Texts of the cells that are shown, as they are read and before they become tables. */
  shown: string
  hiddenRows: number
  hiddenColumns: number
  further: FurtherColumns
  /** Formulas without a value, as programs write them that do not calculate. */
  unsaved: number
  summarized: DataTable[]
  /** Whether a cell is on a row and in a column that are shown. */
  isShown: (reference: string) => boolean
}

type Region = { lines: string[][]; table: DataTable | undefined; rows: number[] }
type Range = { top: number; left: number; bottom: number }

/** Reads a sheet as it streams by: regions of rows become tables, or lines of text. */
export function readSheet(part: Buffer, workbook: Workbook, room: Room): SheetText {
  const reader = new SheetReader(workbook, room)
  scanXml(part, reader)
  return reader.result()
}

class SheetReader {
  readonly #workbook: Workbook
  readonly #room: Room
  readonly #regions: Region[] = []
  readonly #merged: Range[] = []
  readonly #hidden: { first: number; last: number }[] = []
  readonly #hiddenRows = new Set<number>()
  #hiddenValues = 0
  readonly #further: FurtherColumns
  #beyond: string[] = []
  #unsaved = 0
  readonly #shown: string[] = []
  #lastRow = -2
  #row = -1
  #isHiddenRow = false
  #column = -1
  #cells: string[] = []
  /** Values of cells whose text may be no number, such as `USD 1,250.50`. */
  #numbers: (number | undefined)[] = []
  #cell: XmlAttributes = {}
  #value = ''
  #isValue = false
  #isFormula = false
  #isReading = false
  /** Set in a run of superscript or subscript text. */
  #raised: Raised | undefined

  constructor(workbook: Workbook, room: Room) {
    this.#workbook = workbook
    this.#room = room
    this.#further = new FurtherColumns(room)
  }

  readonly open = (name: string, attributes: XmlAttributes): void => {
    if (name === 'row') {
      this.#row = attributes.r === undefined ? this.#row + 1 : Number(attributes.r) - 1
      this.#isHiddenRow = isTrue(attributes.hidden)
      if (this.#isHiddenRow) this.#hiddenRows.add(this.#row)
      this.#column = -1
      this.#cells = []
      this.#numbers = []
      this.#beyond = []
    } else if (name === 'c') {
      this.#column = attributes.r === undefined ? this.#column + 1 : columnOf(attributes.r)
      this.#cell = attributes
      this.#value = ''
      this.#isFormula = false
    } else if (name === 'f') this.#isFormula = true
    else if (name === 'v' || name === 't') this.#isValue = !this.#isReading
    else if (name === 'r') this.#raised = undefined
    else if (name === 'vertAlign') this.#raised = raisedRun(attributes)
    else if (name === 'rPh') this.#isReading = true
    else if (name === 'col' && isTrue(attributes.hidden)) {
      this.#hidden.push({ first: Number(attributes.min) - 1, last: Number(attributes.max) - 1 })
    } else if (name === 'mergeCell' && this.#merged.length < maxFilled) this.#merged.push(rangeOf(attributes.ref ?? ''))
  }

  readonly text = (text: string): void => {
    if (this.#isValue && this.#value.length < maxCell) {
      this.#value += this.#raised ? raisedText(text, this.#raised, this.#value) : text
    }
  }

  readonly close = (name: string): void => {
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'rPh') this.#isReading = false
    else if (name === 'r') this.#raised = undefined
    else if (name === 'c') this.#endCell()
    else if (name === 'row') this.#endRow()
  }

  result(): SheetText {
    this.#fillMerged()
    const summarized = this.#regions.flatMap(({ table }) => (table?.isSummarized ? [table] : []))
    return {
      blocks: this.#regions.flatMap(({ lines, table }) => [
        ...lines.map((line) => plainLine(line.join(''))),
        ...(table?.blocks() ?? []),
      ]),
      shown: this.#shown.join('\n'),
      hiddenRows: this.#hiddenValues,
      hiddenColumns: this.#hidden.reduce((sum, { first, last }) => sum + Math.min(last, maxColumns) - first + 1, 0),
      further: this.#further,
      unsaved: this.#unsaved,
      summarized,
      isShown: (reference) => {
        const { top, left } = rangeOf(reference)
        return !this.#hiddenRows.has(top) && !this.#isHiddenColumn(left)
      },
    }
  }

  #isHiddenColumn(column: number): boolean {
    return this.#hidden.some(({ first, last }) => column >= first && column <= last)
  }

  #endCell(): void {
    const column = this.#column
    // A formula of text that gives an empty one has a type.
    if (this.#value === '' && this.#isFormula && this.#cell.t === undefined) this.#unsaved++
    if (this.#value === '' || this.#isHiddenColumn(column)) return
    const text = this.#textOfCell().slice(0, maxCell).trim()
    if (text === '') return
    if (!(column >= 0 && column < maxColumns)) this.#beyond.push(text)
    else {
      while (this.#cells.length < column) this.#cells.push('')
      this.#cells[column] = text
    }
  }

  #textOfCell(): string {
    const { t: type, s: style } = this.#cell
    const value = this.#value
    if (type === 's') return this.#workbook.strings[Number(value)] ?? ''
    if (type === 'b') return value === '1' || value === 'true' ? 'TRUE' : 'FALSE'
    if (type === 'd') return value.replace(/(?:T00:00:00)?(?:\.0+)?Z?$/, '')
    if (type === 'str' || type === 'inlineStr') return unescapeText(value)
    const number = type === 'e' ? Number.NaN : Number(value)
    if (Number.isNaN(number)) return value
    const format = this.#workbook.formats[Number(style ?? 0)] ?? { kind: 'general' }
    if (format.kind === 'number' && !format.isPercent) this.#numbers[this.#column] = number
    return formatNumber(number, format, this.#workbook.is1904)
  }

  #endRow(): void {
    if (this.#cells.length + this.#beyond.length === 0) return
    if (this.#isHiddenRow) {
      this.#hiddenValues++
      return
    }
    // Beyond it, a warning counts the rows that are left out.
    if (this.#room.bytes > 0) this.#shown.push(this.#cells.join('\n'), this.#beyond.join('\n'))
    this.#further.add(this.#cells.find((cell) => cell !== '') ?? '', this.#beyond)
    if (this.#cells.length === 0) return
    let region = this.#regions.at(-1)
    if (region === undefined || (this.#isApart(region) && this.#regions.length < maxTables)) {
      region = { lines: [], table: undefined, rows: [] }
      this.#regions.push(region)
    }
    this.#lastRow = this.#row
    const isLine = region.table === undefined && this.#cells.filter((cell) => cell !== '').length === 1
    if (isLine && region.lines.length < maxLines) {
      region.lines.push(this.#cells)
      return
    }
    if (region.table === undefined) {
      region.table = new DataTable(this.#room)
      if (isLine) {
        for (const [at, line] of region.lines.entries()) {
          region.table.add(line)
          region.rows.push(this.#row - region.lines.length + at)
        }
        region.lines = []
      }
    }
    region.table.add(this.#cells, this.#numbers)
    // Rows that the table does not keep need no place.
    if (!region.table.isSummarized) region.rows.push(this.#row)
  }

  /** A single blank row sets off the header of a table, and not its end. */
  #isApart({ table }: Region): boolean {
    const blankRows = this.#row - this.#lastRow - 1
    return blankRows > 1 || (blankRows === 1 && !(table !== undefined && table.size < 2))
  }

  /** A row says by itself what belongs to it when cells that were merged downwards all have the text. */
  #fillMerged(): void {
    let filled = 0
    for (const { top, left, bottom } of this.#merged) {
      for (const { table, rows } of this.#regions) {
        const first = rows.indexOf(top)
        const text = first < 0 ? undefined : table?.cell(first, left)
        if (!text) continue
        for (let at = first + 1; at < rows.length && (rows[at] ?? 0) <= bottom && filled < maxFilled; at++, filled++) {
          table?.fill(at, left, text)
        }
      }
    }
  }
}

/** Returns the column of a reference such as `AB12`, counted from 0. */
function columnOf(reference: string): number {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/i.exec(reference)?.[0]?.toUpperCase() ?? '') {
    column = column * 26 + letter.charCodeAt(0) - 64
  }
  return column - 1
}

function rangeOf(reference: string): Range {
  const [first = '', last = first] = reference.split(':', 2)
  const rowOf = (cell: string) => Number(/\d+$/.exec(cell)?.[0] ?? 0) - 1
  return { top: rowOf(first), left: columnOf(first), bottom: rowOf(last) }
}
