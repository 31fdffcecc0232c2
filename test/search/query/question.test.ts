import { expect, test } from 'vitest'
import { questionTerms } from '../../../src/search/query/query-words.ts'
import { analyserFor } from '../../../src/search/text/analyser.ts'

const english = analyserFor('en')

function terms(question: string): string[] {
  return questionTerms(question, english).map(({ term }) => term)
}

test('a question is its terms without stop words', () => {
  expect(terms("How do I escalate a customer's ticket? I don't know")).toEqual(['escal', 'custom', 'ticket', 'know'])
})

test('a term weighs as much as it occurs often', () => {
  expect(questionTerms('tickets, ticket: login', english)).toEqual([
    { term: 'ticket', weight: 2 },
    { term: 'login', weight: 1 },
  ])
})

test('an identifier is sought by its parts and by the whole, also where it begins with a stop word', () => {
  expect(terms('Is GitHub on-call?')).toEqual(['git', 'hub', 'call', 'github', 'oncal'])
})

test('a run of characters is sought by its pairs alone', () => {
  expect(terms('中国人')).toEqual(['中国', '国人'])
  expect(terms('中')).toEqual(['中'])
})

test('the 64 most frequent terms are kept, then the first', () => {
  const words = Array.from({ length: 100 }, (_, index) => `w${index}`)
  expect(terms([...words, 'w99'].join(' '))).toEqual(['w99', ...words.slice(0, 63)])
})

test('a question of stop words asks for nothing', () => {
  expect(questionTerms('What is it?', english)).toEqual([])
})
