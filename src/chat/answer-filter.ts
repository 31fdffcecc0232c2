import { CitationFilter } from './citations.ts'
import { MarkupFilter } from './safe-markdown.ts'

/** Control characters without use in Markdown. */
const control = /[^\P{Cc}\n\t]/gu

/** Makes untrusted text, which arrives in pieces, safe to show as an answer: only known citations, no images and no tags. */
export class AnswerFilter {
  readonly #markup = new MarkupFilter()
  readonly #citations: CitationFilter
  /** High surrogate whose other half comes with the next piece. */
  #half = ''

  /** Starts with an empty text. @param citable seqIds that may be cited */
  constructor(citable: Iterable<string>) {
    this.#citations = new CitationFilter(citable)
  }

  /** Cited seqIds, in the order of their first citation. */
  get cited(): readonly string[] {
    return this.#citations.cited
  }

  push(piece: string): string {
    const text = this.#half + piece
    this.#half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? ''
    const whole = text.slice(0, text.length - this.#half.length)
    return this.#citations.push(this.#markup.push(whole.toWellFormed().replace(control, '')))
  }

  end(): string {
    return this.#citations.push(this.#markup.end()) + this.#citations.end()
  }
}

/** Makes text safe to be quoted, without citations. */
export function safeQuote(text: string): string {
  const filter = new AnswerFilter([])
  return filter.push(text) + filter.end()
}
