import { occurrences } from '../index/page-terms.ts'
import type { QuestionTerm } from '../query/question.ts'

/** The part of a question's terms, by weight, that a chunk's terms hold: 0 to 1. */
export function coverage(terms: string, weighted: readonly QuestionTerm[]): number {
  let [held, all] = [0, 0]
  for (const { term, weight } of weighted) {
    all += weight
    if (occurrences(terms, term) > 0) held += weight
  }
  return all === 0 ? 0 : held / all
}
