import { filterNames, filterOf, type PageFilter } from './filters.ts'

/** Lexical item of a query. */
export type QueryItem =
  | { type: 'operator'; operator: 'AND' | 'OR' | 'NOT' }
  /** `at`: start of the text in the query, in UTF-16 units. */
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
