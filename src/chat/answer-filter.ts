import { CitationFilter, withoutCitations } from './citations.ts'
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

/** Placeholder for a code span. */
const held = '\ue000'

/** Matches fenced code, and the blank lines between paragraphs, which no code span crosses. */
const betweenProse = /(^(?:`{3,}|~{3,})[^\n]*\n[\s\S]*?^(?:`{3,}|~{3,})[ \t]*$|\n[ \t]*\n)/m

/** Makes text safe to be quoted, without citations. Code spans stay as they are if all parsers see the same ones. */
export function safeQuote(text: string): string {
  const spans: string[] = []
  const parts = text.replaceAll(held, '').split(betweenProse)
  const prose = parts.map((part, at) => (at % 2 === 1 ? part : holdSpans(part, spans).replaceAll('\\<', '&lt;')))
  const filter = new AnswerFilter([])
  const safe = filter.push(prose.join('')) + filter.end()
  return safe.replaceAll(held, () => spans.shift() ?? '')
}

/** Replaces the code spans of a paragraph by placeholders. */
function holdSpans(paragraph: string, spans: string[]): string {
  const runs = paragraph.match(/\\?`+/g) ?? []
  if (runs.length % 2 === 1 || runs.some((run) => run !== '`')) return paragraph
  return paragraph.replace(/`[^`\n]+`/g, (span) => {
    if (withoutCitations(span) !== span)
      return span.slice(1, -1).replace(/[<!`[]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    spans.push(span)
    return held
  })
}
