import { closesFence, fenceMarker } from '../../rules/text/fence.ts'
import { columnsOf, linesOf } from './split-blocks.ts'

/** Maximum characters of a text that is parsed at once. */
const maxLength = 256 * 1024
/** Maximum number of quotes and list items that begin on one line: each is a level of the parser's stack. */
const maxDepth = 100
/** Maximum product of special characters and characters: some seconds of micromark on a slow machine. */
const maxCost = 5e7
/** Maximum number of paragraphs, items, headings, rows and links: each takes micromark some 10 KB of memory, and a thread has 256 MB. */
const maxPieces = 15_000
/** Number of special characters below which they cost less than the characters around them. */
const fewSpecials = 200
/** Cost of two nested blocks, relative to a special character times a character. */
const nestingFactor = 5

/**
 * Characters up to which only the depth counts: the cost is at most the square of the characters, once for lazy lines, once for special
 * characters, and {@link nestingFactor} times for nesting.
 */
const cheapLength = Math.sqrt(maxCost / (2 + nestingFactor)) - 1
const depthMarker = /[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/y
const mayBeDeep = new RegExp(`^(?:${depthMarker.source}){${maxDepth}}`, 'm')
const quotes = /^(?: {0,3}> ?)+/
const item = /^(?:([-+*])|(\d{1,9})([.)]))([ \t]+|$)/
const heading = /^#{1,6}[ \t]/
const html = /^[\s>*+\-\d.)]*</
const delimiterRow = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/
const simpleLink = /(?<!\\)\[\[[^[\]*_~<>]*\]\]|\[[^[\]*_~<>]*\]\([^\s()[\]*_~<>]*\)/g
/** Matches characters that open or close inline constructs, and lines that may turn the paragraph before into another block. */
const special = /[*_~[\]<>]|^[-=]+[ \t]*$/g

/** Open list item: the column of its content, and its kind of list. */
type Level = { content: number; kind: string }
/** Line without its quote markers, and the column of its first character. */
type Place = { quote: string; text: string; column: number }

/**
 * True if a text would take the parser too long. Depends on the text alone, so that the answer is the same on every machine and under every
 * load. Takes linear time. micromark takes quadratic time for emphasis, brackets, unclosed HTML and lazy lines: special characters times
 * the characters of the run of text in which they may meet. A run ends with a blank line, and where an item, a heading or a table row
 * begins; in doubt it continues, which overestimates. Lazy lines, and nested lists and quotes, take quadratic time in their number, too.
 * Linear work is bounded by its memory.
 */
export function isTooComplex(source: string): boolean {
  if (source.length > maxLength) return true
  if (source.length <= cheapLength && !mayBeDeep.test(source)) return false
  const counter = new CostCounter()
  for (const { text } of linesOf(source)) {
    if (depthOf(text) > maxDepth) return true
    counter.add(text)
  }
  return counter.end() > maxCost
}

function depthOf(line: string): number {
  let depth = 0
  depthMarker.lastIndex = 0
  while (depthMarker.test(line)) depth++
  return depth
}

const noRun = { specials: 0, length: 0, lines: 0, lazy: 0, first: '' }

class CostCounter {
  #cost = 0
  #run = { ...noRun }
  #levels: Level[] = []
  #quote = ''
  /** Nesting depth of lists and quotes. */
  #nested = 0
  #pieces = 0
  #isTable = false
  #code: { marker: string; content: number } | undefined
  /** True inside HTML, where a line that looks like a fence is none. */
  #hasHtml = false

