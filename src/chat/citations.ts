import { between, lineStart } from './safe-markdown.ts'

const seqId = '[a-z0-9-]+_[0-9]{8}'
const [opening, closing] = ['(?:\\[{1,2}|[(【（])', '(?:\\]{1,2}|[)】）])']
/** What models write before a seqId: `see`, `seqId:`, `Quelle:`. */
const label = '\\^?(?:\\p{L}[\\p{L} .]{0,20}(?:[:：][ \\t]*|[ \\t]+))?'
const named = `\`?${seqId}\`?`
const list = `${opening}[ \\t]*${label}${named}(?:[ \\t]*[,;、][ \\t]*${named})*(?:†[^\\]】\\n]{0,40})?[ \\t]*${closing}`
const footnote = '\\[\\^[\\p{L}\\p{N}_-]{1,20}\\]:[ \\t]*'

/**
 * One or more seqIds in brackets, with the white space before them, and the target where they are made a link; or the one that a
 * footnote consists of, which stays a footnote.
 */
const citation = new RegExp(`[ \\t]*${list}(?:\\([^()\\n]{0,2000}\\))?|(${footnote})${named}(?!\\w)`, 'iuy')
/** What may become a citation when more text comes. */
const beginning = new RegExp(
  [
    `[ \\t]{0,400}(?:${opening}[ \\t]*(?:\\^?\\p{L}[\\p{L} .]{0,20}(?:[:：][ \\t]*|[ \\t]+)?|\\^)?[a-z0-9_,;、\` \\t-]{0,400}(?:†[^\\]】\\n]{0,40})?|${list}(?:\\([^()\\n]{0,2000})?)?$`,
    `\\[(?:\\^(?:[\\p{L}\\p{N}_-]{0,20}(?:\\](?::[ \\t]*[a-z0-9_\`-]{0,80})?)?)?)?$`,
  ].join('|'),
  'iuy',
)

const plain = /[ \t]*(?:[[(【（]|[^ \t[(【（]+)|[ \t]+/y

/**
 * Copies text that comes in pieces and keeps only the citations of Neurons that may be cited; what looks like a citation
 * of another one is dropped.
 */
export class CitationFilter {
  /** seqIds, in the order of their first citation. */
  readonly cited: string[] = []
  readonly #citable: ReadonlySet<string>
  #held = ''
  #last = ''
  /** A citation was left out after the last character, or written in another way. */
  #isCut = false
  /** One was left out of the line, which holds no more than marks of lists and quotations so far. */
  #isLineCut = false
  #isAtLineStart = true

  constructor(citable: Iterable<string>) {
    this.#citable = new Set(citable)
  }

  /** Text that can be given out now: what may be the beginning of a citation waits for the next piece. */
  push(text: string): string {
    return this.#read(text, false)
  }

  /** The rest. */
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
        // Behind a square bracket of its own the markup is known to be safe.
        this.#isCut = found !== undefined && !found.endsWith(']')
      }
      at += piece.length
    }
    this.#held = input.slice(at)
    return out
  }

  /** What a citation becomes: of Neurons that may be cited, or nothing but what stands before it. */
  #cite(text: string, prefix?: string): string {
    const seqIds = [...new Set(text.toLowerCase().match(new RegExp(seqId, 'g')))].filter((id) => this.#citable.has(id))
    for (const id of seqIds) if (!this.cited.includes(id)) this.cited.push(id)
    const [space = ''] = /^[ \t]*/.exec(text) ?? []
    // What follows must not become the address of a footnote.
    if (seqIds.length === 0) return prefix?.trim() ? `${prefix}…` : ''
    return (prefix ?? space) + seqIds.map((id) => `[${id}]`).join(' ')
  }
}

/** Whether a round bracket belongs to the word before it. */
function isCall(previous: string, input: string, at: number): boolean {
  return input[at] === '(' && /\w/.test(previous)
}

export function withoutCitations(text: string): string {
  const filter = new CitationFilter([])
  return filter.push(text) + filter.end()
}
