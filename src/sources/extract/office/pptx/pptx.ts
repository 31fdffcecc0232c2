import type { Anchor, ExtractInput, Extraction } from '../../../extracted.ts'
import { ExtractionError } from '../../../extracted.ts'
import { plainLine } from '../../markdown/escape-markdown.ts'
import { child, descendants, isTrue, relationshipId } from '../../xml.ts'
import { paragraphsOf } from '../drawing-text.ts'
import { OfficePackage } from '../office-package.ts'
import { shownRuns } from '../shown-runs.ts'
import { shapesOf } from './pptx-shapes.ts'

const maxSlides = 2_000

/**
 * Reads a presentation (ECMA-376 Part 1, PresentationML): a section for each slide, in the order of the show, with the text of its shapes,
 * and the speaker's notes as a quotation. Leaves out hidden slides and reports them.
 * @throws {ExtractionError}
 */
export async function extractPptx({ file }: ExtractInput): Promise<Extraction> {
  const document = await OfficePackage.open(file, (name) => !/(?:theme|slideMasters|slideLayouts)\//i.test(name))
  const names = slideNames(document)
  const anchors: Anchor[] = []
  const lines: string[] = []
  const shown: string[] = []
  const hidden: number[] = []
  const missing: number[] = []
  let firstTitle: string | undefined
  for (const [at, name] of names.entries()) {
    const slide = document.xml(name)
    if (slide === undefined) missing.push(at + 1)
    else if (slide.attributes.show !== undefined && !isTrue(slide.attributes.show)) hidden.push(at + 1)
    else {
      const { title, blocks } = shapesOf(document, name, slide)
      const notes = notesOf(document, name)
      shown.push(shownRuns(document, name))
      firstTitle ??= title
      anchors.push({ line: lines.length + 1, slide: at + 1 })
      const heading = `## ${title === undefined ? `Slide ${at + 1}` : plainLine(title)}`
      for (const block of [heading, ...blocks, ...notes]) lines.push(...block.split('\n'), '')
    }
  }
  if (anchors.length === 0) throw new ExtractionError('empty', 'The presentation has no slides that are shown.')
  const warnings = [
    ...(hidden.length > 0 ? [`Hidden slides were left out: ${hidden.join(', ')}.`] : []),
    ...(missing.length > 0 ? [`Slides that the file lacks: ${missing.join(', ')}.`] : []),
  ]
  const markdown = lines.join('\n').trimEnd()
  return { title: document.title() ?? firstTitle, markdown, anchors, warnings, shown: shown.join('\n') }
}

/** Returns the part names of all slides in the order of the show, which differs from that of the names. */
function slideNames(document: OfficePackage): string[] {
  const main = document.main()
  const presentation = document.xml(main)
  if (presentation?.name !== 'presentation') {
    throw new ExtractionError('wrong-type', 'The file is an Office document, but no presentation.')
  }
  const targets = new Map(document.relationships(main).map(({ id, target }) => [id, target]))
  const slides = child(presentation, 'sldIdLst')?.children ?? []
  if (slides.length > maxSlides) {
    throw new ExtractionError('too-large', `The presentation has more than ${maxSlides} slides.`)
  }
  return slides.map(({ attributes }) => targets.get(relationshipId(attributes) ?? '') ?? '')
}

function notesOf(document: OfficePackage, slide: string): string[] {
  const name = document.relationships(slide).find(({ type }) => type === 'notesSlide')?.target
  const links = name === undefined ? [] : document.relationships(name)
  const body = descendants(name === undefined ? undefined : document.xml(name), 'sp').find((shape) =>
    descendants(shape, 'ph').some(({ attributes }) => attributes.type === 'body'),
  )
  const paragraphs = descendants(body, 'txBody').flatMap((text) => paragraphsOf(text, links))
  if (paragraphs.length === 0) return []
  return [`> **Notes**\n>\n${paragraphs.map(({ markdown }) => `> ${markdown}`).join('\n>\n')}`]
}
