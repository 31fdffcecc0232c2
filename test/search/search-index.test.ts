import { describe, expect, test } from 'vitest'
import { QueryError } from '../../src/search/query/query-tree.ts'
import type { IndexedDocument } from '../../src/search/search-index.ts'
import { fc, runs } from '../support/properties.ts'
import { tempDir } from '../support/temp.ts'
import { curator, keysOf, newIndex, page, tool } from './support.ts'

const handbook = [
  page('h_1', ['When a VIP customer raises a ticket, page the lead.', 'The lead answers within ten minutes.'], {
    title: 'VIP escalation policy',
  }),
  page('h_2', 'Who is on call this week is written in the calendar.', { title: 'On-call rotation' }),
  page('h_3', 'The café in Łódź serves the team. 東京都の支店は九時に開きます。', { title: 'Offices' }),
  page('h_4', 'Call parseQuery() or read_file; see the calendar.', { title: 'Code', tags: ['developers'] }),
]

describe.each(['minisearch', 'segments'] as const)('%s', (engine) => {
  test('all words must match, in the page as a whole, whatever their form', () => {
    const index = newIndex(engine, handbook)
    expect(keysOf(index, 'tickets paging')).toEqual(['h_1'])
    expect(keysOf(index, 'ticket minutes')).toEqual(['h_1'])
    expect(index.search('ticket calendar', curator).matched).toBe('some')
    expect(keysOf(index, 'calendar').sort()).toEqual(['h_2', 'h_4'])
  })

  test('titles, headings, tags and aliases are found', () => {
    const headed = page('h_5', [], {
      title: 'Plain',
      aliases: ['Other name'],
      chunks: [{ headings: ['Installing', 'On Windows'], content: 'x', text: 'x' }],
    })
    const index = newIndex(engine, [...handbook, headed])
    expect(keysOf(index, 'escalation')).toEqual(['h_1'])
    expect(keysOf(index, 'developers')).toEqual(['h_4'])
    expect(keysOf(index, 'other name')).toEqual(['h_5'])
    expect(keysOf(index, '"on windows"')).toEqual(['h_5'])
  })

  test('a phrase matches words one after the other, not across chunks, titles and headings', () => {
    const index = newIndex(engine, handbook)
    expect(keysOf(index, '"page the lead"')).toEqual(['h_1'])
    expect(keysOf(index, '"the page lead"')).toEqual([])
    expect(keysOf(index, '"lead the lead"')).toEqual([])
    expect(keysOf(index, '"policy when"')).toEqual([])
  })

  test('a quoted word comes first where a page has it as typed', () => {
    const others = Array.from({ length: 60 }, (_, at) => page(`o_${at}`, 'Approved, approves, approving: approve.'))
    const filler = 'Much else is said here about the way that pages take, and who reads them.'
    const typed = Array.from({ length: 8 }, (_, at) => page(`t_${at}`, [filler, `${filler} One Approval, in passing.`]))
    const named = page('n_1', filler, { title: 'Steps', aliases: ['approval'] })
    const index = newIndex(engine, [...others, ...typed, named, page('x_1', 'The approvals are many.')])
    const expected = [...typed.map(({ key }) => key), 'n_1'].sort()
    expect(keysOf(index, 'approval', { ...curator, limit: 9 }).sort()).not.toEqual(expected)
    const { hits, total } = index.search('"approval"', { ...curator, limit: 100 })
    expect(total).toBe(70)
    expect(hits).toHaveLength(70)
    const keys = hits.map(({ key }) => key)
    expect(keys.slice(0, 9).sort()).toEqual(expected)
    expect(hits.every(({ rank }, at) => at === 0 || rank <= (hits[at - 1]?.rank ?? 0))).toBe(true)
    for (const offset of [0, 7, 14]) {
      expect(keysOf(index, '“approval”', { ...curator, limit: 7, offset })).toEqual(keys.slice(offset, offset + 7))
    }
  })

  test('a quoted phrase comes first where a page has it as typed', () => {
    const index = newIndex(engine, [
      page('f_1', 'Approved candidates. Approved candidates. Approves candidates.', { title: 'Approved candidates' }),
      page('f_2', 'Approve the rest, and a candidate. They approve candidates. A candidate approved candidates.'),
      page('f_3', 'It is long before anybody can say that this is an approved\ncandidate (or not), or what it is.'),
      page('f_4', '東京都の支店は九時に開きます。'),
      page('f_5', '東京都の支店。東京都の支店。'),
    ])
    expect(keysOf(index, '"approved candidate"')[0]).toBe('f_3')
    expect(keysOf(index, '"APPROVED Candidate."')[0]).toBe('f_3')
    expect(keysOf(index, '"approved candidate" say')).toEqual(['f_3'])
    expect(keysOf(index, '"approves candidates" "approved candidate" OR candidate')[0]).toBe('f_1')
    expect(keysOf(index, '"東京都の支店"').sort()).toEqual(['f_4', 'f_5'])
  })

  test('OR, NOT, - and prefixes', () => {
    const index = newIndex(engine, handbook)
    expect(keysOf(index, 'ticket OR calendar').sort()).toEqual(['h_1', 'h_2', 'h_4'])
    expect(keysOf(index, 'calendar -week')).toEqual(['h_4'])
    expect(keysOf(index, 'calendar NOT week')).toEqual(['h_4'])
    expect(keysOf(index, 'calendar -"this week"')).toEqual(['h_4'])
    expect(keysOf(index, 'esca*')).toEqual(['h_1'])
    expect(keysOf(index, 'escalat*')).toEqual(['h_1'])
  })

  test('case, diacritics, CJK and identifiers', () => {
    const index = newIndex(engine, handbook)
    expect(keysOf(index, 'CAFE lodz')).toEqual(['h_3'])
    expect(keysOf(index, '東京')).toEqual(['h_3'])
    expect(keysOf(index, '京都の支店')).toEqual(['h_3'])
    expect(keysOf(index, '京東')).toEqual([])
    expect(keysOf(index, 'parse')).toEqual(['h_4'])
    expect(keysOf(index, 'parsequery')).toEqual(['h_4'])
    expect(keysOf(index, 'read_file')).toEqual(['h_4'])
  })

  // The query, and a text that it finds and one that it does not.
  test.each([
    ['1.29.3', 'since v1.29.3', 'since v1.2.93'],
    ['v1.29.3', 'since 1.29.3', 'since 29.3'],
    ['v1.29', 'since v1.29.3', 'since v1.2.9'],
    ['5GB', 'a disk of 5 GB', 'GB of 5'],
    ['5 GB', 'a 5GB disk', '15GB'],
    ['nodejs', 'runs on Node.js', 'node, js'],
    ['node.js', 'runs on NodeJS', 'js of a node'],
    ['back up', 'the nightly backup', 'up at night'],
    ['backup', 'back up the disk', 'up and back'],
    ['web site', 'our website', 'our web'],
    ['C++', 'written in C++', 'written in C'],
    ['C#', 'written in C#', 'written in C'],
    ['colour', 'a color', 'a collar'],
    ['organizations', 'organisations', 'the origin of a state'],
    ['Mueller', 'Frau Müller', 'Frau Moller'],
    ['שלום', 'שָׁלוֹם', 'שלו'],
    ['الكتاب', 'الكِتَابُ', 'البيت'],
  ])('%s finds "%s", and not "%s"', (q, text, other) => {
    expect(keysOf(newIndex(engine, [page('h_1', text), page('h_2', other)]), q)).toEqual(['h_1'])
  })

  test('a seqId finds its Neuron alone, and its prefix no page', () => {
    const pages = [1, 2].map((n) => page(`my-kb_0000000${n}`, 'a page'))
    const index = newIndex(engine, [...pages, page('my-kb_00000003', 'see my-kb_00000001')])
    expect(keysOf(index, 'my-kb_00000002')).toEqual(['my-kb_00000002'])
    expect(keysOf(index, 'my-kb_00000001').toSorted()).toEqual(['my-kb_00000001', 'my-kb_00000003'])
    expect(keysOf(index, 'kb')).toEqual(['my-kb_00000003'])
    expect(index.retrieve('What does my-kb_00000002 say?', curator).map(({ key }) => key)).toContain('my-kb_00000002')
  })

  test('what can match nothing is an empty answer, what is beyond the limits an error', () => {
    const index = newIndex(engine, handbook)
    for (const q of ['the', 'OR', '-week', '" "', '*', '()', ' '])
      expect(index.search(q, curator)).toEqual({ hits: [], total: 0, matched: 'all' })
    expect(() => index.search(Array.from({ length: 33 }, (_, n) => `word${n}`).join(' '), curator)).toThrow(QueryError)
    expect(newIndex(engine).search('ticket', curator)).toEqual({ hits: [], total: 0, matched: 'all' })
    expect(newIndex(engine).retrieve('ticket', curator)).toEqual([])
  })

  test('the page that says it in its title comes first, and ranks fall from 1', () => {
    const index = newIndex(engine, [
      page('a_1', 'Backups are made at night, and of much else is told here, such as of rotation and of calls.'),
      page('a_2', 'They are made at night.', { title: 'Backups' }),
      page('a_3', 'Nothing of the kind.'),
    ])
    const { hits, total } = index.search('backups', curator)
    expect(hits.map(({ key }) => key)).toEqual(['a_2', 'a_1'])
    expect(total).toBe(2)
    expect(hits[0]?.rank).toBe(1)
    expect(hits[1]?.rank).toBeGreaterThan(0)
    expect(hits[1]?.rank).toBeLessThan(1)
  })

  test('the limit bounds the hits, not the total', () => {
    const index = newIndex(engine, handbook)
    const { hits, total } = index.search('calendar', { ...curator, limit: 1 })
    expect([hits.length, total]).toEqual([1, 2])
  })

  test('a question is answered by chunks that hold any of its terms, with how rare its terms are', () => {
    const index = newIndex(engine, handbook)
    const [first, second] = index.retrieve('How fast must the lead answer a ticket?', curator)
    expect(first).toMatchObject({ key: 'h_1', rank: 1 })
    expect(second).toMatchObject({ key: 'h_1' })
    expect(new Set([first?.ordinal, second?.ordinal])).toEqual(new Set([0, 1]))
    const { rarity = {} } = index.retrieve('lead elephants', curator)[0] ?? {}
    expect(rarity).toEqual({ lead: expect.any(Number), eleph: 1 })
    expect(rarity.lead).toBeLessThan(0.9)
    expect(index.retrieve('the of and', curator)).toEqual([])
  })

  test('what the audience may not see is neither found, counted nor felt in the ranks', () => {
    const seen = [...handbook, page('p_1', 'A ticket for the public.', { audience: ['public'] })]
    const hidden = [
      ...Array.from({ length: 20 }, (_, n) => page(`s_${n}`, 'A secret ticket, escalated.', { audience: ['board'] })),
      page('i_1', 'An internal ticket.', { tags: ['Internal'] }),
      page('st_1', 'A ticket for students.', { audience: ['student'] }),
    ]
    const open = newIndex(engine, seen)
    const mixed = newIndex(engine, [...hidden, ...seen])
    for (const q of ['ticket', 'ticket OR calendar', 'secret', 'escalat*', '"internal ticket"', 'calendar -ticket']) {
      expect(mixed.search(q, tool)).toEqual(open.search(q, tool))
      expect(mixed.retrieve(q, tool)).toEqual(open.retrieve(q, tool))
    }
    expect(keysOf(mixed, 'ticket', { ...tool, audience: 'student' })).toEqual(['st_1'])
    expect(keysOf(mixed, 'ticket', { ...tool, audience: 'public', defaultAudience: [] })).toEqual(['p_1'])
    expect(mixed.search('ticket', curator).total).toBe(24)
  })

  test('Sources are a kind of their own', () => {
    const index = newIndex(engine, [...handbook, page('019b', 'A ticket in a file.', { kind: 'source' })])
    expect(keysOf(index, 'ticket', { ...curator, kind: 'source' })).toEqual(['019b'])
    expect(keysOf(index, 'ticket', { ...curator, kind: 'wiki' })).toEqual(['h_1'])
    expect(index.search('ticket', curator).total).toBe(2)
  })

  test('a shared note is matched by substring, below what the page itself says', () => {
    const index = newIndex(engine, [...handbook, page('n_1', 'Nothing.', { note: 'Ask Zoë about unticketed work' })])
    expect(keysOf(index, 'ticket')).toEqual(['h_1', 'n_1'])
    expect(keysOf(index, 'zoe')).toEqual(['n_1'])
    expect(index.search('ticket', { ...curator, limit: 1 }).total).toBe(2)
  })

  test('highlights mark what matched, in the text or else in the title', () => {
    const index = newIndex(engine, [page('x_1', 'An <img onerror=alert(1)> ticket & more', { title: 'Safety <b>' })])
    expect(index.search('tickets', curator).hits[0]?.highlight).toBe(
      'An &lt;img onerror=alert(1)&gt; <mark>ticket</mark> &amp; more',
    )
    expect(index.search('safety', curator).hits[0]?.highlight).toBe('<mark>Safety</mark> &lt;b&gt;')
  })

  test('is the same after it was opened again, with a snapshot, an old one, or none', () => {
    const directory = tempDir()
    const answers = (index: ReturnType<typeof newIndex>) => [
      index.search('ticket OR calendar', curator),
      index.versions('', 100),
    ]
    const first = newIndex(engine, handbook, directory)
    first.save()
    first.apply({ put: [page('h_2', 'Now in the ticket.')], remove: ['h_4', 'unknown'] })
    const expected = answers(first)
    first.close()
    const second = newIndex(engine, [], directory)
    expect(answers(second)).toEqual(expected)
    second.save()
    second.close()
    expect(answers(newIndex(engine, [], directory))).toEqual(expected)
    expect(answers(newIndex(engine === 'segments' ? 'minisearch' : 'segments', [], directory))).toEqual(expected)
  })

  test('a page that comes in parts is not seen before the last of them, and is then as if it had come at once', () => {
    const directory = tempDir()
    const texts = Array.from({ length: 150 }, (_, n) => `A ticket of part ${n}, with ${n * 7919} and page.`)
    const big = page('big', texts, { kind: 'source', title: 'Big' })
    const parts = [0, 50, 100].map((start) => ({
      ...big,
      ...{ chunks: big.chunks.slice(start, start + 50), fingerprint: 'one', start, total: 150 },
    }))
    const [first, second, third] = parts
    if (!first || !second || !third) throw new Error('no parts')
    const answers = (index: ReturnType<typeof newIndex>) =>
      ['ticket', 'part', '"ticket page" OR lead', 'tick*'].flatMap((q) => [
        index.search(q, curator),
        index.retrieve(q, curator),
      ])
    const without = answers(newIndex(engine, handbook))
    const whole = answers(newIndex(engine, [...handbook, big]))
    const index = newIndex(engine, handbook, directory)
    expect(index.grow(first)).toBe(50)
    expect(index.grow(third)).toBe(50)
    expect(answers(index)).toEqual(without)
    index.save()
    expect(index.grow(second)).toBe(100)
    index.close()
    const again = newIndex(engine, [], directory)
    expect(answers(again)).toEqual(without)
    expect(again.grow(third)).toBe(150)
    expect(answers(again)).toEqual(whole)
    expect(again.version('big')).toBe(big.version)
    expect(again.grow(first)).toBe(150)
    // Another text of the same page: what is there gives way.
    const other = { ...first, version: 'other', fingerprint: 'two', total: 50 }
    const counts = Array.from({ length: 5 }, () => again.grow(other))
    expect(counts).toEqual([0, 0, 0, 50, 50])
    expect(answers(again)).toEqual(
      answers(newIndex(engine, [...handbook, { ...big, chunks: big.chunks.slice(0, 50) }])),
    )
    expect([again.shrink('big'), again.shrink('big')]).toEqual([0, 0])
    expect(answers(again)).toEqual(without)
    expect(again.grow(first)).toBe(50)
    again.apply({ put: [big], remove: [] })
    expect(answers(again)).toEqual(whole)
    expect(again.shrink('big')).toBe(86)
    expect(answers(again)).toEqual(without)
    again.apply({ put: [], remove: ['big'] })
    again.close()
    expect(answers(newIndex(engine, [], directory))).toEqual(without)
  })

  test('any sequence of changes gives the index that the last pages give', () => {
    const word = fc.constantFrom('lead', 'ticket', 'page', 'calendar', 'the', 'pages', '東京', 'on-call')
    const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
    const anyPage = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      texts: fc.array(text, { maxLength: 3 }),
      title: text,
      audience: fc.constantFrom(undefined, ['public'], ['board']),
    })
    const change = fc.record({
      put: fc.uniqueArray(anyPage, { selector: ({ key }) => key, maxLength: 3 }),
      remove: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
    })
    const q = fc.constantFrom('ticket', 'page lead', '"lead ticket"', 'cal*', 'ticket -lead', '東京 OR lead', 'call')
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), q, (changes, query) => {
        const index = newIndex(engine)
        const last = new Map<string, IndexedDocument>()
        for (const { put, remove } of changes) {
          const pages = put.map(({ key, texts, title, audience }) => page(key, texts, { title, audience }))
          index.apply({ put: pages, remove })
          for (const key of remove) last.delete(key)
          for (const one of pages) last.set(one.key, one)
        }
        const rebuilt = newIndex(engine, [...last.values()])
        const other = newIndex(engine === 'segments' ? 'minisearch' : 'segments', [...last.values()].reverse())
        for (const scope of [curator, tool]) {
          const answer = index.search(query, scope)
          expect(answer).toEqual(rebuilt.search(query, scope))
          expect(answer).toEqual(other.search(query, scope))
          expect(index.retrieve(query, scope)).toEqual(rebuilt.retrieve(query, scope))
          expect(index.retrieve(query, scope)).toEqual(other.retrieve(query, scope))
          for (const [at, { rank }] of answer.hits.entries())
            expect(rank).toBeLessThanOrEqual(answer.hits[at - 1]?.rank ?? 1)
        }
        for (const one of [index, rebuilt, other]) one.close()
      }),
      { numRuns: runs(60, 15) },
    )
  })
})

test('auto takes the engine that fits the size', () => {
  const index = newIndex('auto', handbook)
  expect(index.engine).toBe('minisearch')
})

test('auto goes over to the disk when there are too many different words, and stays there until half of them are gone', () => {
  const directory = tempDir()
  const pages = Array.from({ length: 4 }, (_, p) =>
    page(
      `r_${p}`,
      Array.from({ length: 300 }, (_, n) => Array.from({ length: 100 }, (_, m) => `x${p}y${n}z${m}`).join(' ')),
    ),
  )
  const index = newIndex('auto', pages.slice(0, 3), directory)
  expect(index.engine).toBe('minisearch')
  index.apply({ put: pages.slice(3), remove: [] })
  expect(index.engine).toBe('segments')
  expect(index.chunksInMemory).toBeLessThan(20)
  expect(keysOf(index, 'x3y299z99')).toEqual(['r_3'])
  index.close()
  const again = newIndex('auto', [], directory)
  again.apply({ put: [], remove: ['r_3'] })
  expect(again.engine).toBe('segments')
  again.apply({ put: [], remove: ['r_2'] })
  expect(again.engine).toBe('minisearch')
  expect(keysOf(again, 'x1y299z99')).toEqual(['r_1'])
})
