import { type Anchor, ExtractionError, type Extractor } from '../../../extracted.ts'
import { plainLine } from '../../markdown/as-inline-markdown.ts'
import { DataTable } from '../../markdown/markdown-table.ts'
import { type LargeTable, roomForRows, withLargeTables } from '../../markdown/table-rows.ts'
import type { XmlAttributes } from '../../xml.ts'
import { OdfPackage } from './odf-package.ts'

const maxSheets = 1_000
const maxColumns = 256
const maxCell = 32_767
/** Equal rows that are written; programs repeat the last row down to the end of the sheet. */
const maxRepeated = 1_000

type Sheet = { name: string; rows: DataTable }

/** A workbook (OpenDocument): a section for each sheet that is shown, with the values as they were shown when it was saved. */
export const extractOds: Extractor = async ({ file }) => {
  const document = await OdfPackage.open(file, 'spreadsheet')
  const reader = new OdsReader()
  document.scan(reader)
  const anchors: Anchor[] = []
  const lines: string[] = []
  const warnings = reader.hidden.map((name) => `The hidden sheet "${name}" was left out.`)
  const large: LargeTable[] = []
  for (const { name, rows } of reader.sheets) {
    if (rows.size === 0 && rows.cell(0, 0) === undefined) continue
    anchors.push({ line: lines.length + 1, sheet: name })
    if (rows.isSummarized) {
      const loose = { name, first: rows.shown + 1, rows: rows.furtherRows() }
      large.push({ table: `A table of the sheet "${name}"`, size: rows.size, loose })
    }
    for (const block of [`## ${plainLine(name)}`, ...rows.blocks()]) lines.push(...block.split('\n'), '')
  }
  if (anchors.length === 0) throw new ExtractionError('empty', 'The workbook has no values on sheets that are shown.')
  const { warnings: ofTables, ...text } = withLargeTables(lines.join('\n').trimEnd(), large)
  return { title: document.title(), ...text, anchors, warnings: [...warnings, ...ofTables] }
}

/** Reads the sheets of an OpenDocument workbook as it streams by. */
class OdsReader {
  readonly sheets: Sheet[] = []
  /** Names of sheets that are not shown. */
  readonly hidden: string[] = []
  readonly #room = roomForRows()
  readonly #hiddenStyles = new Set<string>()
  #style = ''
  #sheet: Sheet | undefined
  #cells: string[] = []
  #repeatedRow = 1
  #repeatedCell = 1
  #isCovered = false
  #column = 0
  #cell: string | undefined
  #depth = 0

  readonly open = (name: string, attributes: XmlAttributes): void => {
    if (name === 'style') this.#style = attributes['style:name'] ?? ''
    else if (name === 'table-properties' && attributes['table:display'] === 'false') this.#hiddenStyles.add(this.#style)
    else if (name === 'table') this.#openSheet(attributes)
    else if (name === 'annotation') this.#depth++
    else if (this.#sheet === undefined || this.#depth > 0) return
    else if (name === 'table-row') {
      this.#cells = []
      this.#column = 0
      const isShown = (attributes['table:visibility'] ?? 'visible') === 'visible'
      this.#repeatedRow = isShown ? countOf(attributes['table:number-rows-repeated'], maxRepeated) : 0
    } else if (name === 'table-cell' || name === 'covered-table-cell') {
      this.#repeatedCell = countOf(attributes['table:number-columns-repeated'], maxColumns)
      this.#isCovered = name === 'covered-table-cell'
      this.#cell = ''
    } else if (name === 'p' && this.#cell) this.#cell += ' '
    else if ((name === 's' || name === 'tab') && this.#cell !== undefined) this.#cell += ' '
  }

  readonly text = (text: string): void => {
    if (this.#depth === 0 && this.#cell !== undefined && this.#cell.length < maxCell) this.#cell += text
  }

  readonly close = (name: string): void => {
    if (name === 'annotation') this.#depth--
    else if (name === 'table') this.#sheet = undefined
    else if (this.#sheet === undefined || this.#depth > 0) return
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#endCell()
    else if (name === 'table-row') this.#endRow(this.#sheet)
  }

  #openSheet(attributes: XmlAttributes): void {
    const name = attributes['table:name'] ?? ''
    if (this.#hiddenStyles.has(attributes['table:style-name'] ?? '')) {
      this.hidden.push(name)
      return
    }
    if (this.sheets.length >= maxSheets) {
      throw new ExtractionError('too-large', `The workbook has over ${maxSheets} sheets.`)
    }
    this.#sheet = { name, rows: new DataTable(this.#room) }
    this.sheets.push(this.#sheet)
  }

  #endCell(): void {
    const text = this.#isCovered ? '' : (this.#cell ?? '').trim().slice(0, maxCell)
    this.#cell = undefined
    const end = Math.min(this.#column + this.#repeatedCell, maxColumns)
    if (text !== '') {
      while (this.#cells.length < this.#column) this.#cells.push('')
      while (this.#cells.length < end) this.#cells.push(text)
    }
    this.#column = end
  }

  #endRow({ rows }: Sheet): void {
    if (this.#cells.length === 0) return
    for (let at = 0; at < this.#repeatedRow; at++) rows.add(this.#cells)
  }
}

function countOf(value: string | undefined, most: number): number {
  return Math.min(Math.max(Number(value ?? 1) || 1, 1), most)
}
