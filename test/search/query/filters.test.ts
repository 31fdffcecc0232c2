import { describe, expect, test } from 'vitest'
import type { PageFilter } from '../../../src/search/query/filters.ts'
import { engines } from '../engine-support.ts'
import { curator, keysOf, newIndex, page, tool } from '../support.ts'

const pages = [
  page('f_1', 'Page the lead of a ticket.', {
    title: 'VIP escalation policy',
    tags: ['Policy', 'team/sales'],
    path: 'guides/vip policy',
    changedAt: '2026-03-01T10:00:00.000Z',
  }),
  page('f_2', 'A ticket is closed.', {
    title: 'Closing',
    tags: ['team'],
    path: 'guides/install/closing',
    changedAt: '2026-05-31T23:59:59.000Z',
  }),
  page('f_3', 'A ticket in a file.', {
    kind: 'source',
    title: 'notes.txt',
    path: 'hr/notes.txt',
    changedAt: '2025-12-31T00:00:00.000Z',
  }),
  page('f_4', 'Ticket: std::x at http://example.org, and foo:bar.', {
    title: 'Kind regards',
    path: 'closing',
    changedAt: '2026-06-01T00:00:00.000Z',
  }),
  page('f_5', 'A secret ticket.', {
    title: 'Secret policy',
    tags: ['Policy', 'hidden'],
    path: 'board/policy',
    changedAt: '2026-06-02T00:00:00.000Z',
    audience: ['board'],
  }),
]

