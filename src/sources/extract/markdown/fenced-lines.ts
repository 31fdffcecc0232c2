import { columnsOf } from '../../../markdown/parse/split-blocks.ts'
import { closesFence, fenceMarker } from '../../../rules/text/fence.ts'

/** Open container: a quote, or a list item with the kind of its list and the indentation of its content. */
type Container = { kind: string; width: number; isEmpty: boolean }

type Leaf =
  | { is: 'nothing' | 'indented code' }
  | { is: 'fenced code'; marker: string }
  /** Paragraph. `isBracket`: it may begin with a definition. `isTable`: it may be a table. */
  | { is: 'paragraph'; isBracket: boolean; isTable: boolean }

/** Certainty about what is open. Without knowledge of the containers, it may still be known whether a fence is open. */
type Knowledge = 'all' | 'no fence' | 'nothing'

const maxDepth = 20
const nothing: Leaf = { is: 'nothing' }

const heading = /^#{1,6}(?:[ \t]|$)/
const underline = /^(?:=+|-+)[ \t]*$/
const rule = /^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
const item = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/
const footnote = /^\[\^.*\]:/s
const anyFence = /```|~~~/

/**
 * Returns which lines of Markdown are fenced code (CommonMark, GFM). HTML is text here. Takes linear time.
 * Follows the parsing strategy in CommonMark's appendix: which open containers continue, which begin, and what the rest of the line is.
 * The open containers are unknown where parsers differ, until a line that ends all of them. If a fence comes before such a line, no later
 * line counts as fenced.
 */
export function fencedLines(lines: readonly string[]): boolean[] {
  const scan = new FenceScan()
  return lines.map((line) => scan.take(line))
}

class FenceScan {
  #containers: Container[] = []
  #leaf: Leaf = nothing
  #knows: Knowledge = 'all'
  #isAfterBlank = true
  /** Number of containers that continue in this line. */
  #matched = 0

  take(line: string): boolean {
    const isFenced = this.#isFenced(line)
    this.#isAfterBlank = /^[ \t]*$/.test(line)
    return isFenced
  }

  #isFenced(line: string): boolean {
    if (this.#knows === 'no fence' && (fenceMarker(line) || (this.#isAfterBlank && /^[^ \t]/.test(line))))
      this.#restart()
    if (this.#knows !== 'all') return this.#forget(line)
    const rest = new Rest(line)
    this.#match(rest)
    return this.#leaf.is === 'fenced code' ? this.#takeCode(rest, this.#leaf) : this.#takeText(rest)
  }

  #restart(): void {
    this.#knows = 'all'
    this.#containers = []
    // Micromark does not end it at blank lines.
    this.#leaf = { is: 'indented code' }
  }

  #forget(line: string): false {
    this.#knows = this.#knows === 'nothing' || anyFence.test(line) ? 'nothing' : 'no fence'
    return false
  }

  #match(rest: Rest): void {
    this.#matched = this.#containers.findIndex((container) => !rest.goesOn(container))
    if (this.#matched < 0) this.#matched = this.#containers.length
  }

  #takeCode(rest: Rest, { marker }: Leaf & { is: 'fenced code' }): boolean {
    if (this.#matched < this.#containers.length) {
      this.#closeUnmatched()
      return this.#takeText(rest)
    }
    if (rest.indent < 4 && closesFence(rest.text, marker)) this.#leaf = nothing
    return true
  }

  #takeText(rest: Rest): boolean {
    const isInText = this.#leaf.is !== 'nothing'
    while (!rest.isBlank && rest.indent < 4) {
      const marker = fenceMarker(rest.text)
      if (marker !== undefined) return this.#openFence(marker)
      if (rest.text.startsWith('>')) this.#open(rest.enterQuote())
      else if (this.#isUnderline(rest.text)) return this.#takeUnderline(rest)
      else if (heading.test(rest.text) || rule.test(rest.text)) return this.#closeUnmatched()
      else if (footnote.test(rest.text)) return this.#forget(rest.line)
      else {
        const bullet = item.exec(rest.text)?.[0]
        if (bullet === undefined) break
        if (isInText && this.#isDoubtfulItem(rest.text, bullet)) return this.#forget(rest.line)
        this.#open(rest.enterItem(bullet))
      }
      if (this.#containers.length > maxDepth) return this.#forget(rest.line)
    }
    return this.#takeLeaf(rest)
  }

  #open(container: Container): void {
    this.#closeUnmatched()
    this.#containers.push(container)
    this.#matched++
  }

  #openFence(marker: string): true {
    this.#closeUnmatched({ is: 'fenced code', marker })
    return true
  }

  #isUnderline(text: string): boolean {
    return this.#leaf.is === 'paragraph' && this.#matched === this.#containers.length && underline.test(text)
  }

  /**
   * Ends a paragraph at an underline. Definitions alone cannot be underlined, and below the head of a table, micromark may read the line as
   * an item.
   */
  #takeUnderline({ line }: Rest): false {
    if (this.#leaf.is === 'paragraph' && (this.#leaf.isBracket || this.#leaf.isTable)) return this.#forget(line)
    this.#leaf = nothing
    return false
  }

  /**
   * True if a marker may be paragraph text: the item is empty, or its number is not 1. After code and tables, micromark applies this rule,
   * too.
   */
  #isDoubtfulItem(text: string, marker: string): boolean {
    const mayInterrupt = /^(?:[-+*]|1[.)])[ \t]+\S/.test(text)
    const isSibling = this.#containers[this.#matched]?.kind === marker.at(-1)
    return !mayInterrupt && !isSibling
  }

  #takeLeaf(rest: Rest): false {
    const isLazy = this.#matched < this.#containers.length
    if (rest.isBlank) {
      const isTable = this.#leaf.is === 'paragraph' && this.#leaf.isTable
      this.#closeUnmatched(isTable || this.#leaf.is === 'indented code' ? { is: 'indented code' } : nothing)
    } else if (this.#leaf.is === 'paragraph') {
      // A row of a table is never a lazy continuation line.
      if (isLazy && this.#leaf.isTable) return this.#forget(rest.line)
      this.#leaf.isTable ||= rest.text.includes('|')
    } else if (rest.indent >= 4) this.#closeUnmatched({ is: 'indented code' })
    else {
      const { text } = rest
      this.#closeUnmatched({ is: 'paragraph', isBracket: text.startsWith('['), isTable: text.includes('|') })
    }
    return false
  }

  #closeUnmatched(leaf: Leaf = nothing): false {
    this.#containers.length = this.#matched
    this.#leaf = leaf
    return false
  }
}

class Rest {
  readonly line: string
  /** Position of the next character that is not blank. */
  #at = 0
  #column = 0
  /** The column where the content of the innermost container begins. */
  #content = 0

  constructor(line: string) {
    this.line = line
    this.#skipTo(0)
  }

  get text(): string {
    return this.line.slice(this.#at)
  }

  get isBlank(): boolean {
    return this.#at === this.line.length
  }

  /** Columns of blanks before the text. */
  get indent(): number {
    return this.#column - this.#content
  }

  /** Returns whether a container continues in the line, and skips the container's part of it. */
  goesOn(container: Container): boolean {
    if (container.kind === '>') {
      if (this.isBlank || this.indent > 3 || this.line[this.#at] !== '>') return false
      this.enterQuote()
    } else if (this.isBlank) return !container.isEmpty
    else {
      if (this.indent < container.width) return false
      this.#content += container.width
      container.isEmpty = false
    }
    return true
  }

  enterQuote(): Container {
    this.#content = this.#column + (/[ \t]/.test(this.line[this.#at + 1] ?? '') ? 2 : 1)
    this.#skipTo(1)
    return { kind: '>', width: 0, isEmpty: false }
  }

  enterItem(marker: string): Container {
    const before = this.#content
    const end = this.#column + marker.length
    this.#skipTo(marker.length)
    const blanks = this.#column - end
    // More than 4 blanks belong to the content, which is then indented code.
    this.#content = this.isBlank || blanks > 4 ? end + 1 : this.#column
    return { kind: marker.at(-1) ?? '', width: this.#content - before, isEmpty: this.isBlank }
  }

  /** Skips a number of characters, and the blanks behind them. */
  #skipTo(characters: number): void {
    this.#at += characters
    while (/[ \t]/.test(this.line[this.#at] ?? '')) this.#at++
    this.#column = columnsOf(this.line.slice(0, this.#at))
  }
}
