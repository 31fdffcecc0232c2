import { expect, test } from 'vitest'
import { goesByOneOf, isOwned } from '../../src/rules/deciding.ts'

test.each([
  ['ANN@example.com', true],
  ['Ａnn@example.com', true],
  ['änn@example.com', false],
  ['ann@example.org', false],
])('a rule that names %s names ann@example.com: %s', (named, isMeant) => {
  expect(goesByOneOf({ names: ['ann@example.com'] }, [` ${named} `])).toBe(isMeant)
  expect(goesByOneOf({ names: [named] }, ['ann@example.com'])).toBe(isMeant)
})

test.each([
  ['neurons', 'neurons/legal/a.md', true],
  ['neurons/', 'neurons/a.md', true],
  ['Neurons/', 'neurons/a.md', true],
  ['neurons', 'tests/a.yaml', false],
  ['neurons/legal/', 'neurons/legal/a.md', true],
  ['legal', 'neurons/legal.md', true],
  ['legal', 'neurons/legal-notes/a.md', false],
])('a rule for %s holds for %s: %s', (folder, path, holds) => {
  expect(isOwned({ paths: [folder], tags: [] }, { path, tags: [] })).toBe(holds)
})
