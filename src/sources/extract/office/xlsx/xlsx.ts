import { type Anchor, type ExtractInput, type Extraction, ExtractionError } from '../../../extracted.ts'
import { plainLine } from '../../markdown/escape-markdown.ts'
import { DataTable } from '../../markdown/markdown-table.ts'
import { FurtherColumns, type LooseRows, Room, withLooseRows } from '../../markdown/table-rows.ts'
import { child, isTrue, scanElements, type XmlAttributes, type XmlElement } from '../../xml.ts'
import { type ChartTable, chartBlocks } from '../drawing-text.ts'
import { OfficePackage } from '../office-package.ts'
import { textBoxesOf } from '../pptx/pptx-shapes.ts'
import { shownRuns } from '../shown-runs.ts'
import { formatNumber } from './xlsx-number-format.ts'
import { type CellComment, maxCell, readWorkbook, richText, unescapeText, type Workbook } from './xlsx-workbook.ts'

/** Maximum characters of Markdown, beyond which further sheets are left out. */
const maxCharacters = 16 * 2 ** 20

/**
 * Reads a workbook (ECMA-376 Part 1, SpreadsheetML): a section for each visible sheet, its regions as tables, with the values of formulas
 * as saved, and the comments on cells. Rows and columns that tables leave out follow for search. Leaves out hidden sheets, rows and columns
 * and reports them.
 * @throws {ExtractionError}
 */
export async function extractXlsx({ file }: ExtractInput): Promise<Extraction> {
  const document = await OfficePackage.open(
    file,
    (name) => !/xl\/(?:theme|media|threadedComments|persons)\//i.test(name),
  )
  const workbook = readWorkbook(document)
  const anchors: Anchor[] = []
  const lines: string[] = []
  const shown: string[] = []
  const warnings: string[] = []
  const loose: LooseRows[] = []
  const room = new Room()
  let characters = 0
  const shownSheets = new Set(workbook.sheets.filter(({ hidden }) => !hidden).map(({ name }) => name))
  for (const { name, hidden, part, charts, drawings, comments } of workbook.sheets) {
    if (hidden) warnings.push(`The hidden sheet "${name}" was left out.`)
    else if (part === undefined) warnings.push(`The file lacks its sheet "${name}".`)
    else if (characters > maxCharacters) warnings.push(`The sheet "${name}" was left out: the workbook is too large.`)
    else {
      const sheet = readSheet(part, workbook, room)
      warnings.push(...warningsOf(name, sheet))
      shown.push(sheet.shown, ...drawings.map((drawing) => shownRuns(document, drawing)))
      loose.push(...sheet.summarized.flatMap((table) => table.loose(`A table of the sheet "${name}"`, name)))
      loose.push(...sheet.further.loose(`The columns beyond IV of the sheet "${name}"`, `${name}: columns beyond IV`))
      const told = comments().filter(({ cell }) => sheet.isShown(cell))
      const blocks = [
        ...sheet.blocks,
        ...drawings.flatMap((drawing) => textBoxesOf(document, drawing)),
        ...charts.flatMap((chart) => blocksOf(chart, shownSheets)),
        ...(told.length === 0 ? [] : ['**Comments**', told.map(commentLine).join('\n')]),
      ]
      if (blocks.length === 0) continue
      anchors.push({ line: lines.length + 1, sheet: name })
      for (const block of [`## ${plainLine(name)}`, ...blocks]) {
        characters += block.length
        lines.push(...block.split('\n'), '')
      }
    }
  }
  if (anchors.length === 0) throw new ExtractionError('empty', 'The workbook has no values on sheets that are shown.')
  const { warnings: ofTables, ...text } = withLooseRows(lines.join('\n').trimEnd(), loose)
  return { title: document.title(), ...text, anchors, warnings: [...warnings, ...ofTables], shown: shown.join('\n') }
}

function commentLine({ cell, author, text }: CellComment): string {
  return `- ${cell}${author === '' ? '' : `, ${plainLine(author)}`}: ${plainLine(text)}`
}

