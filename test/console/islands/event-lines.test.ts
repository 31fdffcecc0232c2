import { describe, expect, test } from 'vitest'
import { EventLines, problemOf, withoutCitations } from '../../../src/console/islands/event-lines.ts'
import { fc } from '../../support/properties.ts'

const stream =
  ': \n\nevent: delta\ndata: {"text":"a"}\n\nid: 7\nevent: done\ndata: {"x":1}\n\ndata: plain\n\nevent: cut'

test('events are read, however the text is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 })), (lengths) => {
      const lines = new EventLines()
      const found = []
      let rest = stream
      for (const length of [...lengths, stream.length]) {
        found.push(...lines.push(rest.slice(0, length)))
        rest = rest.slice(length)
      }
      expect(found).toEqual([
        { event: 'delta', data: '{"text":"a"}' },
        { event: 'done', data: '{"x":1}' },
        { event: 'message', data: 'plain' },
      ])
    }),
  )
})

describe('what is wrong with a question', () => {
  test.each([
    [429, undefined, '1', 'You have asked a lot in a short time. Ask again in 1 second.'],
    [429, undefined, null, 'You have asked a lot in a short time. Ask again in 60 seconds.'],
    [401, undefined, null, 'You are signed out. Sign in in another tab, then ask again.'],
    [404, { error: 'not_found' }, null, 'This conversation is gone. Begin a new one.'],
    [400, { message: 'At most 8000 characters.' }, null, 'At most 8000 characters.'],
    [500, { message: 'x' }, null, 'The answer could not be completed. Your question is still here: ask again.'],
    [0, undefined, null, 'The answer could not be completed. Your question is still here: ask again.'],
  ])('%i %j', (status, body, retryAfter, words) => {
    expect(problemOf(status, body, retryAfter)).toBe(words)
  })
})

test('an answer that comes shows no citations, not even half of one', () => {
  expect(withoutCitations('Page the lead. [handbook_00000042] [b_00000001] See [hand')).toBe('Page the lead. See')
  expect(withoutCitations('a[0] [x](y)')).toBe('a[0] [x](y)')
  const blanks = `${' '.repeat(100_000)}x`
  expect(withoutCitations(blanks)).toBe(blanks)
})
