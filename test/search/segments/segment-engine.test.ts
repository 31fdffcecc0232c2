import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Deadline } from '../../../src/search/index/deadline.ts'
import type { Leaf, Query } from '../../../src/search/query/query-tree.ts'
import type { IndexedDocument } from '../../../src/search/search-index.ts'
import { fc, runs } from '../../support/properties.ts'
import { tempDir } from '../../support/temp.ts'
import { newEngine } from '../engine-support.ts'
import { curator, newIndex, page, tool } from '../support.ts'

const later = new Deadline(600_000)

/** A generator of numbers in [0, 1), the same for the same seed; Park and Miller, 1988. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** Words as languages have them: a few stand everywhere, and most almost nowhere. */
function randomPages(count: number, seed: number): IndexedDocument[] {
  const random = randomFrom(seed)
  const words = (length: number) =>
    Array.from({ length }, () => `w${Math.floor(400 * random() ** 4).toString(36)}`).join(' ')
  return Array.from({ length: count }, (_, n) =>
    page(
      `p_${n}`,
      Array.from({ length: 1 + Math.floor(4 * random() ** 3) }, () => words(5 + Math.floor(random() * 60))),
      { title: words(2), audience: n % 5 === 0 ? ['board'] : undefined, version: `${seed}` },
    ),
  )
}

const queries = [
  'w0',
  'w1 w2',
  'w0 OR w5 OR w9',
  'w3 -w0',
  '"w0 w1"',
  '"w0 w0" OR wa',
  'w1*',
  'w2* w4',
  'wb1',
  'w0 -"w1 w0"',
]

const answers = (index: ReturnType<typeof newIndex>) =>
  queries.flatMap((q) =>
    [curator, tool].flatMap((scope) => [
      index.search(q, { ...scope, limit: 3 }),
      index.retrieve(q, { ...scope, limit: 3 }),
    ]),
  )

test('the best of many pages are the best of all of them, whatever is passed over on the way', () => {
  const pages = randomPages(2500, 7)
  const segments = newIndex('segments')
  for (let start = 0; start < pages.length; start += 250) {
    segments.apply({ put: pages.slice(start, start + 250), remove: [] })
  }
  expect(answers(segments)).toEqual(answers(newIndex('minisearch', pages)))
})

test('so they are of any query, bonus and weights included', () => {
  const pages = randomPages(2500, 17)
  const [segments, exhaustive] = [newEngine('segments', pages), newEngine('minisearch', pages)]
  const word = fc.integer({ min: 0, max: 60 }).map((n) => `w${Math.floor(400 * (n / 61) ** 4).toString(36)}`)
  const leaf = fc
    .record({
      of: fc.oneof(
        { weight: 4, arbitrary: word.map((term) => ({ type: 'term', term }) as const) },
        fc.constantFrom('w1', 'w4', 'wa').map((prefix) => ({ type: 'prefix', prefix }) as const),
        fc.tuple(word, word).map((terms) => ({ type: 'phrase', terms }) as const),
      ),
      weight: fc.constantFrom(undefined, 0.3, 1.5),
    })
    .map(({ of, weight }): Leaf => ({ ...of, text: 'as typed', ...(weight === undefined ? {} : { weight }) }))
  const bonus = leaf.map((one): Leaf => ({ ...one, isBonus: true }))
  const withBonus = fc
    .tuple(leaf, fc.array(bonus, { maxLength: 2 }))
    .map(([one, more]): Query => (more.length === 0 ? one : { type: 'or', queries: [one, ...more] }))
  const query = fc
    .tuple(fc.constantFrom('and', 'or'), withBonus, fc.array(withBonus, { maxLength: 3 }))
    .map(([type, first, others]): Query => (others.length === 0 ? first : { type, queries: [first, ...others] }))
  const question = fc.array(fc.record({ term: word, weight: fc.constantFrom(0.2, 1, 2) }), {
    minLength: 1,
    maxLength: 6,
  })
  const limits = fc.constantFrom(1, 5, 40)
  fc.assert(
    fc.property(query, question, limits, fc.constantFrom(curator, tool), (sought, terms, limit, scope) => {
      const [ours, theirs] = [segments, exhaustive].map(({ engine, visible }) => {
        const seen = visible(scope)
        const { pages: best, total } = engine.search(sought, seen, limit, later)
        return { best, total, chunks: engine.retrieve(terms, seen, limit, later) }
      })
      expect(ours).toEqual(theirs)
    }),
    { numRuns: runs(300, 60) },
  )
})

test('what was changed, saved, merged and opened again is as if it had been made at once', () => {
  const directory = tempDir()
  const pages = randomPages(400, 11)
  let index = newIndex('segments', pages, directory)
  for (const [round, seed] of [3, 5, 8, 13, 21, 34].entries()) {
    const put = randomPages(400, seed).filter((_, n) => n % 6 === round)
    const remove = [`p_${round * 7}`, `p_${round * 11}`]
    const removed = new Set([...put.map(({ key }) => key), ...remove])
    index.apply({ put, remove: remove.filter((key) => !put.some((one) => one.key === key)) })
    pages.splice(0, pages.length, ...pages.filter(({ key }) => !removed.has(key)), ...put)
    index.save()
    if (round % 2 === 0) continue
    index.close()
    index = newIndex('segments', [], directory)
  }
  while (index.work());
  expect(answers(index)).toEqual(answers(newIndex('minisearch', pages)))
  // Seven were written, and merged as they became four of a size.
  expect(readdirSync(directory).filter((name) => name.endsWith('.segment')).length).toBeLessThan(5)
})

test('many pages that score the same come by their keys', () => {
  const pages = Array.from({ length: 3000 }, (_, n) => page(`p_${String((n * 7919) % 3000).padStart(4, '0')}`, 'same'))
  const { hits, total } = newIndex('segments', pages).search('same', { ...curator, limit: 4 })
  expect([hits.map(({ key }) => key), total]).toEqual([['p_0000', 'p_0001', 'p_0002', 'p_0003'], 3000])
})
