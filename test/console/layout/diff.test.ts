import { parseHTML } from 'linkedom'
import { expect, test } from 'vitest'
import { lineDiff } from '../../../src/compare/line-diff.ts'
import { pageDiff, textDiff } from '../../../src/console/layout/diff.ts'
import type { Html } from '../../../src/console/layout/html-template.ts'

const hostile = '<img src=x onerror=alert(1)>'
const texts = [`a\nPage the lead now. ${hostile}\nz\n`, `a\nPage the boss now. ${hostile}\nnew\nz\n`] as const

/** A diff as a browser without scripts has it. */
function inline(before: string, after: string): Html {
  return textDiff({ diff: lineDiff(before, after), before, after }, 'below')
}

function parsed(markup: Html) {
  return parseHTML(`<html><body>${markup}</body></html>`).document
}

type Parsed = ReturnType<typeof parsed>

const rows = (document: Parsed) =>
  [...document.querySelectorAll('tbody tr')].map((row) =>
    [...row.querySelectorAll('td')].map(({ textContent }) => textContent?.trim()),
  )

test('lines stand below each other, with numbers, and words that say what became of them', () => {
  const document = parsed(inline(...texts))
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

test('scripts get both texts whole, as data that cannot end early', () => {
  const [before, after] = [...texts.map((text) => `${text}</script><!--`)]
  const place = parsed(inline(before ?? '', after ?? '')).querySelector('[data-text-diff=below]')
  expect(JSON.parse(place?.querySelector('script[type="application/json"]')?.textContent ?? '')).toEqual({
    before,
    after,
  })
  expect(place?.querySelectorAll('script, img')).toHaveLength(1)
})

test('hunks are apart, and what is left out is said', () => {
  const lines = (last: string) => `first ${last}\n${'same\n'.repeat(30)}${last}\n`
  expect(parsed(inline(lines('x'), lines('y'))).querySelectorAll('.gap')).toHaveLength(1)
  expect(parsed(inline('a', 'a')).body.textContent).toBe('The text is the same.')
  expect(
    parsed(textDiff({ diff: { hunks: [], isTruncated: true }, before: 'a', after: 'b' }, 'split')).body.textContent,
  ).toMatch(/left out/)
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
