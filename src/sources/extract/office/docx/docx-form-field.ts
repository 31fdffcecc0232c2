import { isTrue, type XmlAttributes } from '../../xml.ts'

/** The data of a field of a form (ECMA-376 Part 1, 17.16.17) whose value does not stand in the text: a box, or a list. */
export class FormField {
  #kind: 'box' | 'list' | undefined
  #default: string | undefined
  #chosen: string | undefined
  readonly #entries: string[] = []

  open(name: string, attributes: XmlAttributes): void {
    const value = attributes['w:val']
    if (name === 'checkBox') this.#kind = 'box'
    else if (name === 'ddList') this.#kind = 'list'
    else if (name === 'default') this.#default = value ?? '1'
    else if (name === 'checked' || name === 'result') this.#chosen = value ?? '1'
    else if (name === 'listEntry') this.#entries.push(value ?? '')
  }

  /** The chosen value; empty if the value is text, which follows. */
  value(): string {
    const chosen = this.#chosen ?? this.#default
    if (this.#kind === 'box') return isTrue(chosen) ? '☒' : '☐'
    return this.#kind === 'list' ? (this.#entries[Number(chosen ?? 0)] ?? '') : ''
  }
}
