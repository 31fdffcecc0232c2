import { describe, expect, test, vi } from 'vitest'
import { pagesForAnswer } from '../../../src/search/answer/find-pages.ts'
import { Deadline } from '../../../src/search/index/deadline.ts'
import { parseQuery } from '../../../src/search/query/parse-query.ts'
import { engines, newEngine } from '../engine-support.ts'
import { curator, keysOf, newIndex, page, tool } from '../support.ts'

const manual = [
  page('m_1', 'How to install the server on Linux, and its configuration.', { title: 'Installation' }),
  page('m_2', 'Templates are used for new notes. A template has fields.', { title: 'Templates' }),
  page('m_3', 'A plugin that fills in fields of a template, and more templates.', { title: 'Templater' }),
  page('m_4', 'Open the command palette to run a command.', { title: 'Command palette' }),
  page('m_5', ['Kubernetes runs the server in a cluster.', 'Kubernetes again.'], { title: 'Clusters' }),
  page('m_6', 'Ein Satz über Müller, und 東京都の支店は九時に開きます。', { title: 'Andere' }),
]

describe.each(engines)('%s', (engine) => {
  test.each([
    ['instalation', ['m_1']],
    ['insatllation', ['m_1']],
    ['configuraton', ['m_1']],
    ['comand palete', ['m_4']],
    ['kuberntes', ['m_5']],
    ['kubrenetse', ['m_5']],
    ['kubern', ['m_5']],
    ['commandpalette', ['m_4']],
    ['müler', ['m_6']],
  ])('%s is read as it may have been meant', (q, keys) => {
    expect(keysOf(newIndex(engine, manual), q)).toEqual(keys)
  })

  test.each(['lin', 'sevr', 'm7', 'v12', 'servr2', 'xserver_name', 'kub', '東都', 'cmmnd'])(
    '%s is not: too short, no word, or too far from any',
    (q) => {
      expect(newIndex(engine, manual).search(q, curator)).toEqual({ hits: [], total: 0, matched: 'all' })
    },
  )

  test('what is written exactly so comes first, however often it is meant elsewhere', () => {
    const often = Array.from({ length: 30 }, (_, n) => page(`o_${n}`, 'palette palette palette', { title: 'Palette' }))
    const index = newIndex(engine, [
      ...often,
      page('x_1', `A pallette, ${'and much that is said beside it '.repeat(20)}.`),
    ])
    const { hits, total, suggestion } = index.search('pallette', { ...curator, limit: 5 })
    expect(hits[0]).toMatchObject({ key: 'x_1', rank: 1 })
    expect([hits.length, total, suggestion]).toEqual([5, 31, 'palette'])
    for (const [at, { rank }] of hits.entries()) expect(rank).toBeLessThanOrEqual(hits[at - 1]?.rank ?? 1)
    expect(hits[1]?.highlight).toBe('<mark>palette</mark> <mark>palette</mark> <mark>palette</mark>')
    expect(index.search('palette', curator).total).toBe(30)
  })

  test.each([
    ['insatllation of a servre', 'installation of a server'],
    ['kubern', 'kubernetes'],
    ['Tempalte fields', 'template fields'],
    ['tempaltes (fields)', 'templates (fields)'],
    ['commandpalette run', 'command palette run'],
    ['mülller', 'müller'],
    ['kuberntes OR palette', undefined],
    ['template', undefined],
    ['-kuberntes server', undefined],
  ])('%s: did you mean %s?', (q, suggestion) => {
    expect(newIndex(engine, manual).search(q, curator).suggestion).toBe(suggestion)
  })

  test('a suggestion is no rare word, which may be a slip itself, where a frequent one is as likely meant', () => {
    const often = Array.from({ length: 30 }, (_, n) => page(`o_${n}`, 'An obsidian is sent, and a letter.'))
    const index = newIndex(engine, [...often, page('x_1', 'An obisdian was sent, and a betters.')])
    expect(index.search('obisdiam', curator).suggestion).toBe('obsidian')
    expect(index.search('bettter', curator).suggestion).toBe('betters')
    expect(index.search('obisdian', curator).hits[0]?.key).toBe('x_1')
  })

  test('a suggestion is made of what the audience may see, and of the words that it may see', () => {
    const hidden = [
      page('s_1', 'Kubernetis, and a configurator.', { title: 'Tempel', audience: ['board'] }),
      page('s_2', 'kubernetiz', { audience: ['board'] }),
    ]
    const open = newIndex(engine, manual)
    const mixed = newIndex(engine, [...hidden, ...manual])
    for (const q of ['kubernetiz', 'kubernetis server', 'configurato', 'tempel', 'kubernet', 'kubernetizz fields']) {
      expect(mixed.search(q, tool), q).toEqual(open.search(q, tool))
      expect(mixed.search(q, tool, { isTyped: true }), q).toEqual(open.search(q, tool, { isTyped: true }))
    }
    expect(mixed.search('tempel', curator).hits[0]?.key).toBe('s_1')
  })

  test('where nothing matches all words, what matches most of them comes first', () => {
    const index = newIndex(engine, manual)
    const { hits, total, matched } = index.search('kubernetes cluster template nonsense', curator)
    expect([hits.map(({ key }) => key), total, matched]).toEqual([['m_5', 'm_2', 'm_3'], 3, 'some'])
    expect(index.search('kubernetes template nonsense', { ...curator, limit: 1 })).toMatchObject({
      total: 3,
      matched: 'some',
    })
    expect(index.search('template fields', curator).matched).toBe('all')
    expect(index.search('nonsense gibberish', curator)).toEqual({ hits: [], total: 0, matched: 'all' })
    for (const [at, { rank }] of hits.entries()) expect(rank).toBeLessThanOrEqual(hits[at - 1]?.rank ?? 1)
  })

  test('what is excluded stays excluded', () => {
    const index = newIndex(engine, manual)
    expect(keysOf(index, 'kubernetes template nonsense -plugin').toSorted()).toEqual(['m_2', 'm_5'])
    expect(keysOf(index, 'tempaltes -plugin')).toEqual(['m_2'])
    expect(keysOf(index, 'kubernetes nonsense NOT server')).toEqual([])
  })

  test('the last word of an interactive query goes on', () => {
    const index = newIndex(engine, manual)
    const typed = (q: string) => index.search(q, curator, { isTyped: true }).hits.map(({ key }) => key)
    expect(typed('command pal')).toEqual(['m_4'])
    expect(typed('te').toSorted()).toEqual(['m_2', 'm_3'])
    expect(typed('pal command')).toEqual(keysOf(index, 'pal command'))
    expect(typed('te ')).toEqual([])
    expect(typed('t')).toEqual([])
    expect(typed('-te')).toEqual([])
    expect(typed('command OR kuber').toSorted()).toEqual(['m_4', 'm_5'])
    expect(typed('"command pal"')).toEqual([])
    expect(typed('template')[0]).toBe('m_2')
  })

  test('a page that is called exactly so comes before one that only stems alike', () => {
    const index = newIndex(engine, manual)
    expect(keysOf(index, 'Templater')[0]).toBe('m_3')
    expect(keysOf(index, 'templates')[0]).toBe('m_2')
    const named = [
      page('n_1', 'See the daily notes, daily notes and daily notes.', { title: 'Notes of the day, and daily ones' }),
      page('n_2', 'A plugin.', { title: 'Daily notes' }),
      page('n_3', 'See the daily notes.', { title: 'Journal', aliases: ['Day book'] }),
    ]
    expect(keysOf(newIndex(engine, named), 'daily notes')[0]).toBe('n_2')
    expect(keysOf(newIndex(engine, named), 'day book')[0]).toBe('n_3')
  })

  test('of many misspelled words only a few are looked for among all terms', () => {
    const { engine: terms, visible, store, catalog, analyser } = newEngine(engine, manual)
    const similarTerms = vi.spyOn(terms, 'similarTerms')
    const q = Array.from('bcdfghjkmnpqrstvwxz', (letter) => `instal${letter}ation`).join(' ')
    const parsed = parseQuery(q, analyser)
    if (parsed === undefined) throw new Error('no query')
    const seen = visible(curator)
    const scope = { visible: seen, allowedPages: seen.pages, limit: 10, deadline: new Deadline(10_000) }
    const { suggestion } = pagesForAnswer(q, parsed, { engine: terms, store, catalog, analyser }, scope)
    expect(similarTerms.mock.calls.length).toBeLessThanOrEqual(8)
    expect(suggestion?.match(/installation/g)).toHaveLength(4)
  })
})
