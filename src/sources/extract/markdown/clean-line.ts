import { CodeRuns, runLength } from '../../../markdown/code-runs.ts'
import { endOfAutolink, isOutwardLink } from './escape-markdown.ts'

const special = /[\\`<\]![]/g
const suspicious = /`|<[A-Za-z/!?]|\]\(|!\[|\]:/
const definition = /^[ >]*\[(?!\^[^\s[\]]+\])(?:[^[\]\\]|\\.){1,999}\]:[ \t]*(?:<([^<>]*)>|(\S*))/
const destination =
  /\([ \t]*(?:<([^<>]*)>|([^\s()<]*(?:\([^\s()]*\)[^\s()]*)*))(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*\)/y
/** Matches an embed of Obsidian with the size of the picture, which would become the text of a link. */
const sizedEmbed = /\[\[([^[\]|\\`<!]{1,200})(\|\d{1,5}(?:x\d{1,5})?)\]\]/y
const footnoteLabel = /\[\^[^\s[\]]+\]/y
const definedUrl = /:[ \t]*<?([^\s>]*)/y
/** Matches an address that becomes a link by itself; it ends with white space or `<`. */
const bareAddress = /(?:https?:\/\/|www\.)[^\s<]*/gi
const addressRest = /[^\s<]*/y
/** Matches the start of a tag, or of a bracket that may be removed and then leave such a start. */
const tagStart = /<[A-Za-z/!?[\]]/y

/** Maximum number of passes in which a line is cleaned until nothing changes. Only texts made for it need more. */
const maxPasses = 4
const signs = /[`<[\]]/g

/**
 * Cleans one line of Markdown that is not in a fence: removes images, and links elsewhere than `isOutwardLink` allows, and turns HTML into
 * text. Ignores the lines around it. Idempotent. Takes linear time.
 */
export function cleanLine(line: string): string {
  let cleaned = line
  // Removing a part can join its two sides to a link, an image or HTML.
  for (let pass = 0; pass < maxPasses; pass++) {
    const before = cleaned
    cleaned = cleanOnce(before)
    if (cleaned === before) return cleaned
  }
  return cleaned.replace(signs, (sign) => `&#${sign.charCodeAt(0)};`)
}

function cleanOnce(line: string): string {
  if (!suspicious.test(line)) return line
  const defined = definition.exec(line)
  if (defined && !isOutwardLink(defined[1] ?? defined[2] ?? '')) return ''
  return new LineCleaner(line).clean()
}

/** Open bracket. `piece`: index of its written piece; `start`: offset in the line. */
type OpenBracket = { piece: number; start: number; isImage: boolean }

/** Cleans a line once. Writes pieces; an opening bracket is a piece of its own, so that it can be removed later. */
class LineCleaner {
  readonly #line: string
  readonly #written: string[] = []
  readonly #openBrackets: OpenBracket[] = []
  readonly #codeRuns: CodeRuns
  #addresses: RegExpExecArray[] | undefined
  #addressEnd = 0
  #at = 0

  constructor(line: string) {
    this.#line = line
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

  /** Escapes a `<`. In an address without angle brackets, the escape would become part of the address, and so would the text behind it. */
  #lessThan(): void {
    const isAlone = /\s$/.test(this.#written.at(-1) ?? ' ')
    this.#written.push(isAlone ? '\\<' : '&lt;')
    const isInAddress = this.#at === this.#endOfAddress()
    this.#at++
    if (isInAddress) this.#addressEnd = this.#at + (match(addressRest, this.#line, this.#at)?.[0].length ?? 0)
  }

  /** Copies a code span. Escapes backticks that are in an address or not closed on this line: cleaned text could close them. */
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

  /** Returns the end of the last address without brackets that begins before. Addresses are searched once. */
  #endOfAddress(): number {
    this.#addresses ??= [...this.#line.matchAll(bareAddress)].toReversed()
    for (let next = this.#addresses.at(-1); next && next.index < this.#at; next = this.#addresses.at(-1)) {
      this.#addressEnd = next.index + next[0].length
      this.#addresses.pop()
    }
    return this.#addressEnd
  }

  #angle(): void {
    const end = endOfAutolink(this.#line, this.#at)
    if (end !== undefined) this.#copyTo(end)
    else if (match(tagStart, this.#line, this.#at)) this.#lessThan()
    else this.#copyTo(this.#at + 1)
  }

  #openBracket(isImage: boolean): void {
    // Without its exclamation mark an image is a link.
    if (isImage && this.#line[this.#at + 1] === '[') this.#at++
    const [, name = '', size = ''] = (isImage && match(sizedEmbed, this.#line, this.#at)) || []
    if (this.#line[this.#at] === '[') {
      this.#openBrackets.push({ piece: this.#written.length, start: this.#at, isImage })
    }
    this.#copyTo(this.#at + 1)
    if (size === '') return
    this.#openBracket(false)
    this.#copyTo(this.#at + name.length)
    this.#at += size.length
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

  /** Escapes a closing bracket that would begin a link with the next line, or a definition. */
  #closeOther(open: OpenBracket | undefined): void {
    this.#copyTo(this.#at + 1)
    const defined = match(definedUrl, this.#line, this.#at)
    const isFootnote = open && match(footnoteLabel, this.#line, open.start)
    const isUnsafeDefinition = defined && !isFootnote && !isOutwardLink(defined[1] ?? '')
    if (this.#line[this.#at] === '(' || isUnsafeDefinition) this.#written.push('\\')
  }

  #copyTo(end: number): void {
    if (end > this.#at) this.#written.push(this.#line.slice(this.#at, end))
    this.#at = end
  }
}

function match(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at
  return sticky.exec(text)
}
