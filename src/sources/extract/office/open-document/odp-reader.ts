import { ExtractionError } from '../../../extracted.ts'
import { htmlToMarkdown } from '../../html/html-to-markdown.ts'
import type { XmlAttributes } from '../../xml.ts'
import { OdfHtml } from './odf-html.ts'

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

/** Reads the slides of an OpenDocument presentation as it streams by. */
export class OdpReader {
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
