import { expect, test } from 'vitest'
import { countTerms } from '../../../src/search/index/term-counts.ts'
import {
  type ExpansionTerm,
  type Figures,
  feedback,
  feedbackParameters,
} from '../../../src/search/rank/relevance-feedback.ts'
import { TermTable } from '../../../src/search/text/term-table.ts'

const table = new TermTable()
const figures: Figures = { chunkCount: 1000, averageLength: 4, chunksWith: () => 3, vocabulary: table.terms }
const question = new Map([['wing', 1]])

function candidate(page: number, score: number, terms: string): ExpansionTerm {
  return { page, score, held: countTerms(` ${terms} ¶ `, 0, table), length: terms.split(' ').length }
}

/** The candidates' pages, best first. */
function order(candidates: ExpansionTerm[], parameters = feedbackParameters, given = figures): number[] {
  const scores = feedback(candidates, question, given, parameters)
  return candidates
    .map(({ page }, index) => ({ page, score: scores[index] ?? 0 }))
    .sort((a, b) => b.score - a.score)
    .map(({ page }) => page)
}

const candidates = [
  candidate(1, 10, 'wing lift drag flow'),
  candidate(2, 9.9, 'wing lift drag stall'),
  candidate(3, 6, 'wing bird nest egg'),
  candidate(4, 5.9, 'wing lift drag flow'),
]

test('a candidate that shares words with the best ones rises', () => {
  expect(order(candidates)).toEqual([1, 2, 4, 3])
})

test('without weight the order stays that of the scores', () => {
  expect(order(candidates, { ...feedbackParameters, weight: 0 })).toEqual([1, 2, 3, 4])
})

test('words that stand in more than a tenth of the chunks say nothing', () => {
  const everywhere = { ...figures, chunksWith: (term: string) => (term === 'wing' ? 3 : 101) }
  expect(order(candidates, feedbackParameters, everywhere)).toEqual([1, 2, 3, 4])
})

test('a page has one say, however many of its chunks are found', () => {
  const chatty = [
    candidate(1, 10, 'wing lift drag flow'),
    ...Array.from({ length: 5 }, () => candidate(2, 9.9, 'wing bird nest egg')),
    candidate(3, 5.9, 'wing bird nest egg'),
    candidate(4, 5.9, 'wing lift drag flow'),
  ]
  expect(order(chatty, { ...feedbackParameters, pages: 2 }).slice(-2)).toEqual([4, 3])
})

test('a text that a chunk repeats, as its title, counts once', () => {
  const once = feedback([candidate(1, 10, 'wing lift')], question, figures, feedbackParameters)
  const held = countTerms(' wing lift ¶ wing lift ¶ wing lift ¶ ', 0, table)
  const thrice = { ...candidate(1, 10, 'wing lift'), held }
  expect(feedback([thrice], question, figures, feedbackParameters)).toEqual(once)
})

test('nothing found is nothing to score', () => {
  expect(feedback([], question, figures, feedbackParameters)).toEqual([])
})
