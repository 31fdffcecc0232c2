import { isTrue, scanXml, type XmlAttributes, type XmlEvents } from '../xml.ts'
import type { OfficePackage } from './office-package.ts'

/** Types of parts whose text is shown with that of the part that refers to them. */
const shownParts = new Set(['footnotes', 'endnotes', 'notesSlide', 'diagramData'])
/** Elements whose text is not shown, such as revisions and alternatives for older programs. Equations are shown in another notation. */
const unshown = new Set(['del', 'moveFrom', 'Fallback', 'rt', 'oMath'])
const wordEnds = new Set(['p', 'tc', 'br', 'cr', 'tab', 'noBreakHyphen'])
/** Placeholders that each slide repeats: its number, the date, header and footer. */
export const furniture: ReadonlySet<string | undefined> = new Set(['sldNum', 'dt', 'ftr', 'hdr'])

/**
 * Returns the text runs of a text document or a slide as they stand in its XML. Leaves out only what the format declares to be hidden
 * or repeated, so that the text tells what the extractor dropped. `contents`: styles of paragraphs in tables of contents.
 */
export function shownRuns(document: OfficePackage, name: string, contents: ReadonlySet<string> = new Set()): string {
  const related = document.relationships(name).filter(({ type, external }) => shownParts.has(type) && !external)
  const runs = new ShownRuns(contents)
  for (const { target } of [{ target: name }, ...related]) {
    const part = document.part(target)
    if (part !== undefined) scanXml(part, runs)
  }
  return runs.texts.join('')
}

class ShownRuns implements XmlEvents {
  readonly texts: string[] = []
  readonly #contents: ReadonlySet<string>
  readonly #path: string[] = []
  /** Depth of the element that is not shown; 0 if all is shown. */
  #unshownAt = 0

  constructor(contents: ReadonlySet<string>) {
    this.#contents = contents
  }

  readonly open = (name: string, attributes: XmlAttributes): void => {
    this.#path.push(name)
    if (this.#unshownAt > 0) return
    const element = this.#unshownElement(name, attributes)
    if (element !== undefined) this.#unshownAt = this.#path.lastIndexOf(element) + 1
    else if (wordEnds.has(name)) this.texts.push('\n')
  }

  readonly text = (text: string): void => {
    if (this.#unshownAt === 0 && this.#path.at(-1) === 't') this.texts.push(text)
  }

  readonly close = (): void => {
    if (this.#path.length === this.#unshownAt) this.#unshownAt = 0
    this.#path.pop()
  }

  /** Returns the name of the innermost open element that the element says is not shown. */
  #unshownElement(name: string, attributes: XmlAttributes): string | undefined {
    const value = attributes['w:val']
    if (name === 'del' && this.#path.at(-2) === 'trPr') return 'tr'
    if (name === 'vanish' && this.#path.at(-3) === 'r') return value === undefined || isTrue(value) ? 'r' : undefined
    if (name === 'pStyle') return this.#contents.has(value ?? '') ? 'p' : undefined
    if (name === 'ph') return furniture.has(attributes.type) ? this.#path.at(-4) : undefined
    if (name === 'cNvPr') return isTrue(attributes.hidden) ? this.#path.at(-3) : undefined
    return unshown.has(name) ? name : undefined
  }
}
