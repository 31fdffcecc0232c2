import { readFile } from 'node:fs/promises'
import Papa from 'papaparse'
import { ExtractionError, type Extractor } from '../../extracted.ts'
import { decodeDocument } from '../decode-text.ts'
import { DataTable } from '../markdown/markdown-table.ts'
import { FurtherColumns, Room, withLooseRows } from '../markdown/table-rows.ts'

const maxColumns = 256
const maxCell = 10_000
const numberLike = /^[\s+\-(]*[$€£]?\s*[\d.,]+\s*[%)]?$|^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}/

/**
 * Reads values separated by commas or another delimiter as one table, or as sections of 100 rows. If the table is too large for
 * `DataTable`, the Markdown has statistics and the first rows, and the others are for search.
 */
export const extractCsv: Extractor = async ({ file }) => {
  const { text, doubts } = decodeDocument(await readFile(file))
  const { rows, further, warnings } = readRows(text)
  if (rows.size === 0 && rows.cell(0, 0) === undefined) throw new ExtractionError('empty', 'The table has no values.')
  const blocks = rows.isSummarized ? rows.blocks() : sections(rows.blocks().join('\n\n').split('\n\n'), rows.size)
  const loose = [...rows.loose('The table'), ...further.loose(`The columns beyond the first ${maxColumns}`)]
  const { warnings: ofLoose, ...written } = withLooseRows(blocks.join('\n\n'), loose)
  return { title: undefined, anchors: [], doubts, ...written, warnings: [...warnings, ...ofLoose], shown: undefined }
}

function sections(tables: readonly string[], size: number): string[] {
  if (tables.length < 2) return [...tables]
  return tables.flatMap((table, index) => [`## Rows ${index * 100 + 1}–${Math.min((index + 1) * 100, size)}`, table])
}

function readRows(text: string): { rows: DataTable; further: FurtherColumns; warnings: string[] } {
  const room = new Room()
  const rows = new DataTable(room)
  const further = new FurtherColumns(room)
  const warnings = new Set<string>()
  let columns: number | undefined
  const add = (row: readonly string[]) => {
    if (row.some((cell) => cell.length > maxCell)) warnings.add(`Values were cut to ${maxCell} characters.`)
    const cells = row.map((cell) => cell.trim().slice(0, maxCell))
    rows.add(cells.slice(0, maxColumns))
    if (cells.length > maxColumns) further.add(cells[0] ?? '', cells.slice(maxColumns))
  }
  Papa.parse<string[]>(text, {
    delimiter: delimiterOf(text),
    skipEmptyLines: 'greedy',
    step: ({ data: row, errors }) => {
      if (errors.some(({ code }) => code === 'MissingQuotes')) warnings.add('A quoted value is not closed.')
      if (columns === undefined) {
        columns = row.length
        if (!isHeader(row)) add(row.map((_, at) => `Column ${at + 1}`))
      }
      if (row.length !== columns) warnings.add('Not all rows have as many values as the first.')
      add(row)
    },
  })
  return { rows, further, warnings: [...warnings] }
}

/** True if a row can be a header: no cell is empty, a number or a date, and no two are equal. */
function isHeader(row: readonly string[]): boolean {
  const names = row.slice(0, maxColumns).map((cell) => cell.trim())
  return new Set(names).size === names.length && names.every((name) => name !== '' && !numberLike.test(name))
}

/** Returns the delimiter that the parser detects at the beginning, or else a comma. */
function delimiterOf(text: string): string {
  const { meta } = Papa.parse(text.slice(0, 64 * 1024), { preview: 20, skipEmptyLines: 'greedy' })
  return meta.delimiter || ','
}
