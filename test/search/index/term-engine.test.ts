import { describe, expect, test } from 'vitest'
import { Deadline } from '../../../src/search/index/deadline.ts'
import type { Query } from '../../../src/search/query/query-tree.ts'
import { engines, newEngine } from '../engine-support.ts'
import { curator, page, tool } from '../support.ts'

const later = new Deadline(10_000)

const ticket: Query = { type: 'term', term: 'ticket', text: 'ticket' }
const pages = [
  page('h_1', 'ticket ticket lead'),
  page('h_2', ['ticket', 'lead and lead']),
  page('h_3', 'lead'),
  page('h_4', 'ticket and much more that is told of it here'),
  page('h_5', 'ticket ticket ticket', { audience: ['board'] }),
]

describe.each(engines)('%s', (name) => {
  test('finds only among the pages that are let through, with the scores that they have among all', () => {
    const { engine, visible, keyOf, idOf } = newEngine(name, pages)
    const seen = visible(tool)
    const among = Uint8Array.from(seen.pages, (isSeen, id) => (id === idOf('h_1') ? 0 : isSeen))
    const all = engine.search(ticket, seen, 10, later)
    const some = engine.search(ticket, seen, 10, later, among)
    expect(all.pages.map(({ page: id }) => keyOf(id))).toEqual(['h_1', 'h_2', 'h_4'])
    expect(some.pages).toEqual(all.pages.filter(({ page: id }) => id !== idOf('h_1')))
    expect([all.total, some.total]).toEqual([3, 2])
    expect(engine.search(ticket, seen, 1, later, among).total).toBe(2)
    expect(engine.search(ticket, seen, 10, later, new Uint8Array(among.length))).toMatchObject({ pages: [], total: 0 })
  })

  test('a leaf counts as much as its weight, and a page with several of them the sum', () => {
    const { engine, visible } = newEngine(name, pages)
    const seen = visible(tool)
    const scores = (query: Query) =>
      new Map(engine.search(query, seen, 10, later).pages.map((one) => [one.page, one.score]))
    const [ofTicket, ofLead] = [scores(ticket), scores({ type: 'term', term: 'lead', text: 'lead' })]
    const both = scores({
      type: 'or',
      queries: [
        { ...ticket, weight: 0.5 },
        { type: 'prefix', prefix: 'lea', text: 'lea' },
      ],
    })
    const { page: last = -1 } = engine.search(ticket, seen, 10, later).pages.at(-1) ?? {}
    expect(both.get(last)).toBeCloseTo((ofTicket.get(last) ?? 0) / 2)
    const first = engine.search(ticket, seen, 1, later).pages[0]?.page ?? -1
    expect(both.get(first)).toBeCloseTo((ofTicket.get(first) ?? 0) / 2 + (ofLead.get(first) ?? 0))
  })

  test('a bonus scores what matches, and makes nothing match', () => {
    const { engine, visible, keyOf, idOf } = newEngine(name, pages)
    const seen = visible(tool)
    const bonus: Query = { type: 'term', term: 'lead', text: 'lead', weight: 20, isBonus: true }
    const found = engine.search({ type: 'or', queries: [ticket, bonus] }, seen, 10, later)
    expect(found.pages.map(({ page: id }) => keyOf(id))).toEqual(['h_2', 'h_1', 'h_4'])
    expect(found.total).toBe(3)
    expect(found.matching()[idOf('h_3')]).toBe(0)
    const both: Query = {
      type: 'and',
      queries: [
        { type: 'or', queries: [ticket, bonus] },
        { type: 'term', term: 'much', text: 'much' },
      ],
    }
    expect(engine.search(both, seen, 10, later).pages.map(({ page: id }) => keyOf(id))).toEqual(['h_4'])
  })

  test('finds nothing but the number of pages with a limit of 0', () => {
    const { engine, visible } = newEngine(name, pages)
    expect(engine.search(ticket, visible(tool), 0, later)).toMatchObject({ pages: [], total: 3 })
  })

  test('tells which pages match, beyond the limit too', () => {
    const { engine, visible, keyOf, idOf } = newEngine(name, pages)
    const seen = visible(tool)
    const keysOf = (matching: Uint8Array) =>
      Array.from(matching, (matched, id) => (matched === 1 ? [keyOf(id)] : [])).flat()
    expect(keysOf(engine.search(ticket, seen, 1, later).matching())).toEqual(['h_1', 'h_2', 'h_4'])
    const among = Uint8Array.from(seen.pages, (_, id) => (id === idOf('h_2') || id === idOf('h_3') ? 1 : 0))
    expect(keysOf(engine.search(ticket, seen, 1, later, among).matching())).toEqual(['h_2'])
  })

  test.each([
    ['tiket', 1, ['ticket']],
    ['ticekt', 1, ['ticket']],
    ['tickets', 1, ['ticket']],
    ['ticket', 0, ['ticket']],
    ['wicket', 1, ['ticket']],
    ['wickat', 1, []],
    ['wickat', 2, ['ticket']],
    ['tciket', 1, ['ticket']],
    ['itcekt', 2, ['ticket']],
    ['led', 1, ['lead']],
    ['x'.repeat(64), 2, []],
    ['北京', 1, ['北京', '北海', '京']],
  ])('terms similar to %s with %d edits are %s', (word, maxEdits, expected) => {
    const { engine, visible } = newEngine(name, [...pages, page('h_6', '北京 北海')])
    const found = engine.similarTerms(word, maxEdits, visible(curator), later)
    expect(found.map(([term]) => term).toSorted()).toEqual(expected.toSorted())
  })

  test('similar terms are counted in what is visible, and none is told that stands in hidden pages alone', () => {
    const { engine, visible } = newEngine(name, [...pages, page('h_6', 'tickey', { audience: ['board'] })])
    expect(engine.similarTerms('ticket', 1, visible(tool), later)).toEqual([['ticket', 3]])
    expect(engine.similarTerms('ticket', 1, visible(curator), later).toSorted()).toEqual([
      ['ticket', 4],
      ['tickey', 1],
    ])
  })
})
