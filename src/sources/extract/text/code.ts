import { parseJson } from '../../../contract/json.ts'
import { ExtractionError, type Extractor } from '../../extracted.ts'
import { readText } from '../encoding/read-text.ts'
import { fencedCode } from './fenced-code.ts'

/** JSON and XML as the text that they are; JSON is indented. Nothing in it is loaded, and no entity is expanded. */
export const extractCode: Extractor = async ({ file, fileType }) => {
  const { text, doubts } = await readText(file)
  if (text.trim() === '') throw new ExtractionError('empty', 'The file is empty.')
  if (fileType === 'xml' && !/^\s*</.test(text)) throw new ExtractionError('wrong-type', 'The file is not XML.')
  const value = fileType === 'json' ? parseJson(text) : undefined
  const isBroken = fileType === 'json' && value === undefined
  return {
    title: undefined,
    markdown: fencedCode(value === undefined ? text : JSON.stringify(value, undefined, 2), fileType),
    anchors: [],
    warnings: isBroken ? ['The file is not valid JSON: its text was taken as it is.'] : [],
    doubts,
  }
}
