import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExtractionError } from '../../src/sources/extracted.ts'
import { workFolder } from '../support/measure.ts'
import { compareTexts } from './compare.ts'
import { measureDocument } from './measure-document.ts'
import { plainMarkdown } from './plain-markdown.ts'
import { type DocumentFigures, measureFolder } from './real-documents.ts'
import { documentHead, documentRow, summaryHead, summaryRow, targetHead, targetRow } from './tables.ts'
import { type Target, targets } from './targets.ts'

const rounds = 3

const folders = process.argv.slice(2)
if (folders.length === 0) {
  console.log(targetHead)
  for (const target of targets) console.log(await measureTarget(target, workFolder()))
}
const documents: DocumentFigures[] = []
for (const folder of folders) {
  console.log(`\n## ${folder}\n\n${documentHead}`)
  for await (const document of measureFolder(folder)) {
    documents.push(document)
    console.log(documentRow(document))
  }
}
if (documents.length > 0) {
  console.log(`\n## By type\n\n${summaryHead}`)
  for (const [type, group] of Map.groupBy(documents, ({ type }) => type)) console.log(summaryRow(type, group))
}

async function measureTarget(target: Target, folder: string): Promise<string> {
  const file = join(folder, `document.${target.type}`)
  writeFileSync(file, await target.bytes())
  const measured = await measureDocument(file, rounds)
  const { outcome } = measured
  const isComparable = !(outcome instanceof ExtractionError) && target.reference !== undefined
  const agreement = isComparable ? compareTexts(plainMarkdown(outcome.markdown), target.reference ?? '') : undefined
  return targetRow(target, statSync(file).size, measured, agreement)
}
