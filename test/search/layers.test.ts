import { describe, expect, test } from 'vitest'
import { StaleIndex } from '../../src/search/search-index.ts'
import { fc, runs } from '../support/properties.ts'
import { engines } from './engine-support.ts'
import { curator, newIndex, page, tool } from './support.ts'

const words = 'ticket rota pager lead desk night vip storm escalate escalation nacht'.split(' ')
const keys = Array.from({ length: 12 }, (_, index) => `kb_${String(index).padStart(8, '0')}`)
const texts = fc.array(
  fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 12 }).map((all) => all.join(' ')),
  { maxLength: 3 },
)
const pages = fc.record({
  key: fc.constantFrom(...keys),
  texts,
  title: fc.constantFrom('VIP policy', 'Night desk', 'Pager'),
  tags: fc.constantFrom<string[]>([], ['vip'], ['internal']),
  audience: fc.constantFrom<string[] | undefined>(undefined, ['curator']),
  note: fc.constantFrom(undefined, undefined, undefined, 'a note on storms'),
})
const drawn = fc
  .uniqueArray(pages, { maxLength: 10, selector: ({ key }) => key })
  .map((all) => all.map(({ key, texts, ...changes }) => page(key, texts, changes)))
const queries = [
  'ticket',
  'night desk',
  '"night desk"',
  'esc*',
  'tag:vip',
  'title:pager storm',
  '-ticket pager',
  'tikcet',
  'note',
]

describe.each(engines)('%s', (engine) => {
  test('an index with a layer answers as one that has taken its pages in', () => {
    fc.assert(
      fc.property(drawn, drawn, fc.subarray(keys), (held, put, remove) => {
        const index = newIndex(engine, held)
        const changed = newIndex(engine, held)
        const answers = (of: Pick<typeof index, 'search' | 'retrieve'>) =>
          [curator, tool].flatMap((scope) =>
            queries.map((q) => [
              of.search(q, scope, { hasFacets: true }),
              of.search(q, scope, { isTyped: true }),
              of.retrieve(q, scope, { packing: { maxChars: 2_000, topK: 5, least: 20 } }),
            ]),
          )
        const before = answers(index)
        expect(index.layOver('one', { put, remove })).toBe(true)
        const laid = answers(index.withLayer('one'))
        expect(answers(index)).toEqual(before)
        changed.apply({ put, remove: remove.filter((key) => put.every((one) => one.key !== key)) })
        expect(laid).toEqual(answers(changed))
      }),
      { numRuns: runs(12, 4) },
    )
  })

  test('layers are gone once the index has changed, and the oldest of more than eight', () => {
    const index = newIndex(engine, [page('a', 'ticket')])
    for (let n = 0; n < 9; n++) index.layOver(`${n}`, { put: [page('b', `ticket ${n}`)], remove: [] })
    expect([index.layOver('0'), index.layOver('1')]).toEqual([false, true])
    expect(() => index.withLayer('0')).toThrow(StaleIndex)
    index.apply({ put: [page('c', 'ticket')], remove: [] })
    expect(() => index.withLayer('8')).toThrow(StaleIndex)
    expect(index.search('ticket', curator).total).toBe(2)
  })
})
