import { type Anchor, ExtractionError, type Extractor } from '../../../extracted.ts'
import { OdfPackage } from './odf-package.ts'
import { OdpReader } from './odp-reader.ts'

/** A presentation (OpenDocument): a section for each slide, with its notes as a quotation. Hidden slides are left out, and named. */
export const extractOdp: Extractor = async ({ file }) => {
  const document = await OdfPackage.open(file, 'presentation')
  const reader = new OdpReader()
  document.scan(reader)
  const lines: string[] = []
  const anchors: Anchor[] = []
  const shown = reader.slides.flatMap((slide, at) => (slide.isHidden ? [] : [{ ...slide, number: at + 1 }]))
  for (const { number, title, blocks, notes } of shown) {
    anchors.push({ line: lines.length + 1, slide: number })
    const quoted = notes.length === 0 ? [] : [`> **Notes**\n>\n${notes.join('\n\n').replace(/^/gm, '> ')}`]
    for (const block of [`## ${title ?? `Slide ${number}`}`, ...blocks, ...quoted]) lines.push(...block.split('\n'), '')
  }
  if (anchors.length === 0) throw new ExtractionError('empty', 'The presentation has no slides that are shown.')
  const hidden = reader.slides.flatMap(({ isHidden }, at) => (isHidden ? [at + 1] : []))
  return {
    title: document.title() ?? shown.find(({ title }) => title !== undefined)?.title,
    markdown: lines.join('\n').trimEnd(),
    anchors,
    warnings: hidden.length > 0 ? [`Hidden slides were left out: ${hidden.join(', ')}.`] : [],
  }
}
