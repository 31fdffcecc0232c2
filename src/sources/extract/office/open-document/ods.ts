import type { Anchor, Extractor } from '../../../extracted.ts'
import { ExtractionError } from '../../../extracted.ts'
import { plainLine } from '../../markdown/inline-text.ts'
import { type LargeTable, withLargeTables } from '../../markdown/table-rows.ts'
import { OdfPackage } from './odf-package.ts'
import { OdsReader } from './ods-reader.ts'

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
