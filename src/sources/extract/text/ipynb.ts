import { z } from 'zod'
import { parseJson } from '../../../contract/json.ts'
import { ExtractionError, type Extractor } from '../../extracted.ts'
import { readText } from '../encoding/read-text.ts'
import { cleanMarkdown } from '../markdown/clean-markdown.ts'
import { fencedCode } from './fenced-code.ts'

/** Characters of an output beyond which it is data and no longer text. */
const maxOutput = 10_000

/** Lines, or all of them as one text (nbformat 4, multiline strings). */
const Lines = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(''))])
const Output = z.looseObject({
  text: Lines.optional(),
  data: z.looseObject({ 'text/plain': Lines.optional(), 'text/markdown': Lines.optional() }).optional(),
})
const Cell = z.looseObject({
  cell_type: z.string(),
  source: Lines.default(''),
  outputs: z.array(Output.catch({})).default([]),
})
const Notebook = z.looseObject({
  nbformat: z.number(),
  metadata: z
    .looseObject({
      title: z.string().optional().catch(undefined),
      language_info: z.looseObject({ name: z.string() }).optional().catch(undefined),
    })
    .optional(),
  cells: z.array(Cell),
})

/** A Jupyter notebook (nbformat 4): its Markdown, its code, and the text of its outputs; nothing is run. */
export const extractNotebook: Extractor = async ({ file }) => {
  const { text, doubts } = await readText(file)
  const notebook = Notebook.safeParse(parseJson(text))
  if (!notebook.success) throw new ExtractionError('wrong-type', 'The file is no notebook of Jupyter (nbformat 4).')
  const { cells, metadata } = notebook.data
  const language = /^[\w+-]{1,20}$/.exec(metadata?.language_info?.name ?? '')?.[0]
  const warnings = new Set<string>()
  const blocks = cells.flatMap(({ cell_type: type, source, outputs }) => {
    if (type === 'markdown') return [cleanMarkdown(source, 'drop')]
    if (type !== 'code') return source.trim() === '' ? [] : [fencedCode(source)]
    const shown = outputs.flatMap((output) => {
      const whole = (output.text ?? output.data?.['text/markdown'] ?? output.data?.['text/plain'] ?? '').trimEnd()
      if (whole.length > maxOutput) warnings.add(`Outputs were cut to ${maxOutput} characters.`)
      return whole === '' ? [] : ['Output:', fencedCode(whole.slice(0, maxOutput))]
    })
    return [...(source.trim() === '' ? [] : [fencedCode(source, language)]), ...shown]
  })
  const markdown = blocks.join('\n\n')
  const heading = cells.find((cell) => cell.cell_type === 'markdown' && /^#\s+\S/m.test(cell.source))?.source
  const title = metadata?.title ?? /^#\s+(.+)$/m.exec(heading ?? '')?.[1]
  return { title, markdown, anchors: [], warnings: [...warnings], doubts }
}
