import { isOutwardLink } from './outward-link.ts'

const special = /[\\`<\]![]/g
const suspicious = /`|<[A-Za-z/!?]|\]\(|!\[|\]:/
const definition = /^[ >]*\[(?!\^)(?:[^[\]\\]|\\.){1,999}\]:[ \t]*(?:<([^<>]*)>|(\S*))/
const destination =
  /\([ \t]*(?:<([^<>]*)>|([^\s()<]*(?:\([^\s()]*\)[^\s()]*)*))(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*\)/y
const definedUrl = /:[ \t]*<?([^\s>]*)/y
const autolink = /<([^\s<>]*)>/y
/** What becomes a link by itself; it ends with white space or `<`. */
const bareAddress = /(?:https?:\/\/|www\.)[^\s<]*/gi
const mailAddress = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/
const wholeTag =
  /<(?:\/?[A-Za-z][\w:-]{0,60}(?:[^<>"']|"[^"]{0,999}"|'[^']{0,999}'){0,999}|!--.{0,9999}?--|[!?][^<>]{0,999})>/y
/** A bracket may be taken back, so what is behind it counts too. */
const tagStart = /<[A-Za-z/!?[]/y

/** What becomes of tags in Markdown: `escape` shows them as text. */
export type OwnHtml = 'escape' | 'drop'

/**
 * One line of Markdown that is not in a fence, without HTML, images and links to elsewhere than `isOutwardLink` allows. What spans
 * lines is judged by its lines alone. Takes linear time.
 */
export function cleanLine(line: string, html: OwnHtml): string {
  if (!suspicious.test(line)) return line
  const defined = definition.exec(line)
  if (defined && !isOutwardLink(defined[1] ?? defined[2] ?? '')) return ''
  const cleaned = new LineCleaner(line, html).clean()
  // What a line of HTML was indented by would make code of the rest.
  return html === 'drop' && /^[ \t]*</.test(line) ? cleaned.trim() : cleaned
}

/** `piece` is where it is written, `start` where it is read. */
type OpenBracket = { piece: number; start: number; isImage: boolean }

/** The pieces that are written so far; an opening bracket is one of its own, so that it can be taken back. */
class LineCleaner {
  readonly #line: string
  readonly #written: string[] = []
  readonly #openBrackets: OpenBracket[] = []
  readonly #codeRuns: CodeRuns
  readonly #html: OwnHtml
  #addresses: RegExpExecArray[] | undefined
  #addressEnd = 0
  #at = 0

  constructor(line: string, html: OwnHtml) {
    this.#line = line
    this.#html = html
    this.#codeRuns = new CodeRuns(line)
  }

  clean(): string {
    for (let next = this.#nextSpecial(); next < this.#line.length; next = this.#nextSpecial()) {
      this.#copyTo(next)
      this.#special()
    }
    this.#copyTo(this.#line.length)
    return this.#written.join('')
  }

  #nextSpecial(): number {
    special.lastIndex = this.#at
    return special.exec(this.#line)?.index ?? this.#line.length
  }

  #special(): void {
    const sign = this.#line[this.#at]
    if (sign === '\\') this.#escape()
    else if (sign === '`') this.#code()
    else if (sign === '<') this.#angle()
    else if (sign === ']') this.#closeBracket()
    else this.#openBracket(sign === '!')
  }

  #escape(): void {
    if (this.#line[this.#at + 1] === '<') {
      this.#at++
      this.#lessThan()
    } else this.#copyTo(Math.min(this.#at + 2, this.#line.length))
  }

  /** The end of an address that is no link yet would take a backslash as its own. */
  #lessThan(): void {
    const isAlone = /\s$/.test(this.#written.at(-1) ?? ' ')
    this.#written.push(isAlone ? '\\<' : '&lt;')
    this.#at++
  }

  /** Backticks that are not closed on this line, or belong to an address, cannot be left to make code of what is cleaned. */
  #code(): void {
    const end = this.#codeRuns.endOfCode(this.#at)
    const isInAddress = this.#at < this.#endOfAddress()
    if (end !== undefined && !isInAddress) this.#copyTo(end)
    else {
      const length = runLength(this.#line, this.#at)
      this.#written.push((isInAddress ? '&#96;' : '\\`').repeat(length))
      this.#at += length
    }
  }

  /** Of the last address without brackets that begins before; they are looked for once. */
  #endOfAddress(): number {
    this.#addresses ??= [...this.#line.matchAll(bareAddress)].toReversed()
    for (let next = this.#addresses.at(-1); next && next.index < this.#at; next = this.#addresses.at(-1)) {
      this.#addressEnd = next.index + next[0].length
      this.#addresses.pop()
    }
    return this.#addressEnd
  }

  #angle(): void {
    const url = match(autolink, this.#line, this.#at)
    const tag = this.#html === 'drop' ? match(wholeTag, this.#line, this.#at) : null
    if (url && (isOutwardLink(url[1] ?? '') || mailAddress.test(url[1] ?? ''))) this.#copyTo(this.#at + url[0].length)
    else if (tag) this.#at += tag[0].length
    else {
      if (match(tagStart, this.#line, this.#at)) this.#lessThan()
      else this.#copyTo(this.#at + 1)
    }
  }

  #openBracket(isImage: boolean): void {
    // Without its exclamation mark an image is a link.
    if (isImage && this.#line[this.#at + 1] === '[') this.#at++
    if (this.#line[this.#at] === '[') {
      this.#openBrackets.push({ piece: this.#written.length, start: this.#at, isImage })
    }
    this.#copyTo(this.#at + 1)
  }

  #closeBracket(): void {
    const open = this.#openBrackets.pop()
    const target = match(destination, this.#line, this.#at + 1)
    const end = this.#at + 1 + (target?.[0].length ?? 0)
    if (target && !open?.isImage && isOutwardLink(target[1] ?? target[2] ?? '')) this.#copyTo(end)
    else if (target && open) {
      this.#written[open.piece] = ''
      this.#at = end
    } else this.#closeOther(open)
  }

  /** A bracket that begins no link on this line may not begin one that goes on to the next, nor define one. */
  #closeOther(open: OpenBracket | undefined): void {
    this.#copyTo(this.#at + 1)
    const defined = match(definedUrl, this.#line, this.#at)
    const isFootnote = open && this.#line[open.start + 1] === '^'
    const isUnsafeDefinition = defined && !isFootnote && !isOutwardLink(defined[1] ?? '')
    if (this.#line[this.#at] === '(' || isUnsafeDefinition) this.#written.push('\\')
  }

  #copyTo(end: number): void {
    if (end > this.#at) this.#written.push(this.#line.slice(this.#at, end))
    this.#at = end
  }
}

/** Where runs of backticks are, by their length, so that none is looked for twice. */
class CodeRuns {
  readonly #line: string
  #starts: Map<number, number[]> | undefined

  constructor(line: string) {
    this.#line = line
  }

  /** Where the code ends that the run at an offset begins. */
  endOfCode(start: number): number | undefined {
    const length = runLength(this.#line, start)
    this.#starts ??= this.#findRuns()
    // Last first: asked for in ascending order, so what is behind is never needed again.
    const starts = this.#starts.get(length) ?? []
    while ((starts.at(-1) ?? start + 1) <= start) starts.pop()
    const closing = starts.at(-1)
    return closing === undefined ? undefined : closing + length
  }

  #findRuns(): Map<number, number[]> {
    const starts = new Map<number, number[]>()
    for (const { index, 0: run } of this.#line.matchAll(/`+/g)) {
      const same = starts.get(run.length)
      if (same) same.push(index)
      else starts.set(run.length, [index])
    }
    for (const same of starts.values()) same.reverse()
    return starts
  }
}

function runLength(line: string, start: number): number {
  let end = start
  while (line[end] === '`') end++
  return end - start
}

function match(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at
  return sticky.exec(text)
}
