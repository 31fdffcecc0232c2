import type { XmlAttributes } from './office-xml.ts'

/** What stands around the parts of an equation (Office Math, ECMA-376 Part 1, 22.1) on one line. */
const marks: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['num', ['(', ')/']],
  ['den', ['(', ')']],
  ['sup', ['^(', ')']],
  ['sub', ['_(', ')']],
  ['rad', ['√(', ')']],
  ['d', ['(', ')']],
  ['mr', [' ', ';']],
])

/** An equation as text on a line, such as `(a)/(b)`. */
export class EquationText {
  #text = ''
  #isText = false

  open(name: string, attributes: XmlAttributes): void {
    this.#text += marks.get(name)?.[0] ?? ''
    if (name === 't') this.#isText = true
    if (name === 'chr') this.#text += attributes['m:val'] ?? ''
  }

  text(text: string): void {
    if (this.#isText) this.#text += text
  }

  close(name: string): void {
    this.#text += marks.get(name)?.[1] ?? ''
    if (name === 't') this.#isText = false
  }

  result(): string {
    // Short parts need no brackets.
    return this.#text.replace(/[_^]\(\)/g, '').replace(/\(([\p{L}\p{N}])\)/gu, '$1')
  }
}