describe.each(engines)('%s', (engine) => {
  test('filters follow the changes of pages, before and after they are asked for the first time', () => {
    const index = newIndex(engine, pages)
    index.apply({ put: [page('f_2', 'A ticket is open.', { tags: ['Policy'] })], remove: ['f_1'] })
    expect(keysOf(index, 'ticket tag:policy').sort()).toEqual(['f_2', 'f_5'])
    index.apply({ put: [page('f_6', 'Another ticket.', { tags: ['policy'] })], remove: ['f_2'] })
    expect(keysOf(index, 'ticket tag:policy').sort()).toEqual(['f_5', 'f_6'])
    expect(index.search('ticket', { ...tool, limit: 9 }, { hasFacets: true }).facets?.tags).toEqual([
      { value: 'policy', count: 1 },
    ])
  })

  test('a question is answered from the pages that pass filters alone, ranked as without them', () => {
    const index = newIndex(engine, pages)
    const scope = { ...tool, limit: 3 }
    const ranked = index.retrieve('a ticket', scope)
    const found = (...filters: PageFilter[]) =>
      index.retrieve(
        'a ticket',
        { ...scope, limit: 1 },
        { filters: filters.map((one) => ({ any: [one], isNegated: false })) },
      )
    for (const { key, ...hit } of ranked) {
      const [only, ...others] = found({ type: 'keys', keys: new Set([key, 'f_5']) })
      expect([only, others]).toMatchObject([{ key, content: hit.content, rarity: hit.rarity }, []])
    }
    expect(found({ type: 'kind', kind: 'source' }, { type: 'path', path: 'guides' })).toEqual([])
  })

  test.each([
    ['ticket tag:policy', ['f_1']],
    ['ticket after:2026-06-01T02:00+02:00', ['f_4']],
    ['ticket after:2026-06-01T00:00:01Z', []],
    ['ticket tag:#TEAM', ['f_1', 'f_2']],
    ['ticket tag:"team/sales"', ['f_1']],
    ['ticket -tag:team', ['f_3', 'f_4']],
    ['ticket NOT tag:policy NOT kind:source', ['f_2', 'f_4']],
    ['ticket tag:policy OR tag:team', ['f_1', 'f_2']],
    ['ticket tag:policy tag:team', ['f_1']],
    ['path:guides ticket', ['f_1', 'f_2']],
    ['ticket path:install', ['f_2']],
    ['ticket path:closing', ['f_2', 'f_4']],
    ['ticket path:/closing', ['f_4']],
    ['ticket path:"guides/vip p"', ['f_1']],
    ['ticket path:uides', []],
    ['ticket title:vip', ['f_1']],
    ['ticket title:"policy escal"', ['f_1']],
    ['ticket Title:POLICY', ['f_1']],
    ['ticket kind:source', ['f_3']],
    ['ticket kind:WIKI -tag:team', ['f_4']],
    ['ticket before:2026', ['f_3']],
    ['ticket after:2026-06', ['f_4']],
    ['ticket after:2026-03-01 before:2026-06', ['f_1', 'f_2']],
    ['-ticket tag:team', []],
    ['tag:team -closed', ['f_1']],
    ['"a ticket" tag:team', ['f_1', 'f_2']],
    ['tikcet tag:policy', ['f_1']],
  ])('%s finds %s', (q, keys) => {
    expect(keysOf(newIndex(engine, pages), q, tool).toSorted()).toEqual(keys)
  })

  test.each(['std::x', 'http://example.org', 'foo:bar', 'kind:regards', 'tag: ticket', 'before:noon ticket'])(
    '%s is words, no filter',
    (q) => {
      expect(keysOf(newIndex(engine, pages), q, tool)).toContain('f_4')
    },
  )

  test('filters alone list pages, those that were changed last first', () => {
    const index = newIndex(engine, pages)
    expect(keysOf(index, 'kind:wiki', tool)).toEqual(['f_4', 'f_2', 'f_1'])
    const { hits, total } = index.search('kind:wiki', { ...tool, limit: 1 })
    expect([hits, total]).toEqual([
      [{ key: 'f_4', highlight: 'Ticket: std::x at http://example.org, and foo:bar.', rank: 1 }],
      3,
    ])
    expect(keysOf(index, '-tag:team', tool)).toEqual([])
  })

  test('scores are those without the filter, and the total counts what passes', () => {
    const index = newIndex(engine, pages)
    const all = index.search('ticket', tool)
    const some = index.search('ticket -kind:source', { ...tool, limit: 2 })
    expect([all.total, some.total, some.hits.length]).toEqual([4, 3, 2])
    const rankOf = (key: string) => all.hits.find((hit) => hit.key === key)?.rank ?? 0
    const [first, second] = some.hits
    expect((second?.rank ?? 0) / (first?.rank ?? 1)).toBeCloseTo(rankOf(second?.key ?? '') / rankOf(first?.key ?? ''))
  })

  test('facets count all that matches, on this page or not, and nothing hidden', () => {
    const index = newIndex(engine, [
      ...pages,
      page('f_6', 'Nothing.', { tags: ['policy'], path: 'guides/noted', note: 'A ticket, too' }),
    ])
    const { facets } = index.search('ticket', { ...tool, limit: 1 }, { hasFacets: true })
    expect(facets).toEqual({
      tags: [
        { value: 'Policy', count: 2 },
        { value: 'team', count: 1 },
        { value: 'team/sales', count: 1 },
      ],
      kinds: [
        { value: 'wiki', count: 4 },
        { value: 'source', count: 1 },
      ],
      folders: [
        { value: 'guides', count: 2 },
        { value: '', count: 1 },
        { value: 'guides/install', count: 1 },
        { value: 'hr', count: 1 },
      ],
    })
    expect(index.search('ticket tag:team', tool, { hasFacets: true }).facets?.kinds).toEqual([
      { value: 'wiki', count: 2 },
    ])
    expect(index.search('ticket', tool)).not.toHaveProperty('facets')
    expect(index.search('ticket', curator, { hasFacets: true }).facets?.tags[0]).toEqual({ value: 'Policy', count: 3 })
  })

  test('what is hidden changes no list, no facet and no filter', () => {
    const open = newIndex(
      engine,
      pages.filter(({ key }) => key !== 'f_5'),
    )
    const mixed = newIndex(engine, pages)
    for (const q of [
      'kind:wiki',
      'tag:policy',
      'tag:hidden',
      'title:secret',
      'path:board',
      'after:2026-06-02',
      'secret tag:policy',
    ])
      expect(mixed.search(q, tool, { hasFacets: true }), q).toEqual(open.search(q, tool, { hasFacets: true }))
  })

  test('what is changed is filtered by what it is now', () => {
    const index = newIndex(engine, pages)
    index.apply({
      put: [page('f_2', 'A ticket.', { tags: ['policy'], path: 'hr/closing', changedAt: '2027-01-01T00:00:00.000Z' })],
      remove: ['f_1'],
    })
    expect(keysOf(index, 'ticket tag:policy', tool)).toEqual(['f_2'])
    expect(keysOf(index, 'ticket path:guides', tool)).toEqual([])
    expect(keysOf(index, 'ticket after:2027', tool)).toEqual(['f_2'])
  })
})
