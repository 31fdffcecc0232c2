import { type Answer, extractName } from './answerer.ts'
import { between, lineStart } from './safe-markdown.ts'

const seqId = '[a-z0-9-]+_[0-9]{8}'
const [opening, closing] = ['(?:\\[{1,2}|[(【（])', '(?:\\]{1,2}|[)】）])']
/** Pattern of words that models write before a seqId: `see`, `seqId:`, `Quelle:`. */
const label = '\\^?(?:\\p{L}[\\p{L} .]{0,20}(?:[:：][ \\t]*|[ \\t]+))?'
const named = `\`?${seqId}\`?`
const list = `${opening}[ \\t]*${label}${named}(?:[ \\t]*[,;、][ \\t]*${named})*(?:†[^\\]】\\n]{0,40})?[ \\t]*${closing}`
const footnote = '\\[\\^[\\p{L}\\p{N}_-]{1,20}\\]:[ \\t]*'

/**
 * Matches one or more seqIds in brackets, with the white space before them and a link target after them; or a footnote that
 * consists of one, which stays a footnote.
 */
const citation = new RegExp(`[ \\t]*${list}(?:\\([^()\\n]{0,2000}\\))?|(${footnote})${named}(?!\\w)`, 'iuy')
/** Matches the beginning of a possible citation at the end of the text. */
const beginning = new RegExp(
  [
    `[ \\t]{0,400}(?:${opening}[ \\t]*(?:\\^?\\p{L}[\\p{L} .]{0,20}(?:[:：][ \\t]*|[ \\t]+)?|\\^)?[a-z0-9_,;、\` \\t-]{0,400}(?:†[^\\]】\\n]{0,40})?|${list}(?:\\([^()\\n]{0,2000})?)?$`,
    `\\[(?:\\^(?:[\\p{L}\\p{N}_-]{0,20}(?:\\](?::[ \\t]*[a-z0-9_\`-]{0,80})?)?)?)?$`,
  ].join('|'),
  'iuy',
)

const plain = /[ \t]*(?:[[(【（]|[^ \t[(【（]+)|[ \t]+/y

/** Copies text that arrives in pieces, and keeps only citations of Neurons that may be cited. Other citations are dropped. */
export class CitationFilter {
  /** Cited seqIds, in the order of their first citation. */
  readonly cited: string[] = []
  readonly #citable: ReadonlySet<string>
  #held = ''
  #last = ''
  /** True if a citation was dropped or rewritten after the last character. */
  #isCut = false
  /** True if a citation was dropped from a line that so far holds only list and quotation marks. */
  #isLineCut = false
  #isAtLineStart = true

  constructor(citable: Iterable<string>) {
    this.#citable = new Set(citable)
  }

  /** Adds a piece and returns the text that is complete. The beginning of a possible citation waits for the next piece. */
  push(text: string): string {
    return this.#read(text, false)
  }

  /** Returns the rest of the text. */
  end(): string {
    return this.#read('', true)
  }

  #read(text: string, isEnd: boolean): string {
    const input = this.#held + text
    let out = ''
    let at = 0
    while (at < input.length) {
      beginning.lastIndex = at
      if (!isEnd && beginning.test(input)) break
      citation.lastIndex = at
      const [found, prefix] = (isCall(this.#last, input, at) ? null : citation.exec(input)) ?? []
      plain.lastIndex = at
      const [piece = ''] = found === undefined ? (plain.exec(input) ?? []) : [found]
      const given = found === undefined ? piece : this.#cite(found, prefix ?? (this.#last === ']' ? ' ' : undefined))
      if (given === '') {
        this.#isCut = true
        this.#isLineCut = this.#isAtLineStart
      } else {
        // A tag that was inside its line must not begin it: there it would be a block of HTML.
        const shown = this.#isLineCut ? given.replace(/^[ \t>*+\-\d.)]*(?=<)/, '$&…') : given
        out += (this.#isCut ? between(this.#last, given) : '') + shown
        this.#last = given.slice(-1)
        this.#isAtLineStart = lineStart.test(given) && (this.#isAtLineStart || given.includes('\n'))
        this.#isLineCut &&= this.#isAtLineStart && !given.includes('\n')
        // After a bracket written here the markup is known to be safe.
        this.#isCut = found !== undefined && !found.endsWith(']')
      }
      at += piece.length
    }
    this.#held = input.slice(at)
    return out
  }

  /** Rewrites a citation to the seqIds that may be cited, or to the text before them. */
  #cite(text: string, prefix?: string): string {
    const seqIds = [...new Set(text.toLowerCase().match(new RegExp(seqId, 'g')))].filter((id) => this.#citable.has(id))
    for (const id of seqIds) if (!this.cited.includes(id)) this.cited.push(id)
    const [space = ''] = /^[ \t]*/.exec(text) ?? []
    // The text after it must not become the address of a footnote.
    if (seqIds.length === 0) return prefix?.trim() ? `${prefix}…` : ''
    return (prefix ?? space) + seqIds.map((id) => `[${id}]`).join(' ')
  }
}

/** True if a round bracket belongs to the word before it. */
function isCall(previous: string, input: string, at: number): boolean {
  return input[at] === '(' && /\w/.test(previous)
}

export function withoutCitations(text: string): string {
  const filter = new CitationFilter([])
  return filter.push(text) + filter.end()
}

/** Matches the line break before a new block: a blank line, a list item, a heading. */
const blockStart = /\n(?=[ \t]*\n|[ \t]*(?:[-*+]|\d+[.)])[ \t]|#{1,6} )/
const fenced = /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1.*$|$(?![\s\S]))/gm
/**
 * Matches a block without a claim: a heading, a line that introduces what follows, a rule, or nothing. The block has no white
 * space around it, which keeps the match linear.
 */
const claimsNothing = /^(?:#{1,6}(?: .*)?|[^\n]*[:：]|[-*_\s]*)$/

/**
 * Returns how well an answer is cited. A model's answer is `true` if each paragraph and list item has a citation. An extract
 * consists of citations, so it is `partly` only if it refuses one of two questions.
 */
export function groundedIn({ text, cited, answeredBy, isPartial }: Answer): 'true' | 'partly' | 'false' {
  if (cited.length === 0) return 'false'
  if (answeredBy === extractName) return isPartial ? 'partly' : 'true'
  const claims = text
    .replace(fenced, '')
    .split(blockStart)
    .filter((block) => !claimsNothing.test(block.trim()))
  return claims.every((block) => cited.some((seqId) => block.includes(`[${seqId}]`))) ? 'true' : 'partly'
}
