import { htmlTagNames } from 'html-tag-names'
import { decodeString } from 'micromark-util-decode-string'
import { closesFence, fenceMarker } from '../rules/text/fence.ts'

/** Elements of HTML, the two embedded ones, and those of models. A tag of any other name without attributes is a placeholder in the text. */
const elements: ReadonlySet<string> = new Set([...htmlTagNames, 'math', 'svg', 'think', 'thinking'])
/** Elements that are dropped with their content. */
const dropped = new Set(['script', 'style', 'think', 'thinking'])

/** Maximum characters of markup. Longer markup is treated as text and made harmless. */
const maxMarkup = 1000

const attributes = `(?:[^"'<>]|"[^"]*"|'[^']*')*`
const tag = new RegExp(`^<(/?)([a-z][a-z0-9-]*)(?:[\\s/]${attributes})?>|^<!--[^]*?-->|^<(?:!(?!--)|\\?)[^>]*>`, 'i')
const tagBeginning = new RegExp(`^<(?:[!?]|/?(?:[a-z][a-z0-9-]*(?:[\\s/]${attributes}(?:"[^"]*|'[^']*)?)?)?$)`, 'i')
/** Matches a `<` that becomes a tag with what follows, now or once something between is removed. */
const tagLike = /^<(?:[!?/]|[a-z][a-z0-9-]*(?:[\s/<[!]|$)|[<[!]|$|[a-z][a-z0-9+.-]*(?:[【（]|(?<!\w)\())/i
const placeholder = /^<[a-z][\w -]*>$/i
const image = /^!+\[([^[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)/
const imageBeginning = /^!+(?:\[[^[\]\n]*(?:\](?:\([^\n]*)?)?)?$/
/** Matches the end of a link's text or of a label, and the part of its destination that can contain a scheme. */
const destination = /^\][(:]\s*(?:<([^<>\n]*)(?:>(?=[\s)])|[<\n])|([^\s)/?<][^\s)/?]*)(?=[\s)/?])|(?=[)/?]))/
const destinationBeginning = /^\](?:[(:]\s*(?:<[^<>\n]*>?|[^\s)/?<][^\s)/?]*)?)?$/
const autolink = /^<([a-z][a-z0-9-]*):/i
/** Permitted schemes of links. A link without a scheme is relative to the page that shows the answer. */
const linkSchemes: ReadonlySet<string> = new Set(['http', 'https', 'mailto', 'tel'])
/** Matches the end of a text whose last line has only list and quotation marks. */
export const lineStart = /(?:^|\n)[ \t>*+\-\d.)]*$/

