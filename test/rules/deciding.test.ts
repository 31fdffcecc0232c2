import { expect, test } from 'vitest'
import { goesByOneOf } from '../../src/rules/deciding.ts'

test.each([
  ['ANN@example.com', true],
  ['Ａnn@example.com', true],
  ['änn@example.com', false],
  ['ann@example.org', false],
])('a rule that names %s names ann@example.com: %s', (named, isMeant) => {
  expect(goesByOneOf({ names: ['ann@example.com'] }, [` ${named} `])).toBe(isMeant)
  expect(goesByOneOf({ names: [named] }, ['ann@example.com'])).toBe(isMeant)
})
