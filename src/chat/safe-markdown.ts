import { htmlTagNames } from 'html-tag-names'
import { decodeString } from 'micromark-util-decode-string'
import { closesFence, fenceMarker } from '../rules/text/fence.ts'

/** Elements of HTML, the two that embed in it, and those of models; a tag of any other name without attributes is somebody's placeholder. */
const elements: ReadonlySet<string> = new Set([...htmlTagNames, 'math', 'svg', 'think', 'thinking'])
/** Elements of which nothing is kept: what they hold is no part of the text. */
const dropped = new Set(['script', 'style', 'think', 'thinking'])

/** Characters of a piece of markup; what is longer is taken for text, and made harmless. */
const maxMarkup = 1000

const attributes = `(?:[^"'<>]|"[^"]*"|'[^']*')*`
const tag = new RegExp(`^<(/?)([a-z][a-z0-9-]*)(?:[\\s/]${attributes})?>|^<!--[^]*?-->|^<(?:!(?!--)|\\?)[^>]*>`, 'i')
const tagBeginning = new RegExp(`^<(?:[!?]|/?(?:[a-z][a-z0-9-]*(?:[\\s/]${attributes}(?:"[^"]*|'[^']*)?)?)?$)`, 'i')
/** A `<` that what follows it, now or once something between is removed, makes a tag of. */
const tagLike = /^<(?:[!?/]|[a-z][a-z0-9-]*(?:[\s/<[!]|$)|[<[!]|$|[a-z][a-z0-9+.-]*(?:[【（]|(?<!\w)\())/i
const placeholder = /^<[a-z][\w -]*>$/i
const image = /^!+\[([^[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)/
const imageBeginning = /^!+(?:\[[^[\]\n]*(?:\](?:\([^\n]*)?)?)?$/
/** The end of a link's text or of a label, and the beginning of its destination: as much of it as can hold a scheme. */
const destination = /^\][(:]\s*(?:<([^<>\n]*)(?:>(?=[\s)])|[<\n])|([^\s)/?<][^\s)/?]*)(?=[\s)/?])|(?=[)/?]))/
const destinationBeginning = /^\](?:[(:]\s*(?:<[^<>\n]*>?|[^\s)/?<][^\s)/?]*)?)?$/
const autolink = /^<([a-z][a-z0-9-]*):/i
/** Schemes that a link of an answer may have; a link without one leads to where the answer is shown. */
const linkSchemes: ReadonlySet<string> = new Set(['http', 'https', 'mailto', 'tel'])
/** The end of a text where a line holds no more than marks of lists and quotations. */
export const lineStart = /(?:^|\n)[ \t>*+\-\d.)]*$/

/** What could begin markup or a citation together with what comes after something left out. */
const opener = /[<![`~]$/

/**
 * Copies Markdown that comes in pieces without what would make a reader's browser load or run something: an image becomes its
 * text, tags are dropped, and a link with a scheme such as `javascript:` is none. Code in a fence that begins its line is kept as it is, until the first run of fence
 * characters in another place: from there on two readers of Markdown may not see the same fences.
 */
export class MarkupFilter {
  #held = ''
  #last = '\n'
  /** Something was left out after the last character. */
  #isCut = false
  /** The line holds no more than white space and the marks of lists and quotations. */
  #isAtLineStart = true
  #fence = ''
  #trustsFences = true
  /** The element whose end is waited for. */
  #dropping = ''

  /** Text that can be given out now: what may be the beginning of markup waits for the next piece. */
  push(text: string): string {
    return this.#read(text, false)
  }

  /** The rest. */
  end(): string {
    return this.#read('', true)
  }

  #read(text: string, isEnd: boolean): string {
    let rest = this.#held + text
    let out = ''
    while (rest !== '') {
      // No more than can matter, so that it takes linear time.
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

  /** Characters that are done with and what they become; nothing where it takes more of them to tell. */
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
    // With a space between, it is no link.
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

/** What has to stand between two texts between which something was left out, so that they are no markup together. */
export function between(before: string, after: string): string {
  if (opener.test(before)) return '…'
  return before.endsWith(']') && /^[(:]/.test(after) ? ' ' : ''
}

/**
 * Whether a link may lead there. A browser passes over control characters and white space in a scheme. What is left out of an address,
 * a tag, an image or a citation, could be followed by one.
 */
function isSafeTarget(written: string): boolean {
  if (/[<[【（]|(?<!\w)\(/.test(written)) return false
  const target = decodeString(written).replace(/[\p{C}\s]/gu, '')
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(target) ?? []
  return scheme === undefined || linkSchemes.has(scheme.toLowerCase())
}

/** Characters of an end tag, with white space. */
const maxEndTag = 20

function keep(text: string): { length: number; text: string } {
  return { length: text.length, text }
}
