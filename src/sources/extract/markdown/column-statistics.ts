import { asInlineMarkdown } from './as-inline-markdown.ts'

/** Distinct values that are counted. */
const maxDistinct = 1_000
const maxShown = 5
const maxValue = 60
const number = /^-?\d{1,15}(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i
const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?$/

export class ColumnStatistics {
  filled = 0
  #numbers = 0
  #sum = 0
  #least = Number.POSITIVE_INFINITY
  #greatest = Number.NEGATIVE_INFINITY
  #dates = 0
  #first = ''
  #last = ''
  readonly #counts = new Map<string, number>()
  #isFull = false

  /** @param known the number that the value shows, if its text is not enough to tell */
  add(value: string, known?: number): void {
    if (value === '') return
    this.filled++
    if (known !== undefined || number.test(value)) this.#addNumber(known ?? Number(value))
    else if (date.test(value)) this.#addDate(value)
    // Of too many, none is told as the most frequent.
    if (this.#isFull) return
    const key = value.slice(0, maxValue)
    const count = this.#counts.get(key)
    if (count !== undefined) this.#counts.set(key, count + 1)
    else if (this.#counts.size < maxDistinct) this.#counts.set(key, 1)
    else this.#isFull = true
  }

  /** Filled, distinct, minimum, maximum, mean, most frequent, as Markdown; empty if not applicable. */
  summary(): string[] {
    const distinct = this.#isFull ? `over ${maxDistinct}` : String(this.#counts.size)
    return [String(this.filled), distinct, ...this.#range(), this.#frequent()]
  }

  #range(): [string, string, string] {
    if (this.filled > 0 && this.#numbers === this.filled) {
      const mean = Number((this.#sum / this.#numbers).toPrecision(6))
      return [String(this.#least), String(this.#greatest), String(mean)]
    }
    if (this.filled > 0 && this.#dates === this.filled) return [this.#first, this.#last, '']
    return ['', '', '']
  }

  #frequent(): string {
    if (this.#isFull || this.#counts.size === this.filled) return ''
    const byCount = [...this.#counts].sort((a, b) => b[1] - a[1]).slice(0, maxShown)
    return byCount.map(([value, count]) => `${asInlineMarkdown(value)} (${count})`).join(', ')
  }

  #addNumber(value: number): void {
    this.#numbers++
    this.#sum += value
    this.#least = Math.min(this.#least, value)
    this.#greatest = Math.max(this.#greatest, value)
  }

  #addDate(value: string): void {
    if (this.#dates === 0 || value < this.#first) this.#first = value
    if (this.#dates === 0 || value > this.#last) this.#last = value
    this.#dates++
  }
}
