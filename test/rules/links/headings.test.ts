import { expect, test } from 'vitest'
import { headingsOf, placeKeys } from '../../../src/rules/links/headings.ts'

test('the headings of a page, as links name them', () => {
  const page = '# One {#first} #\n\nTwo\n===\n\n## [[three|Three]] and [four](a.md)\n\n```\n# code\n```\n\n#\n'
  expect(headingsOf(page)).toEqual(['One', 'Two', 'Three and four'])
  expect([...placeKeys(page)]).toEqual(['one', 'first', 'two', 'three and four', 'threeandfour'])
})

test('a line of more than 1000 characters is none', () => {
  const long = 'a'.repeat(998)
  expect(headingsOf(`# ${long}\n\n# ${long}b\n\n${long}bcd\n---\n`)).toEqual([long])
})

test.each([
  ['blanks', ' '],
  ['brackets', '['],
  ['links', '[a]('],
])('takes a heading of half a million %s', (_, piece) => {
  expect(headingsOf(`# a${piece.repeat(500_000 / piece.length)}x\n# b`)).toEqual(['b'])
})