/** Returns the blocks of a chart. If the cells with its values are visible, its title is enough. */
function blocksOf(chart: ChartTable, shown: ReadonlySet<string>): string[] {
  const sheets = chart.references.map((reference) => /^'?(.*?)'?!/s.exec(reference)?.[1]?.replaceAll("''", "'") ?? '')
  const isShown = sheets.length > 0 && sheets.every((sheet) => shown.has(sheet))
  return chartBlocks(isShown ? { ...chart, rows: [] } : chart)
}

function warningsOf(name: string, { hiddenRows, hiddenColumns, unsaved }: SheetText): string[] {
  const of = `of the sheet "${name}"`
  return [
    ...(hiddenRows > 0 ? [`${hiddenRows} hidden rows ${of} were left out.`] : []),
    ...(hiddenColumns > 0 ? [`${hiddenColumns} hidden columns ${of} were left out.`] : []),
    ...(unsaved > 0
      ? [`${unsaved} formulas ${of} have no value: save the file in a program that calculates them.`]
      : []),
  ]
}

const maxColumns = 256
/** Maximum tables of one sheet. The last one takes all further rows. */
const maxTables = 500
/** Maximum rows with a single cell that are read as lines above a table. More of them are a table. */
const maxLines = 20
/** Maximum cells that are filled with the text of a merged cell above. */
const maxFilled = 10_000

type SheetText = {
  blocks: string[]
  /** Texts of the visible cells, before they become tables. */
  shown: string
  hiddenRows: number
  hiddenColumns: number
  further: FurtherColumns
  /** Number of formulas without a value, as written by programs that do not calculate. */
  unsaved: number
  summarized: DataTable[]
  /** True if the row and column of a cell are visible. */
  isShown: (reference: string) => boolean
}

type Region = { lines: string[][]; table: DataTable | undefined; rows: number[] }
type Range = { top: number; left: number; bottom: number }
/** Texts of the cells of a row. */
type RowTexts = {
  cells: string[]
  /** Values of cells whose text cannot be parsed as a number, such as `USD 1,250.50`. */
  numbers: (number | undefined)[]
  /** Texts in columns beyond the maximum of a table. */
  beyond: string[]
}

/** Reads a sheet row by row: regions of rows become tables, or lines of text. */
function readSheet(part: Buffer, workbook: Workbook, room: Room): SheetText {
  const reader = sheetReader(workbook, room)
  scanElements(part, (name) => name === 'row', reader)
  return reader.result()
}

