import { type Anchor, ExtractionError, type Extractor } from '../../../extracted.ts'
import { htmlToMarkdown } from '../../html/html-to-markdown.ts'
import type { XmlAttributes } from '../../xml.ts'
import { OdfHtml } from './odf-html.ts'
import { OdfPackage } from './odf-package.ts'

const maxSlides = 2_000
/** What stands on every slide, and says nothing of this one. */
const furniture: ReadonlySet<string> = new Set(['page-number', 'date-time', 'footer', 'header'])

type Slide = {
  /** Markdown on one line. */
  title: string | undefined
  /** Markdown. */
  blocks: string[]
  notes: string[]
  isHidden: boolean
}

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

/** Reads the slides of an OpenDocument presentation as it streams by. */
class OdpReader {
  readonly slides: Slide[] = []
  readonly #hiddenStyles = new Set<string>()
  #style = ''
  #slide: Slide | undefined
  #depth = 0
  /** How deep the shape that is open began. */
  #shapeAt = 0
  #class = ''
  #isInNotes = false
  #writer: OdfHtml | undefined

  readonly open = (name: string, attributes: XmlAttributes): void => {
    this.#depth++
    if (this.#writer !== undefined) this.#writer.open(name, attributes)
    else if (this.#slide === undefined) this.#openOutside(name, attributes)
    else if (name === 'notes') this.#isInNotes = true
    else {
      this.#shapeAt = this.#depth
      this.#class = attributes['presentation:class'] ?? ''
      this.#writer = new OdfHtml(undefined)
      this.#writer.open('body', {})
      this.#writer.open(name, attributes)
    }
  }

  readonly text = (text: string): void => {
    this.#writer?.text(text)
  }

  readonly close = (name: string): void => {
    this.#writer?.close(name)
    if (this.#writer !== undefined && this.#depth === this.#shapeAt) this.#endShape(this.#writer)
    else if (name === 'notes' && this.#writer === undefined) this.#isInNotes = false
    else if (name === 'page' && this.#writer === undefined) this.#slide = undefined
    this.#depth--
  }

  #openOutside(name: string, attributes: XmlAttributes): void {
    if (name === 'style') this.#style = attributes['style:name'] ?? ''
    else if (name === 'drawing-page-properties' && attributes['presentation:visibility'] === 'hidden') {
      this.#hiddenStyles.add(this.#style)
    } else if (name === 'page') {
      if (this.slides.length >= maxSlides) {
        throw new ExtractionError('too-large', `The presentation has more than ${maxSlides} slides.`)
      }
      const isHidden = this.#hiddenStyles.has(attributes['draw:style-name'] ?? '')
      this.#slide = { title: undefined, blocks: [], notes: [], isHidden }
      this.slides.push(this.#slide)
    }
  }

  #endShape(writer: OdfHtml): void {
    const slide = this.#slide
    this.#writer = undefined
    if (slide === undefined || slide.isHidden || furniture.has(this.#class)) return
    const markdown = htmlToMarkdown(joinedLists(writer.html()))
    if (markdown === '') return
    if (this.#isInNotes) slide.notes.push(markdown)
    else if (this.#class === 'title' && slide.title === undefined) {
      slide.title = markdown.replace(/^#+ /gm, '').replace(/\s+/g, ' ')
    } else slide.blocks.push(markdown)
  }
}

/** Programs write a list for each of its items. */
function joinedLists(html: string): string {
  return html.replace(/<\/(ul|ol)><\1>/g, '')
}
