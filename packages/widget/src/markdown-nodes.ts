import { Lexer, type MarkedToken, type Token } from 'marked'
import { type Child, make } from './element.ts'

/** Maximum characters of an answer that are shown. */
const maxShown = 50_000
/** Maximum characters that are parsed at once. The parser takes quadratic time for some texts. */
const maxParsed = 8_000
/** Maximum nesting of blocks and emphasis. Deeper Markdown is shown as source text. */
const maxDepth = 20
const schemes: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:'])
const citation = /\s*\[([a-z0-9-]+_[0-9]{8})\]/g
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

/** Returns the replacement for a citation in the text. */
export type Cite = (seqId: string) => Child

/** Converts untrusted Markdown to nodes, without HTML and images, and with links to web, mail and telephone addresses only. */
export function markdownNodes(markdown: string, cite: Cite): Child[] {
  const text = markdown.length > maxShown ? `${markdown.slice(0, maxShown)}…` : markdown
  return partsOf(text).flatMap((part) => {
    try {
      if (part.length <= maxParsed) return childrenOf(new Lexer().lex(part), cite, 0)
    } catch {
      // The lexer has exceeded the call stack on deep nesting.
    }
    return [make('p', { class: 'verbatim' }, part)]
  })
}

/** Splits a long text at blank lines outside of code. */
function partsOf(text: string): string[] {
  const parts = ['']
  let block = ''
  let isCode = false
  const close = () => {
    const last = parts.at(-1) ?? ''
    if (last.length + block.length > maxParsed) parts.push(block)
    else parts[parts.length - 1] = last + block
    block = ''
  }
  for (const line of text.split(/(?<=\n)/)) {
    block += line
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    else if (line.trim() === '' && !isCode) close()
  }
  close()
  return parts
}

function childrenOf(tokens: readonly Token[] | undefined, cite: Cite, depth: number): Child[] {
  if (depth > maxDepth) return (tokens ?? []).map(({ raw }) => raw)
  // The cast is safe, since no extension adds tokens of other types.
  return ((tokens ?? []) as MarkedToken[]).flatMap((token) => nodesOf(token, cite, depth + 1))
}

function nodesOf(token: MarkedToken, cite: Cite, depth: number): Child[] {
  const inner = (tokens: readonly Token[] | undefined) => childrenOf(tokens, cite, depth)
  switch (token.type) {
    case 'space':
    case 'def':
      return []
    case 'heading':
      return [make('p', { class: 'heading' }, ...inner(token.tokens))]
    case 'paragraph':
      return [make('p', {}, ...inner(token.tokens))]
    case 'blockquote':
    case 'strong':
    case 'em':
    case 'del':
      return [make(token.type, {}, ...inner(token.tokens))]
    case 'br':
    case 'hr':
      return [make(token.type)]
    case 'code':
      return [make('pre', { tabindex: '0' }, make('code', {}, token.text))]
    case 'codespan':
      return [make('code', {}, token.text)]
    case 'list': {
      const items = token.items.map((item) => make('li', {}, ...inner(item.tokens)))
      return [make(token.ordered ? 'ol' : 'ul', { start: token.ordered && String(token.start) }, ...items)]
    }
    case 'checkbox':
      return [token.checked ? '☑ ' : '☐ ']
    case 'table': {
      const rowOf = (cells: typeof token.header) => {
        const made = cells.map((cell) => make(cell.header ? 'th' : 'td', {}, ...inner(cell.tokens)))
        return make('tr', {}, ...made)
      }
      const head = make('thead', {}, rowOf(token.header))
      const table = make('table', {}, head, make('tbody', {}, ...token.rows.map(rowOf)))
      return [make('div', { class: 'scroll', tabindex: '0' }, table)]
    }
    case 'link':
      return linkTo(token.href, inner(token.tokens))
    case 'image':
      return [decoded(token.text)]
    case 'escape':
      return [token.text]
    case 'text':
      return token.tokens === undefined ? withCitations(decoded(token.text), cite) : inner(token.tokens)
    default:
      return [token.raw]
  }
}

function linkTo(target: string, children: readonly Child[]): Child[] {
  const url = webAddress(decoded(target))
  if (url === undefined) return [...children]
  return [make('a', { href: url, target: '_blank', rel: 'noopener noreferrer nofollow' }, ...children)]
}

/** Returns an address normalized by the browser, if it is absolute and has an allowed scheme. */
export function webAddress(target: string): string | undefined {
  const url = URL.canParse(target) ? new URL(target) : undefined
  return url !== undefined && schemes.has(url.protocol) ? url.href : undefined
}

function withCitations(text: string, cite: Cite): Child[] {
  // The pattern has a capturing group, so every second part is a seqId.
  return text.split(citation).map((part, index) => (index % 2 === 1 ? cite(part) : part))
}

/** Replaces numeric character references and the common named ones, such as `&lt;`. Others stay. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    if (name !== undefined) return entities[name] ?? whole
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
