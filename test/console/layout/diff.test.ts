import { parseHTML } from 'linkedom'
import { expect, test } from 'vitest'
import { lineDiff } from '../../../src/compare/line-diff.ts'
import { inlineDiff, pageDiff, sideBySideDiff } from '../../../src/console/layout/diff.ts'
import type { Html } from '../../../src/console/layout/html-template.ts'

const hostile = '<img src=x onerror=alert(1)>'
const diff = lineDiff(`a\nPage the lead now. ${hostile}\nz\n`, `a\nPage the boss now. ${hostile}\nnew\nz\n`)

function parsed(markup: Html) {
  return parseHTML(`<html><body>${markup}</body></html>`).document
}

type Parsed = ReturnType<typeof parsed>

const rows = (document: Parsed) =>
  [...document.querySelectorAll('tbody tr')].map((row) =>
    [...row.querySelectorAll('td')].map(({ textContent }) => textContent?.trim()),
  )

test('lines stand below each other, with numbers, and words that say what became of them', () => {
  const document = parsed(inlineDiff(diff))
  expect(rows(document)).toEqual([
    ['1', '1', '', 'a'],
    ['2', '', '−Removed:', `Page the lead now. ${hostile}`],
    ['', '2', '+Added:', `Page the boss now. ${hostile}`],
    ['', '3', '+Added:', 'new'],
    ['3', '4', '', 'z'],
  ])
  expect(document.querySelector('del')?.textContent).toBe('lead')
  expect(document.querySelector('ins')?.textContent).toBe('boss')
  expect(document.querySelector('img, [style]')).toBeNull()
  expect(document.querySelectorAll('th[scope=col]')).toHaveLength(4)
})

test('lines stand beside each other, those that changed in one row', () => {
  expect(rows(parsed(sideBySideDiff(diff)))).toEqual([
    ['1', 'a', '1', 'a'],
    ['2', `−Removed: Page the lead now. ${hostile}`, '2', `+Added: Page the boss now. ${hostile}`],
    ['', '', '3', '+Added: new'],
    ['3', 'z', '4', 'z'],
  ])
})

test('hunks are apart, and what is left out is said', () => {
  const lines = (last: string) => `first ${last}\n${'same\n'.repeat(30)}${last}\n`
  expect(parsed(inlineDiff(lineDiff(lines('x'), lines('y')))).querySelectorAll('.gap')).toHaveLength(1)
  expect(parsed(inlineDiff(lineDiff('a', 'a'))).body.textContent).toBe('The text is the same.')
  expect(parsed(sideBySideDiff({ hunks: [], isTruncated: true })).body.textContent).toMatch(/left out/)
})

test('a page shows its blocks with what came, went and changed', () => {
  const document = parsed(
    pageDiff({
      blocks: [
        { type: 'same', after: '<p>a</p>' },
        { type: 'changed', before: '<p>b</p>', after: '<p>B</p>' },
        { type: 'added', after: '<p>c</p>' },
        { type: 'removed', before: '<p>d</p>' },
      ],
      isTruncated: true,
    }),
  )
  const labelled = [...document.querySelectorAll('[aria-label]')].map((group) => [
    group.getAttribute('aria-label'),
    [...group.querySelectorAll('p')].map(({ textContent }) => textContent).join(),
  ])
  expect(labelled).toEqual([
    ['Changed', 'b,B'],
    ['Removed', 'b'],
    ['Added', 'B'],
    ['Added', 'c'],
    ['Removed', 'd'],
  ])
  expect(document.querySelector('.warning')?.textContent).toMatch(/left out/)
})
