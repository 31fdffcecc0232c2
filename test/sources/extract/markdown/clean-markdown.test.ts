import { expect, test } from 'vitest'
import { cleanMarkdown } from '../../../../src/sources/extract/markdown/clean-markdown.ts'
import { fc, runs } from '../../../support/properties.ts'
import { expectSafeMarkdown } from '../conformance.ts'

const cases: [string, string, string][] = [
  ['HTML is shown as text', 'a <b onclick="x">b</b> <!-- c -->', 'a \\<b onclick="x">b&lt;/b> \\<!-- c -->'],
  [
    'a heading ends with what can be seen',
    '## Setup\u200b\n\n## \u200fمی\u200cخواهم\u200e',
    '## Setup\n\n## می\u200cخواهم',
  ],
  ['code keeps what looks like HTML', 'a `<b>` ``<i>`` c', 'a `<b>` ``<i>`` c'],
  ['fenced code too', '~~~\n<b>![a](b)\n~~~\n<b>', '~~~\n<b>![a](b)\n~~~\n\\<b>'],
  ['code in a list ends with it', '- ```\n  <a>\n<b>', '- ```\n  <a>\n\\<b>'],
  ['what is escaped stays so', '\\<b> \\[a](b)', '\\<b> \\[a]\\(b)'],
  ['an image becomes its alternative text', '![a *b*](https://example.org/x.png "t") ![](data:x)', 'a *b* '],
  [
    'a link inside stays',
    '[a](https://example.org/a_(b)) <https://example.org>',
    '[a](https://example.org/a_(b)) <https://example.org>',
  ],
  ['a link elsewhere becomes its text', '[a](javascript:alert(1)) [b](b.md) [c](<file:///etc/x y>)', 'a b c'],
  ['an image in a link', '[![a](x.png)](https://example.org)', '[a](https://example.org)'],
  [
    'the size of an embed goes',
    '![[plan.png|300]] ![[b.png]] ![[c|a text]] [[d|7]]',
    '[[plan.png]] [[b.png]] [[c|a text]] [[d|7]]',
  ],
  ['an embed with a size and an address', '![[a.png|300]](javascript:x)', '[a.png]'],
  ['the size of an embed in code stays', '`![[a.png|300]]`', '`![[a.png|300]]`'],
  ['a link over two lines', '[a\nb](javascript:x)', '[a\nb]\\(javascript:x)'],
  ['a target on the next line', '[a](\njavascript:x)', '[a]\\(\njavascript:x)'],
  ['definitions', '[a]: https://example.org\n[b]: javascript:x\n[^1]: note', '[a]: https://example.org\n\n[^1]: note'],
  ['what only looks like a footnote', '![^]:[\n[^ ]: javascript:x', '[^]\\:[\n'],
  ['a link that another leaves behind', '[a]![](x)(javascript:y) [b][](x)(javascript:y)', 'a b'],
  ['an image that a link leaves behind', '!![](x)[a](https://x.y)', 'a'],
  ['a definition that an image leaves behind', '[a]![](x): javascript:y', ''],
  ['a comment that an image leaves behind', '![<](x)!-- b -->', '&lt;!-- b -->'],
  [
    'images between a link and its address',
    `[a]${'![]'.repeat(4)}${'(x)'.repeat(4)}(javascript:y)`,
    '&#91;a&#93;(javascript:y)',
  ],
  ['a fence that an image leaves behind', '![](x)~~~\n~~~\n<b>\n~~~', '~~~\n~~~\n\\<b>\n~~~'],
  ['a fence that is closed less far in', ' ~~~\n\n~~~\n<b>', ' ~~~\n\n~~~\n\\<b>'],
  ['a fence that is indented like code', 'a\n    ~~~\n    <b>', 'a\n    ~~~\n    \\<b>'],
  ['a fence in no list', 'a\n2. ~~~\n   <b>', 'a\n2. ~~~\n   \\<b>'],
  ['a fence that is not closed', '~~~\n    ~~~\n<b>', '~~~\n    ~~~\n<b>'],
  ['front matter', '\n---\na: b\n---\n', '\n***\na: b\n---\n'],
  ['control characters', 'a\0b\u0007c\rd\u2028e\ud800', 'abc d e\ufffd'],
  ['a tag around a link that goes', '<[b>](x)', '\\<b>'],
  ['backticks in an address', 'https://x.y`<b>`', 'https://x.y&#96;&lt;b>&#96;'],
  ['backticks behind a tag in an address', 'https://x.y<b>``<!-->``', 'https://x.y&lt;b>&#96;&#96;&lt;!-->&#96;&#96;'],
  ['backticks that are not closed', 'a ` b\n` <i> `', 'a \\` b\n` <i> `'],
]

test.each(cases)('%s', (_, markdown, cleaned) => {
  expect(cleanMarkdown(markdown)).toBe(cleaned)
  expectSafeMarkdown(cleanMarkdown(markdown).trim())
})

const dropped: [string, string, string][] = [
  ['tags and comments', 'a <b title="x>y">b</b> `<i>` <!-- c -->d', 'a b `<i>` d'],
  ['addresses stay', '<https://x.y> [a](<https://x.y/a>)', '<https://x.y> [a](<https://x.y/a>)'],
  ['a tag around a tag', '<<b>img src="x">', '\\<img src="x">'],
  ['a comment around a tag', '<<b>!--', '\\<!--'],
  ['a tag within an image', '!<b>[a](https://x.y)', 'a'],
  ['a tag within a link', '[a]<b>(javascript:x)', 'a'],
  ['a tag within an address', 'https:/<b>/x``<img>``', 'https://x&#96;&#96;&lt;img>&#96;&#96;'],
  ['a fence that a tag leaves behind', '<b>~~~\n~~~\n<b>x\n~~~', '~~~\n~~~\n\\<b>x\n~~~'],
  ['what it was indented by goes, too', '    <p>a</p>', 'a'],
]

test.each(dropped)('HTML may be dropped instead: %s', (_, markdown, cleaned) => {
  expect(cleanMarkdown(markdown, 'drop')).toBe(cleaned)
  expectSafeMarkdown(cleaned)
})

test.each(['escape', 'drop'] as const)('any Markdown becomes safe and keeps its number of lines: %s', (html) => {
  const parts = [
    '<',
    '>',
    '[',
    ']',
    '(',
    ')',
    '!',
    '`',
    '``',
    '\\',
    ':',
    '"',
    ' ',
    '\n',
    '\n\n',
    'a',
    '/',
    '#',
    '- ',
    '^',
    '*',
  ]
  const words = [
    '<b>',
    '</b',
    '<!--',
    '](x)',
    '![](x)',
    '(javascript:y)',
    '![',
    'javascript:x',
    'https://x.y',
    'https:/',
    'www.',
    '<https://a.b>',
    '<m@x.org>',
    '[a]: ',
    '---',
    '~~~\n',
    '\n~~~\n',
    '\n```\n',
    '    ',
    '> ',
    '2. ',
    '\n===\n',
  ]
  const text = fc.array(fc.constantFrom(...parts, ...words), { maxLength: 30 }).map((all) => all.join(''))
  fc.assert(
    fc.property(text, (markdown) => {
      const cleaned = cleanMarkdown(markdown, html)
      expectSafeMarkdown(cleaned)
      expect(cleaned.split('\n').length).toBe(markdown.split('\n').length)
    }),
    { numRuns: runs(2000) },
  )
})
