import { filterNames, filterOf, type PageFilter } from './filters.ts'

/** What a query is read as, one after the other. */
export type QueryItem =
  | { type: 'operator'; operator: 'AND' | 'OR' | 'NOT' }
  /** `at`: where the text begins in the query, in UTF-16 units. */
  | { type: 'filter'; filter: PageFilter; negated: boolean }
  | { type: 'word' | 'phrase'; text: string; at: number; negated: boolean }

const quotes = '["“”„＂]'
const inQuotes = (group: string) => `${quotes}(?<${group}>[^"“”„＂]*)${quotes}`

/** A filter whose value may stand in quotes, a phrase in quotes, or what stands between spaces and parentheses; a `-` negates where neither goes before nor follows. */
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

/** Whether a query is words alone, without operators, phrases and prefixes: then it can be meant as a whole. */
export function isPlain(q: string): boolean {
  const read = itemsOf(q)
  return read.length > 0 && read.every((item) => item.type === 'word' && !item.negated && !item.text.endsWith('*'))
}
