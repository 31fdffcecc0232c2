import { expect, test } from 'vitest'
import { awaitingText, goesByOneOf, isOwned } from '../../src/rules/deciding.ts'

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

test.each([
  [1, [], 'It needs 1 more approval.'],
  [2, [], 'It needs 2 more approvals.'],
  [0, [['ann', 'bo']], 'It needs the approval of ann or bo.'],
  [1, [['ann'], ['bo']], 'It needs the approval of ann, and the approval of bo.'],
  [2, [['ann']], 'It needs 2 more approvals, among them the approval of ann.'],
])('%i votes with the owners %j read: %s', (votes, owners, text) => {
  expect(awaitingText({ votes, owners })).toBe(text)
})
