import { child, type XmlElement } from '../../xml.ts'

/** Around the number of an item while the document is HTML, which counts each list from 1. */
const [begin, end] = ['\u{F0000}', '\u{F0001}']
const ofFirstItem = new RegExp(`<ol><li>((?:<[a-z]+\\d?>)*)${begin}(\\d{1,9})${end}`, 'gu')
const leftOver = new RegExp(`${begin}\\d*${end}`, 'gu')

/** Counts the items of a document's lists (ECMA-376 Part 1, 17.9): a list may begin anywhere, and go on behind other text. */
export class ListNumbers {
  /** Definition of each numbering, and the first numbers that it overrides, by its id. */
  readonly #lists = new Map<string, { definition: string; restarts: ReadonlyMap<number, number> }>()
  readonly #starts = new Map<string, ReadonlyMap<number, number>>()
  readonly #counts = new Map<string, number[]>()

  constructor(numbering: XmlElement | undefined) {
    for (const element of numbering?.children ?? []) {
      if (element.name === 'abstractNum') {
        this.#starts.set(element.attributes['w:abstractNumId'] ?? '', firstNumbers(element, 'lvl', 'start'))
      } else if (element.name === 'num') {
        const definition = child(element, 'abstractNumId')?.attributes['w:val'] ?? ''
        const restarts = firstNumbers(element, 'lvlOverride', 'startOverride')
        this.#lists.set(element.attributes['w:numId'] ?? '', { definition, restarts })
      }
    }
  }

  /** Returns a mark for the number of the next item. */
  next(list: string, level: number): string {
    const { definition, restarts } = this.#lists.get(list) ?? { definition: list, restarts: new Map() }
    const counts = this.#counts.get(definition) ?? []
    if (restarts.size > 0) {
      for (const [at, start] of restarts) counts[at] = start - 1
      this.#lists.set(list, { definition, restarts: new Map() })
    }
    const number = (counts[level] ?? (this.#starts.get(definition)?.get(level) ?? 1) - 1) + 1
    this.#counts.set(definition, [...counts.slice(0, level), number])
    return `${begin}${number}${end}`
  }
}

function firstNumbers(parent: XmlElement, name: string, start: string): Map<number, number> {
  const levels = parent.children.filter((level) => level.name === name && child(level, start) !== undefined)
  return new Map(
    levels.map((level) => [Number(level.attributes['w:ilvl']), Number(child(level, start)?.attributes['w:val'])]),
  )
}

/** Returns HTML with the first number of each list in place of the marks. */
export function withListStarts(html: string): string {
  return html
    .replace(ofFirstItem, (_, tags: string, number: string) => `<ol start="${number}"><li>${tags}`)
    .replace(leftOver, '')
}
