import { unixLines } from '../rules/text/line-endings.ts'
import { withoutComments } from './comments.ts'
import type { NeuronFile } from './file/neuron-file.ts'
import { linesOf } from './parse/split-blocks.ts'

/** What the Excalidraw plugin keeps in a drawing's page: it begins with one of these headings, and goes on to the end. */
const drawingData = /^#{1,6}[ \t]+(?:Excalidraw Data|Text Elements|Element Links|Embedded Files|Drawing)[ \t]*$/im
/** Its note to who opens the page elsewhere. */
const drawingBanner = /^==⚠.*$/m

/**
 * What readers may see of a Neuron's content, and what is searched and linked: all but Obsidian's comments and the data of an
 * Excalidraw drawing. Lines keep their numbers, and end in LF. Curators see all of the content.
 */
export function shownContent({ content, extra }: Pick<NeuronFile, 'content' | 'extra'>): string {
  const written = unixLines(content)
  const shown = withoutComments('excalidraw-plugin' in extra ? withoutDrawing(written) : written)
  return shown === written ? written : shown.trimEnd()
}

/** The lines of a content of which readers see nothing, or a part. */
export function hiddenLines(file: Pick<NeuronFile, 'content' | 'extra'>): string[] {
  const content = shownContent(file)
  if (content === unixLines(file.content)) return []
  const shown = linesOf(content).map(({ text }) => text.trimEnd())
  const lines = linesOf(file.content).map(({ text }) => text.trimEnd())
  return lines.filter((line, at) => line !== (shown[at] ?? ''))
}

function withoutDrawing(content: string): string {
  const end = drawingData.exec(content)?.index ?? content.length
  return content.slice(0, end).replace(drawingBanner, '')
}
