import type { Query } from './query-tree.ts'
import { literalOf } from './query-words.ts'

/** Whether a query matches a note, where what was typed for each leaf is looked for as a part of the text, inside words too. */
export function matchesNote(query: Query, note: string): boolean {
  const text = literalOf(note)
  const matches = (part: Query): boolean => {
    if (part.type === 'and') return part.queries.every(matches)
    if (part.type === 'or') return part.queries.some(matches)
    if (part.type === 'not') return !matches(part.query)
    return text.includes(part.text)
  }
  return matches(query)
}
