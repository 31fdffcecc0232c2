import { readFile } from 'node:fs/promises'
import { ExtractionError, type Extractor } from '../../extracted.ts'
import { maxMarkdownBytes } from '../extract-limits.ts'
import { RtfText } from './rtf-text.ts'

/** Rich Text Format 1.9: its paragraphs, headings, and tables. Pictures, objects and what programs keep for themselves are left out. */
export const extractRtf: Extractor = async ({ file }) => {
  const bytes = await readFile(file)
  const source = bytes.toString('latin1').trimStart()
  if (!source.startsWith('{\\rtf')) throw new ExtractionError('wrong-type', 'The file is not RTF.')
  const { title, markdown, isCut } = new RtfText(maxMarkdownBytes).read(source)
  if (markdown === '') throw new ExtractionError('empty', 'The document has no text.')
  const heading = /^#{1,6} (.+)$/m.exec(markdown)?.[1]
  const warnings = isCut ? ['The file ends in the middle: what is missing was lost.'] : []
  return { title: title ?? heading, markdown, anchors: [], warnings }
}
