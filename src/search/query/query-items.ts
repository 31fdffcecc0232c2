/** What a query is read as, one after the other. */
export type QueryItem =
  | { type: 'operator'; operator: 'AND' | 'OR' | 'NOT' }
  | { type: 'word' | 'phrase'; text: string; negated: boolean }

/** A phrase in quotes, or what stands between spaces and parentheses; a `-` negates where neither goes before nor follows. */
const items = /(-(?=[^\s()-]))?(?:["“”„＂]([^"“”„＂]*)["“”„＂]|([^\s()]+))/g

export function itemsOf(q: string): QueryItem[] {
  return Array.from(q.matchAll(items), ([, dash, phrase, word = '']): QueryItem => {
    const negated = dash !== undefined
    if (phrase !== undefined) return { type: 'phrase', text: phrase, negated }
    if (!negated && (word === 'AND' || word === 'OR' || word === 'NOT')) return { type: 'operator', operator: word }
    return { type: 'word', text: word, negated }
  })
}
