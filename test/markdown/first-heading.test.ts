import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstHeading } from '../../src/markdown/first-heading.ts'

test.each([
  ['# Title', 'Title'],
  ['Text.\n\n## Title ##\n\n# Later', 'Title'],
  ['Title\n=====', 'Title'],
  ['Title\r\n---\r\n', 'Title'],
  ['# **Bold**, `code`, [a link](x) and [[Target|alias]]', 'Bold, code, a link and alias'],
  ['# C# and F#', 'C# and F#'],
  ['# &amp; \\# x', '& # x'],
  ['#\n# Title', 'Title'],
  ['# ![only an image](x.png)\n# Title', 'Title'],
  ['```sh\n# comment\n```\n# Title', 'Title'],
  ['~~~\n```\n# comment\n~~~\n# Title', 'Title'],
  ['<!--\n# hidden\n-->\n# Title', 'Title'],
  ['<!-- hidden --> \n# Title', 'Title'],
  ['- item\n---\n# Title', 'Title'],
  ['    # code\n\n# Title', 'Title'],
  ['***\n---\n# Title', 'Title'],
  [`# ${'x'.repeat(600)}`, 'x'.repeat(500)],
])('the first heading of %j', (content, title) => {
  expect(firstHeading(content)).toBe(title)
})

test.each([
  [''],
  ['Text.'],
  ['#hashtag'],
  ['```\n# never closed'],
  ['| a |\n---'],
  ['> # quoted'],
  [`${'\n'.repeat(20_000)}# Late`],
])('there is no heading in %j', (content) => {
  expect(firstHeading(content)).toBeUndefined()
})

test('hostile text costs next to nothing', () => {
  const piece = fc.constantFrom(
    '# ',
    '[',
    '![',
    '](',
    '*a_',
    '`',
    '<a ',
    '> ',
    '- ',
    '#',
    '~~~',
    '\n',
    '---\n',
    '|',
    ' ',
  )
  const hostile = fc.tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1000, max: 20_000 }))
  fc.assert(
    fc.property(hostile, ([pieces, times]) => {
      const content = pieces.join('').repeat(times)
      const start = performance.now()
      firstHeading(content)
      expect(performance.now() - start).toBeLessThan(1000)
    }),
  )
})
