import { expect, test } from 'vitest'
import { z } from 'zod'
import { faultOf } from '../../src/contract/faults.ts'
import { DayOf, instantOf, Moment } from '../../src/contract/moment.ts'
import { NeuronListQuery, StillTrue } from '../../src/contract/neurons.ts'
import { UndoInput } from '../../src/contract/undo.ts'
import { filterOf } from '../../src/search/query/filters.ts'

const taken = {
  '2026-11-28': '2026-11-28T00:00:00.000Z',
  '2028-02-29': '2028-02-29T00:00:00.000Z',
  '2026-11-28T08:00Z': '2026-11-28T08:00:00.000Z',
  '2026-11-28T23:30:00.5-05:00': '2026-11-29T04:30:00.500Z',
}
const refused = [
  ...['', '2026', '2026-02-30', '2027-02-29', '2026-13-01', '2026-11-28T08:00:00', '2026-11-28 08:00Z', '28.11.2026'],
  ...['2026-11-28T25:00Z', 'yesterday', '1795852800', '9999-12-31T23:59:59-12:00', '0000-01-01T00:00:00+12:00'],
]

test('a parameter takes a day or an instant with a zone, and nothing else', () => {
  for (const [text, instant] of Object.entries(taken)) {
    expect(instantOf(text)).toBe(instant)
    expect(DayOf.parse(text)).toBe(instant.slice(0, 10))
  }
  for (const text of refused) expect([text, instantOf(text)]).toEqual([text, undefined])
})

test('every parameter that is a date has this grammar, and says so in words', () => {
  const list = (updatedSince: string) => NeuronListQuery.safeParse({ limit: '5', updatedSince }, { error: faultOf })
  const undo = (since: string) => UndoInput.safeParse({ by: 'key', writer: 'x', since }, { error: faultOf })
  const until = (day: string) => StillTrue.safeParse({ until: day }, { error: faultOf })
  for (const parse of [list, undo, until]) {
    for (const text of Object.keys(taken)) expect(parse(text).success).toBe(true)
    for (const text of refused) {
      const { error } = parse(text)
      expect(error?.issues.map(({ message }) => message)).toEqual([
        'must be a day such as 2026-11-26, or a time with its zone such as 2026-11-26T08:00:00Z',
      ])
    }
  }
  for (const [text, at] of Object.entries(taken)) expect(filterOf('after', text)).toEqual({ type: 'after', at })
  expect(filterOf('before', '2026-05')).toEqual({ type: 'before', at: '2026-05-01T00:00:00.000Z' })
  for (const text of ['2026-02-30', '2026-13']) expect(filterOf('after', text)).toBeUndefined()
})

test('a fault of form never shows a pattern', () => {
  for (const schema of [z.iso.datetime(), z.string().regex(/^a$/), Moment]) {
    const { error } = schema.safeParse('?', { error: faultOf })
    expect(error?.issues[0]?.message).not.toMatch(/\^|pattern/)
  }
})