  add(line: string): void {
    const place = placeOf(line)
    if (this.#isCode(place)) return
    if (place.text === '') {
      this.#endRun()
      return
    }
    this.#hasHtml ||= html.test(line)
    if (this.#beginsBlock(place) || this.#isTable) this.#endRun(this.#isTable)
    const { text } = place
    if (this.#isLazy(place)) this.#run.lazy++
    const unlinked = line.replace(simpleLink, () => {
      this.#pieces++
      return ''
    })
    this.#run.specials += unlinked.match(special)?.length ?? 0
    this.#run.length += line.length + 1
    this.#run.lines++
    if (this.#run.lines === 1) this.#run.first = text
    this.#isTable ||= this.#run.lines === 2 && isTableHead(this.#run.first, text)
  }

  end(): number {
    this.#endRun()
    if (this.#pieces > maxPieces) return Number.POSITIVE_INFINITY
    return this.#cost + nestingFactor * this.#nested ** 2
  }

  #endRun(isTable = false): void {
    const { specials, length, lazy, lines } = this.#run
    if (lines > 0) this.#pieces++
    this.#cost += lazy ** 2 + (specials > fewSpecials ? specials * length : 0)
    this.#run = { ...noRun }
    this.#isTable = isTable
  }

  /** True if a line belongs to a fenced code block, in which nothing is markup. */
  #isCode({ quote, text, column }: Place): boolean {
    if (this.#code === undefined) return false
    const { marker, content } = this.#code
    const isInside = quote === this.#quote && (text === '' || column >= content)
    if (!isInside || (column - content < 4 && closesFence(text, marker))) this.#code = undefined
    return isInside
  }

  /** True if a line is lazy: it continues the paragraph of a quote, an item or a footnote without its marker or indentation. */
  #isLazy({ quote, column }: Place): boolean {
    const content = this.#run.first.startsWith('[^') ? 4 : (this.#levels.at(-1)?.content ?? 0)
    return this.#run.lines > 0 && (quote.length < this.#quote.length || column < content)
  }

  #beginsBlock({ quote, text, column }: Place): boolean {
    const isOpen = this.#run.lines > 0
    if (quote !== this.#quote) {
      // A lazy line continues the paragraph of a quote.
      if (isOpen && quote.length < this.#quote.length && !item.test(text)) return false
      this.#quote = quote
      this.#levels = []
      this.#nested++
    }
    const sibling = this.#levels.find(({ content }) => column < content)?.kind
    if (!isOpen) this.#closeLevels(column)
    if (column - this.#contentAt(column) > 3) return false
    const isItem = this.#beginsItem(text, column, sibling)
    if (!isItem) return this.#beginsCode(text, column) || heading.test(text)
    const rest = text.replace(item, '')
    this.#nested += depthOf(rest)
    this.#beginsCode(rest, this.#levels.at(-1)?.content ?? 0)
    return true
  }

  /** True if a line begins a list item. `sibling`: kind of the list whose item it may follow. */
  #beginsItem(text: string, column: number, sibling: string | undefined): boolean {
    const [marker, bullet, number = '', delimiter = '', blanks = ''] = item.exec(text) ?? []
    if (marker === undefined) return false
    const kind = bullet ?? delimiter
    const isSibling = sibling === kind
    const mayInterrupt = (bullet !== undefined || Number(number) === 1) && text !== marker
    if (this.#run.lines > 0 && !isSibling && !mayInterrupt) return false
    this.#closeLevels(column)
    if (this.#levels.length > 0 && !isSibling) this.#nested++
    const width = marker.length - blanks.length
    this.#levels.push({ content: column + width + (/^ {1,4}$/.test(blanks) ? blanks.length : 1), kind })
    return true
  }

  #beginsCode(text: string, column: number): boolean {
    const marker = fenceMarker(text)
    if (marker === undefined || this.#hasHtml) return false
    this.#code = { marker, content: this.#contentAt(column) }
    return true
  }

  #closeLevels(column: number): void {
    this.#levels = this.#levels.filter(({ content }) => content <= column)
  }

  #contentAt(column: number): number {
    return this.#levels.findLast(({ content }) => content <= column)?.content ?? 0
  }
}

function placeOf(line: string): Place {
  const quote = quotes.exec(line)?.[0] ?? ''
  const rest = line.slice(quote.length)
  const text = rest.trimStart()
  const column = columnsOf(rest.slice(0, rest.length - text.length))
  return { quote: quote.replace(/[^>]/g, ''), text: text.trimEnd(), column }
}

function isTableHead(head: string, delimiters: string): boolean {
  return delimiters.includes('|') && delimiterRow.test(delimiters) && cellsOf(head) === cellsOf(delimiters)
}

function cellsOf(row: string): number {
  return row
    .replace(/\\\|/g, '')
    .replace(/^\||\|$/g, '')
    .split('|').length
}
