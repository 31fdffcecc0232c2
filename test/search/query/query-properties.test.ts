import { expect, test } from 'vitest'
import { everyLeafOf, type Query, QueryError } from '../../../src/search/query/query-tree.ts'
import { hostileText } from '../../rules/hostile-text.ts'
import { fc, runs } from '../../support/properties.ts'
import { finds, queryOf } from './query-support.ts'

/** No negation but in an `and` with something else; nothing empty. */
function isSound(query: Query): boolean {
  if (query.type === 'term') return query.term !== ''
  if (query.type === 'prefix') return query.prefix !== ''
  if (query.type === 'phrase') return query.terms.length > 1
  if (query.type === 'not') return false
  const positive = query.queries.filter(({ type }) => type !== 'not')
  const negated = query.queries.flatMap((part) => (part.type === 'not' ? [part.query] : []))
  return (
    query.queries.length > 1 &&
    positive.length > 0 &&
    (query.type === 'and' || negated.length === 0) &&
    [...positive, ...negated].every(isSound)
  )
}

const parts = fc.constantFrom(
  'OR',
  'NOT',
  'AND',
  ' ',
  '-',
  '"',
  '“',
  '*',
  '(',
  ')',
  'vpn',
  'the',
  'foo-bar',
  '中国',
  '国',
  'GitHub',
)

test('any text is a sound query, or beyond the limits', () => {
  const queries = fc.array(fc.oneof(parts, hostileText), { maxLength: 20 }).map((texts) => texts.join(''))
  fc.assert(
    fc.property(queries, fc.constantFrom('en', 'de', 'fr', 'ja'), (q, language) => {
      try {
        const query = queryOf(q, language)
        expect(query === undefined || isSound(query)).toBe(true)
        if (query !== undefined) for (const { text } of everyLeafOf(query)) expect(text).not.toBe('')
      } catch (error) {
        expect(error).toBeInstanceOf(QueryError)
      }
    }),
    { numRuns: runs(2000) },
  )
})

test('every word of a text finds the text', () => {
  const syllables = fc.constantFrom(
    'git',
    'Hub',
    'API',
    's',
    'é',
    '_',
    '-',
    '.',
    "'",
    '2',
    '10,000',
    '中',
    '国',
    '人',
    'ガ',
    'ing',
    'X',
  )
  const word = fc.array(syllables, { minLength: 1, maxLength: 6 }).map((texts) => `kw${texts.join('')}`)
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('en', 'fr', 'de', 'zh'),
      (words, language) => {
        for (const q of words) expect(finds(q, words.join(' '), language), q).toBe(true)
        expect(finds(`"${words.join(' ')}"`, words.join(' '), language)).toBe(true)
      },
    ),
    { numRuns: runs(2000) },
  )
})

test('what is hostile to a parser is read in full', () => {
  for (const q of [
    '"'.repeat(100_000),
    '-'.repeat(100_000),
    'OR '.repeat(50_000),
    '("'.repeat(50_000),
    'x'.repeat(1_000_000),
  ]) {
    expect(() => queryOf(q)).not.toThrow()
  }
})