function sheetReader(workbook: Workbook, room: Room) {
  const regions: Region[] = []
  const merged: Range[] = []
  const hidden: { first: number; last: number }[] = []
  const hiddenRows = new Set<number>()
  let hiddenValues = 0
  let unsaved = 0
  const shown: string[] = []
  let lastRow = -2
  let current = -1
  const further = new FurtherColumns(room)

  const open = (name: string, attributes: XmlAttributes): void => {
    if (name === 'col' && isTrue(attributes.hidden)) {
      hidden.push({ first: Number(attributes.min) - 1, last: Number(attributes.max) - 1 })
    } else if (name === 'mergeCell' && merged.length < maxFilled) merged.push(rangeOf(attributes.ref ?? ''))
  }

  const element = ({ attributes, children }: XmlElement): void => {
    current = attributes.r === undefined ? current + 1 : Number(attributes.r) - 1
    const isHidden = isTrue(attributes.hidden)
    if (isHidden) hiddenRows.add(current)
    const row = textsOf(children)
    if (row.cells.length + row.beyond.length === 0) return
    if (isHidden) hiddenValues++
    else addRow(row)
  }

  const close = (): void => {}

  function result(): SheetText {
    fillMerged()
    const summarized = regions.flatMap(({ table }) => (table?.isSummarized ? [table] : []))
    return {
      blocks: regions.flatMap(({ lines, table }) => [
        ...lines.map((line) => plainLine(line.join(''))),
        ...(table?.blocks() ?? []),
      ]),
      shown: shown.join('\n'),
      hiddenRows: hiddenValues,
      hiddenColumns: hidden.reduce((sum, { first, last }) => sum + Math.min(last, maxColumns) - first + 1, 0),
      further,
      unsaved,
      summarized,
      isShown: (reference) => {
        const { top, left } = rangeOf(reference)
        return !hiddenRows.has(top) && !isHiddenColumn(left)
      },
    }
  }

  function isHiddenColumn(column: number): boolean {
    return hidden.some(({ first, last }) => column >= first && column <= last)
  }

  function textsOf(row: readonly XmlElement[]): RowTexts {
    const texts: RowTexts = { cells: [], numbers: [], beyond: [] }
    let column = -1
    for (const cell of row) {
      if (cell.name !== 'c') continue
      const { r: reference, t: type } = cell.attributes
      column = reference === undefined ? column + 1 : columnOf(reference)
      const value = (child(cell, 'v')?.text ?? richText(child(cell, 'is'))).slice(0, maxCell)
      // A formula of text that gives an empty one has a type.
      if (value === '' && type === undefined && child(cell, 'f') !== undefined) unsaved++
      if (value === '' || isHiddenColumn(column)) continue
      const { text, number } = readCell(cell.attributes, value)
      texts.numbers[column] = number
      const shown = text.slice(0, maxCell).trim()
      if (shown === '') continue
      if (!(column >= 0 && column < maxColumns)) texts.beyond.push(shown)
      else {
        while (texts.cells.length < column) texts.cells.push('')
        texts.cells[column] = shown
      }
    }
    return texts
  }

  function readCell({ t: type, s: style }: XmlAttributes, value: string): { text: string; number?: number } {
    if (type === 's') return { text: workbook.strings[Number(value)] ?? '' }
    if (type === 'b') return { text: value === '1' || value === 'true' ? 'TRUE' : 'FALSE' }
    if (type === 'd') return { text: value.replace(/(?:T00:00:00)?(?:\.0+)?Z?$/, '') }
    if (type === 'str' || type === 'inlineStr') return { text: unescapeText(value) }
    const number = type === 'e' ? Number.NaN : Number(value)
    if (Number.isNaN(number)) return { text: value }
    const format = workbook.formats[Number(style ?? 0)] ?? { kind: 'general' }
    const text = formatNumber(number, format, workbook.is1904)
    return format.kind === 'number' && !format.isPercent ? { text, number } : { text }
  }

  function addRow({ cells, numbers, beyond }: RowTexts): void {
    // Beyond it, a warning counts the rows that are left out.
    if (room.bytes > 0) shown.push(cells.join('\n'), beyond.join('\n'))
    further.add(cells.find((cell) => cell !== '') ?? '', beyond)
    if (cells.length === 0) return
    let region = regions.at(-1)
    if (region === undefined || (isApart(region) && regions.length < maxTables)) {
      region = { lines: [], table: undefined, rows: [] }
      regions.push(region)
    }
    lastRow = current
    const isLine = region.table === undefined && cells.filter((cell) => cell !== '').length === 1
    if (isLine && region.lines.length < maxLines) {
      region.lines.push(cells)
      return
    }
    if (region.table === undefined) {
      region.table = new DataTable(room)
      if (isLine) {
        for (const [at, line] of region.lines.entries()) {
          region.table.add(line)
          region.rows.push(current - region.lines.length + at)
        }
        region.lines = []
      }
    }
    region.table.add(cells, numbers)
    // Rows that the table does not keep need no place.
    if (!region.table.isSummarized) region.rows.push(current)
  }

  /** True if the row begins another region. A single blank row separates the header of a table, but does not end the table. */
  function isApart({ table }: Region): boolean {
    const blankRows = current - lastRow - 1
    return blankRows > 1 || (blankRows === 1 && !(table !== undefined && table.size < 2))
  }

  /** Fills vertically merged cells, so that each row has all of its values. */
  function fillMerged(): void {
    let filled = 0
    for (const { top, left, bottom } of merged) {
      for (const { table, rows } of regions) {
        const first = rows.indexOf(top)
        const text = first < 0 ? undefined : table?.cell(first, left)
        if (!text) continue
        for (let at = first + 1; at < rows.length && (rows[at] ?? 0) <= bottom && filled < maxFilled; at++, filled++) {
          table?.fill(at, left, text)
        }
      }
    }
  }

  return { open, element, close, result }
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
