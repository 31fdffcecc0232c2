/** What a query is read as, one after the other. */
export type QueryItem =
  | { type: 'operator'; operator: 'AND' | 'OR' | 'NOT' }
  /** `at`: where the text begins in the query, in UTF-16 units. */
  | { type: 'word' | 'phrase'; text: string; at: number; negated: boolean }

/** A phrase in quotes, or what stands between spaces and parentheses; a `-` negates where neither goes before nor follows. */
const items = /(-(?=[^\s()-]))?(?:["“”„＂]([^"“”„＂]*)["“”„＂]|([^\s()]+))/dg

export function itemsOf(q: string): QueryItem[] {
  return Array.from(q.matchAll(items), ({ 1: dash, 2: phrase, 3: word = '', indices }): QueryItem => {
    const negated = dash !== undefined
    const [at] = indices?.[phrase === undefined ? 3 : 2] ?? [0]
    if (phrase !== undefined) return { type: 'phrase', text: phrase, at, negated }
    if (!negated && (word === 'AND' || word === 'OR' || word === 'NOT')) return { type: 'operator', operator: word }
    return { type: 'word', text: word, at, negated }
  })
}

/** Whether a query is words alone, without operators, phrases and prefixes: then it can be meant as a whole. */
export function isPlain(q: string): boolean {
  const read = itemsOf(q)
  return read.length > 0 && read.every((item) => item.type === 'word' && !item.negated && !item.text.endsWith('*'))
}
