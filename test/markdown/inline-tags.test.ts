import { expect, test } from 'vitest'
import { withoutComments } from '../../src/markdown/comments.ts'
import { inlineTags } from '../../src/markdown/inline-tags.ts'
import { isInternal } from '../../src/rules/access/audience.ts'
import { fc } from '../support/properties.ts'

const tagsIn = (content: string) => inlineTags(content).map(({ tag }) => tag)

test.each([
  ['A #tag and #nested/tag, (#in-brackets) "#quoted"', ['tag', 'nested/tag', 'in-brackets', 'quoted']],
  ['#at-start\n- #in-item\n> #in-quote\n| #in | #table |', ['at-start', 'in-item', 'in-quote', 'in', 'table']],
  ['# Heading with #tag', ['tag']],
  [
    '#größe #日本語 #привет #tag🎉 #🔥 #y1984 #2024-01 #under_score',
    ['größe', '日本語', 'привет', 'tag🎉', '🔥', 'y1984', '2024-01', 'under_score'],
  ],
  ['#tag. #other, #third! #fourth/', ['tag', 'other', 'third', 'fourth']],
  ['#same #same #Same', ['same', 'Same']],
  ['`a` #seen ` #unpaired', ['seen', 'unpaired']],
  ['```\n#unclosed', ['unclosed']],
  ['<!-- #unclosed', ['unclosed']],
  ['`<!--` and\n\n#seen\n\n`-->`', ['seen']],
  ['<!-- a --> #one <!-- b\n--> #two', ['one', 'two']],
])('%j has the tags %j', (content, tags) => {
  expect(tagsIn(content)).toEqual(tags)
})

test('what was read before changes no tags', () => {
  expect(withoutComments('What is said before a comment. %%Hidden.%%')).toBe('What is said before a comment. ')
  expect(tagsIn('`#code` #seen')).toEqual(['seen'])
})

test.each([
  '# Heading',
  '## # x',
  '#1984 #12',
  'a#b https://example.com/#internal www.example.com/a#b <https://example.com#b>',
  '[#text](https://example.com) [x](#internal) [x](a.md#internal "a #title") ![#alt](a.png)',
  '[[#heading]] [[Note#internal]] [[Note|#alias]]',
  '[x]: #internal',
  '[#x][internal]',
  '`#code` ``a ` #code``',
  '```\n#code\n```\n~~~\n#code\n~~~',
  '- item\n\n    ```\n    #code\n    ```',
  '\\#escaped &#35; ##double',
  '<span style="color:#abc">x</span>',
  '<!-- #internal --> <!--\n#internal\n-->',
])('%j has no tags', (content) => {
  expect(tagsIn(content)).toEqual([])
})

test('a tag is told with its line', () => {
  expect(inlineTags('a\n\n<!--\n-->\n```\n```\n#here')).toEqual([{ tag: 'here', line: 7 }])
})

test('whatever stands before it, a paragraph of its own with #internal hides the page', () => {
  const piece = fc.constantFrom(
    '`',
    '``',
    '```',
    '~~~',
    '\n',
    '\n\n',
    '> ',
    '- ',
    '[',
    ']',
    '(',
    '<',
    '"',
    '\\',
    'x',
    ' ',
    '    ',
    '#',
    '<!--',
    '-->',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      expect(isInternal(tagsIn(`${pieces.join('')}\n\n#internal/hr`))).toBe(true)
    }),
  )
})

test('of very many tags, and of a very long one, what hides the page still counts', () => {
  const many = Array.from({ length: 1000 }, (_, n) => `#tag${n}`).join(' ')
  expect(tagsIn(many)).toHaveLength(500)
  expect(isInternal(tagsIn(`${many} #internal/hr`))).toBe(true)
  expect(isInternal(tagsIn(`#internal/${'x'.repeat(300)}`))).toBe(true)
})

test.each([
  ['opened brackets', '[#a'.repeat(30_000)],
  ['opened links', '](x " '.repeat(20_000)],
  ['blanks in links', `](x${' '.repeat(100_000)}#a`],
  ['opened HTML', '<a#b '.repeat(20_000)],
  ['opened comments', '<!-- #a '.repeat(20_000)],
  ['comments', `<!-- ${'#a -'.repeat(30_000)} -->`],
  ['dotted words', 'a.#b.'.repeat(20_000)],
  ['backticks', '` `` ```#a '.repeat(10_000)],
  ['signs', '#'.repeat(100_000)],
  ['slashes', `#${'/'.repeat(100_000)}`],
])('a long line of %s takes linear time', (_, content) => {
  expect(inlineTags(content.repeat(5)).length).toBeLessThan(2)
})
