import type { Anchor, ExtractInput, Extraction } from '../../../extracted.ts'
import { ExtractionError } from '../../../extracted.ts'
import { plainLine } from '../../markdown/escape-markdown.ts'
import { type LooseRows, Room, withLooseRows } from '../../markdown/table-rows.ts'
import { type ChartTable, chartBlocks } from '../drawing-text.ts'
import { OfficePackage } from '../office-package.ts'
import { textBoxesOf } from '../pptx/pptx-shapes.ts'
import { shownRuns } from '../shown-runs.ts'
import { readSheet, type SheetText } from './xlsx-sheet.ts'
import { type CellComment, readWorkbook } from './xlsx-workbook.ts'

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