/** Matches an ending that could form markup or a citation with the text after something left out. */
const opener = /[<![`~]$/

/**
 * Copies Markdown that arrives in pieces, without what would make a browser load or run something: an image becomes its text,
 * tags are dropped, and links with a scheme such as `javascript:` are disabled. Fenced code is kept until the first run of fence
 * characters elsewhere: from there on, parsers may disagree about fences.
 */
export class MarkupFilter {
  #held = ''
  #last = '\n'
  /** True if something was left out after the last character. */
  #isCut = false
  /** True if the line has only white space and list and quotation marks. */
  #isAtLineStart = true
  #fence = ''
  #trustsFences = true
  /** Element being dropped, until its end tag. */
  #dropping = ''

  /** Adds a piece and returns the text that is complete. The beginning of possible markup waits for the next piece. */
  push(text: string): string {
    return this.#read(text, false)
  }

  /** Returns the rest of the text. */
  end(): string {
    return this.#read('', true)
  }

  #read(text: string, isEnd: boolean): string {
    let rest = this.#held + text
    let out = ''
    while (rest !== '') {
      // Limits the text to what can matter, which keeps the time linear.
      const step = this.#step(rest.slice(0, maxMarkup + 1), isEnd && rest.length <= maxMarkup)
      if (step === undefined) break
      rest = rest.slice(step.length)
      if (step.text === '') {
        this.#isCut = true
        continue
      }
      out += (this.#isCut ? between(this.#last, step.text) : '') + step.text
      this.#isCut = false
      this.#last = step.text.slice(-1)
      this.#isAtLineStart = lineStart.test(step.text) && (this.#isAtLineStart || step.text.includes('\n'))
    }
    this.#held = rest
    return out
  }

  /** Returns the number of characters consumed and their replacement; undefined if more text is needed to decide. */
  #step(rest: string, isEnd: boolean): { length: number; text: string } | undefined {
    if (this.#dropping !== '') return this.#drop(rest, isEnd)
    if (this.#last === '\n' && this.#trustsFences && /^[`~]/.test(rest)) {
      const [line = ''] = /^[^\n]*\n?/.exec(rest) ?? []
      const isWhole = line.endsWith('\n') || isEnd
      if (!isWhole && line.length <= maxMarkup) return undefined
      if (isWhole && this.#turnsFence(line)) return keep(line)
    }
    const isFinal = isEnd || rest.length > maxMarkup
    const [run] = /^(?:`+|~+)/.exec(rest) ?? []
    if (run !== undefined) {
      if (run === rest && !isFinal) return undefined
      if (run.length >= 3) {
        this.#trustsFences = false
        this.#fence = ''
      }
      return keep(run)
    }
    if (this.#fence === '' && rest.startsWith('!')) return this.#image(rest, isFinal)
    if (this.#fence === '' && rest.startsWith('<')) return this.#tag(rest, isFinal)
    if (this.#fence === '' && rest.startsWith(']')) return this.#link(rest, isFinal)
    const [text = ''] = /^(?:\n|[^\n!<`~\]]+|[!<\]])/.exec(rest) ?? []
    return keep(text)
  }

  #link(rest: string, isFinal: boolean): { length: number; text: string } | undefined {
    const found = destination.exec(rest)
    if (found === null && !isFinal && destinationBeginning.test(rest)) return undefined
    const [, enclosed, bare = ''] = found ?? []
    const isSafe =
      found === null ? rest.length <= maxMarkup && isSafeTarget(rest.slice(2)) : isSafeTarget(enclosed ?? bare)
    // A space prevents the link.
    return /^\][(:]/.test(rest) && !isSafe ? { length: 2, text: `] ${rest.charAt(1)}` } : keep(']')
  }

  #turnsFence(line: string): boolean {
    if (this.#fence === '') {
      this.#fence = fenceMarker(line.trimEnd()) ?? ''
      return this.#fence !== ''
    }
    const closes = closesFence(line.trimEnd(), this.#fence)
    if (closes) this.#fence = ''
    return closes
  }

  #image(rest: string, isFinal: boolean): { length: number; text: string } | undefined {
    const [found, alt = ''] = image.exec(rest) ?? []
    if (found !== undefined) return this.#replace(found.length, alt.replace(/[<!`~]/g, ''))
    if (!isFinal && imageBeginning.test(rest)) return undefined
    const [marks = ''] = /^!+/.exec(rest) ?? []
    return rest.charAt(marks.length) === '[' ? this.#replace(marks.length, '') : keep(marks)
  }

  #tag(rest: string, isFinal: boolean): { length: number; text: string } | undefined {
    const [, scheme] = autolink.exec(rest) ?? []
    if (scheme !== undefined) return linkSchemes.has(scheme.toLowerCase()) ? keep('<') : { length: 1, text: '&lt;' }
    const [found, slash, name] = tag.exec(rest) ?? []
    if (found === undefined) {
      if (!isFinal && tagBeginning.test(rest)) return undefined
      return tagLike.test(rest) ? { length: 1, text: '&lt;' } : keep('<')
    }
    const element = name?.toLowerCase() ?? ''
    if (placeholder.test(found) && !elements.has(element)) {
      return this.#isAtLineStart ? { length: 1, text: '&lt;' } : keep(found)
    }
    if (dropped.has(element) && slash === '') this.#dropping = element
    return this.#replace(found.length, '')
  }

  #replace(length: number, text: string): { length: number; text: string } {
    this.#isCut = true
    return { length, text }
  }

  #drop(rest: string, isEnd: boolean): { length: number; text: string } | undefined {
    const end = new RegExp(`</${this.#dropping}\\s*>`, 'i').exec(rest)
    if (end !== null) {
      this.#dropping = ''
      return { length: end.index + end[0].length, text: '' }
    }
    const length = isEnd ? rest.length : rest.length - maxEndTag
    return length > 0 ? { length, text: '' } : undefined
  }
}

/** Returns the separator needed between two texts from between which something was left out, so that they form no markup together. */
export function between(before: string, after: string): string {
  if (opener.test(before)) return '…'
  return before.endsWith(']') && /^[(:]/.test(after) ? ' ' : ''
}

/**
 * True if a link target is safe. Browsers ignore control characters and white space in a scheme. A tag, an image or a citation
 * left out of an address could be followed by a scheme.
 */
function isSafeTarget(written: string): boolean {
  if (/[<[【（]|(?<!\w)\(/.test(written)) return false
  const target = decodeString(written).replace(/[\p{C}\s]/gu, '')
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(target) ?? []
  return scheme === undefined || linkSchemes.has(scheme.toLowerCase())
}

/** Maximum characters of an end tag, with white space. */
const maxEndTag = 20

function keep(text: string): { length: number; text: string } {
  return { length: text.length, text }
}
