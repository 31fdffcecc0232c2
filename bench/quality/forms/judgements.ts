import type { Collection } from '../collection.ts'

/** Collects judgements by query. The numbers of queries and documents count, not how they are written: `01` is `1`. */
export function gatherJudgements(
  judged: Iterable<{ query: string; document: string; grade: number }>,
): Collection['judgements'] {
  const judgements: Collection['judgements'] = new Map()
  for (const { query, document, grade } of judged) {
    const ofQuery = judgements.get(plain(query)) ?? new Map<string, number>()
    ofQuery.set(plain(document), grade)
    judgements.set(plain(query), ofQuery)
  }
  return judgements
}

/** A number without leading zeros and spaces. */
export function plain(number: string): string {
  return number.trim().replace(/^0+(?=\d)/, '')
}

/** A text in one line. */
export function inLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}
