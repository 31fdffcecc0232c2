import { between } from './safe-markdown.ts'

const seqId = '[a-z0-9-]+_[0-9]{8}'
const list = `\\[{1,2}[ \\t]*${seqId}(?:[ \\t]*[,;][ \\t]*${seqId})*[ \\t]*\\]{1,2}`

/** One or more seqIds in brackets, with the white space before them, and the target where they are made a link. */
const citation = new RegExp(`[ \\t]*${list}(?:\\([^()\\n]{0,2000}\\))?`, 'iy')
/** What may become a citation when more text comes. */
const beginning = new RegExp(`[ \\t]*(?:\\[[a-z0-9_,; \\t[-]{0,400}|${list}(?:\\([^()\\n]{0,2000})?)?$`, 'iy')

const plain = /[ \t]*(?:\[|[^ \t[]+)|[ \t]+/y

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
  /** A citation was left out after the last character. */
  #isCut = false

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
      const [found] = citation.exec(input) ?? []
      plain.lastIndex = at
      const [piece = ''] = found === undefined ? (plain.exec(input) ?? []) : [found]
      const given = found === undefined ? piece : this.#cite(found)
      if (given === '') this.#isCut = true
      else {
        out += (this.#isCut ? between(out.at(-1) ?? this.#last, given) : '') + given
        this.#isCut = false
      }
      at += piece.length
    }
    this.#held = input.slice(at)
    this.#last = out.at(-1) ?? this.#last
    return out
  }

  /** What a citation becomes: of Neurons that may be cited, or nothing. */
  #cite(text: string): string {
    const seqIds = [...new Set(text.toLowerCase().match(new RegExp(seqId, 'g')))].filter((id) => this.#citable.has(id))
    for (const id of seqIds) if (!this.cited.includes(id)) this.cited.push(id)
    const [space = ''] = /^[ \t]*/.exec(text) ?? []
    return seqIds.length === 0 ? '' : space + seqIds.map((id) => `[${id}]`).join(' ')
  }
}

export function withoutCitations(text: string): string {
  const filter = new CitationFilter([])
  return filter.push(text) + filter.end()
}
