import { unixLines } from '../rules/text/line-endings.ts'
import { withoutComments } from './comments.ts'
import type { NeuronFile } from './file/neuron-file.ts'
import { linesOf } from './parse/split-blocks.ts'

/** Matches the Excalidraw plugin's data in a drawing's page: from one of these headings to the end. */
const drawingData = /^#{1,6}[ \t]+(?:Excalidraw Data|Text Elements|Element Links|Embedded Files|Drawing)[ \t]*$/im
/** Matches the plugin's notice for people who open the page elsewhere. */
const drawingBanner = /^==⚠.*$/m

/**
 * Returns the part of a Neuron's content that readers see and that is searched and linked: all but Obsidian's comments and the data of an
 * Excalidraw drawing. Keeps line numbers; lines end in LF. Curators see all of the content.
 */
export function shownContent({ content, extra }: Pick<NeuronFile, 'content' | 'extra'>): string {
  const written = unixLines(content)
  const shown = withoutComments('excalidraw-plugin' in extra ? withoutDrawing(written) : written)
  return shown === written ? written : shown.trimEnd()
}

/** Returns the lines of a content that are hidden from readers, wholly or in part. */
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
