import { type DocumentKind, documentKinds } from '../../contract/enumerations.ts'
import { instantOf } from '../../contract/moment.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { fold } from '../../rules/text/fold.ts'

/** Condition on a page, independent of its text. Texts are folded; `at` is the start of a year, month or day in UTC. */
export type PageFilter =
  | { type: 'tag'; tag: string }
  | { type: 'path'; path: string }
  | { type: 'title'; words: readonly string[] }
  | { type: 'kind'; kind: DocumentKind }
  /** Restricts to pages with these keys; only `retrieve` has it. */
  | { type: 'keys'; keys: ReadonlySet<string> }
  | { type: 'before' | 'after'; at: string }

/** Alternatives: one of them must hold, or none if negated. */
export type FilterGroup = { any: PageFilter[]; isNegated: boolean }

/** Names of filters, as written before a colon. */
export const filterNames = ['tag', 'path', 'title', 'kind', 'before', 'after'] as const

/** A year or a month, which queries accept besides days and times. */
const part = /^\d{4}(?:-\d\d)?$/

/** Parses a filter. Undefined if the value is invalid, so that it is a word like any other. */
export function filterOf(name: (typeof filterNames)[number], value: string): PageFilter | undefined {
  if (name === 'before' || name === 'after') {
    const at = instantOf(part.test(value) ? `${value}-01-01`.slice(0, 10) : value.toUpperCase())
    return at === undefined ? undefined : { type: name, at }
  }
  if (name === 'kind') {
    const kind = documentKinds.find((known) => known === value.toLowerCase())
    return kind === undefined ? undefined : { type: name, kind }
  }
  if (name === 'title') {
    const words = fold(value).match(/[\p{L}\p{M}\p{N}]+/gu)
    return words === null ? undefined : { type: name, words }
  }
  const [tag, path] = [tagKey(value).replace(/\/+$/, ''), fold(value.trim())]
  if (name === 'tag') return tag === '' ? undefined : { type: name, tag }
  return path === '' ? undefined : { type: name, path }
}

/** Properties of a page that filters test. */
export type PageFacts = {
  title: string
  /** Path in the knowledge base, without a suffix. */
  path: string
  tags: readonly string[]
  /** Time of the last change: ISO 8601, in UTC. */
  changedAt: string
}

/** Facts of a page, folded for comparison. */
export class ComparedFacts {
  readonly path: string
  readonly changedAt: string
  readonly tags: readonly string[]
  readonly #title: string
  readonly #path: string
  readonly #tagKeys: readonly string[]

  constructor({ title, path, tags, changedAt }: PageFacts) {
    this.path = path
    this.changedAt = changedAt
    this.tags = tags
    this.#title = ` ${fold(title).replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')} `
    this.#path = `/${fold(path)}`
    this.#tagKeys = tags.map(tagKey)
  }

  /** True if a page passes a filter other than kind and keys. A tag includes those below it; a path matches from the start of a folder or name. */
  passes(filter: Exclude<PageFilter, { type: 'kind' | 'keys' }>): boolean {
    if (filter.type === 'tag') {
      return this.#tagKeys.some((key) => key === filter.tag || key.startsWith(`${filter.tag}/`))
    }
    if (filter.type === 'path') {
      return filter.path.startsWith('/') ? this.#path.startsWith(filter.path) : this.#path.includes(`/${filter.path}`)
    }
    if (filter.type === 'title') return filter.words.every((word) => this.#title.includes(` ${word}`))
    return filter.type === 'before' ? this.changedAt < filter.at : this.changedAt >= filter.at
  }
}

/** Lexical item of a query. */
export type QueryItem =
  | { type: 'operator'; operator: 'AND' | 'OR' | 'NOT' }
  /** A filter. `at`: start of its text in the query, in UTF-16 units. */
  | { type: 'filter'; filter: PageFilter; negated: boolean }
  | { type: 'word' | 'phrase'; text: string; at: number; negated: boolean }

const quotes = '["“”„＂]'
const inQuotes = (group: string) => `${quotes}(?<${group}>[^"“”„＂]*)${quotes}`

/** Matches a filter with its value, quoted or not, a quoted phrase, or anything between spaces and parentheses. A leading `-` negates it. */
const items = new RegExp(
  `(?<dash>-(?=[^\\s()-]))?(?:(?<name>${filterNames.join('|')}):(?:${inQuotes('quoted')}|(?<value>[^\\s()]+))|${inQuotes('phrase')}|(?<word>[^\\s()]+))`,
  'gi',
)

export function itemsOf(q: string): QueryItem[] {
  return Array.from(q.matchAll(items), (match): QueryItem => {
    const { dash, name, value, phrase, word = '' } = match.groups ?? {}
    const negated = dash !== undefined
    const start = match.index + (dash?.length ?? 0)
    const filter =
      name && filterOf(name.toLowerCase() as (typeof filterNames)[number], value ?? match.groups?.quoted ?? '')
    if (filter) return { type: 'filter', filter, negated }
    if (phrase !== undefined) return { type: 'phrase', text: phrase, at: start + 1, negated }
    const text = name === undefined ? word : match[0].slice(dash?.length ?? 0)
    if (!negated && (text === 'AND' || text === 'OR' || text === 'NOT')) return { type: 'operator', operator: text }
    return { type: 'word', text, at: start, negated }
  })
}

/** True if a query consists of words alone, without operators, phrases and prefixes, so that its meaning can be searched. */
export function isPlain(q: string): boolean {
  const read = itemsOf(q)
  return read.length > 0 && read.every((item) => item.type === 'word' && !item.negated && !item.text.endsWith('*'))
}
