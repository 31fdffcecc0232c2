import { describe, expect, test } from 'vitest'
import { edgeTypes } from '../../../src/contract/enumerations.ts'
import { certainLinks, treeLinks } from '../../../src/markdown/links/links.ts'
import { patternLinks } from '../../../src/markdown/links/pattern-links.ts'
import { parseMarkdown } from '../../../src/markdown/parse/parse-markdown.ts'
import type { WikiLink } from '../../../src/rules/neurons/neuron.ts'
import { fc, runs } from '../../support/properties.ts'
import { extractLinks } from '../extract-parts.ts'

const plain = (target: string, line = 1): WikiLink => ({ target, embed: false, line })
const targetsOf = (content: string) => extractLinks(content).map(({ target }) => target)

describe('a wiki link', () => {
  test.each<[string, Partial<WikiLink>]>([
    ['[[Target]]', { target: 'Target' }],
    ['[[ Target ]]', { target: 'Target' }],
    ['[[Target|alias]]', { target: 'Target', alias: 'alias' }],
    ['[[Target|]]', { target: 'Target' }],
    ['[[Target|a|b]]', { target: 'Target', alias: 'a|b' }],
    ['[[Target#Heading]]', { target: 'Target', heading: 'Heading' }],
    ['[[Target#Heading|alias]]', { target: 'Target', heading: 'Heading', alias: 'alias' }],
    ['[[C#]]', { target: 'C#' }],
    ['![[embed]]', { target: 'embed', embed: true }],
    ['[[kb:other-kb/Target]]', { target: 'Target', kb: 'other-kb' }],
    ['[[cites:kb:other-kb/A/B#H|x]]', { target: 'A/B', type: 'cites', kb: 'other-kb', heading: 'H', alias: 'x' }],
    ['[[kb:Target]]', { target: 'kb:Target' }],
    ['[[likes:Target]]', { target: 'likes:Target' }],
    ['[[handbook_00000042]]', { target: 'handbook_00000042' }],
    ['[[a *b* `c` <d>]]', { target: 'a *b* `c` <d>' }],
    ...edgeTypes.map((type): [string, Partial<WikiLink>] => [`[[${type}:Target]]`, { target: 'Target', type }]),
  ])('%s', (content, link) => {
    expect(extractLinks(content)).toEqual([{ embed: false, line: 1, ...link }])
  })

  test.each([
    ['[[x|label [y] z]]', { target: 'x', alias: 'label [y] z' }],
    ['[[a [b] c]]', { target: 'a [b] c' }],
    ['[[x|see [1]]]', { target: 'x', alias: 'see [1]' }],
    ['[[a]b]]', { target: 'a]b' }],
    ['[[a [b]]', { target: 'a [b' }],
    ['[[x#]]', { target: 'x#' }],
    [`[[${'x'.repeat(5000)}]]`, { target: 'x'.repeat(5000) }],
  ])('%s may hold brackets, and be of any length', (content, link) => {
    expect(extractLinks(content)).toEqual([{ embed: false, line: 1, ...link }])
  })

  test.each([
    '[[]]',
    '[[ ]]',
    '[[|alias]]',
    '[[#Heading]]',
    '[[cites:]]',
    '[[kb:a/]]',
    '[[a\nb]]',
    '[[a]',
    '[a]]',
    '\\[[x]]',
  ])('%j is literal text', (content) => {
    expect(extractLinks(content)).toEqual([])
  })

  test('is found inside brackets, links, emphasis, lists, quotes, headings and footnotes', () => {
    expect(targetsOf('[[[a]]] [x [[b]] y](https://z) **[[c]]**\n\n- [ ] [[d]]\n\n> # [[e]]\n\n[^1]: [[f]]')).toEqual([
      ...'abcdef',
    ])
    expect(extractLinks('\\![[x]] \\\\[[y]]')).toEqual([plain('x'), plain('y')])
  })

  test.each([
    ['code span', '`[[a]]` `` [[b]] ` ``'],
    ['code span over lines', '`x\n[[a]]`'],
    ['fenced code', '```\n[[a]]\n```\n\n~~~md\n\n[[b]]\n~~~'],
    ['fenced code in a list', '- ```\n  [[a]]\n  ```'],
    ['unclosed fence', '```\n[[a]]'],
    ['indented code', 'x\n\n    [[a]]'],
    ['indented code in a list', '-     [[a]]'],
    ['HTML', '<div>\n[[a]]\n</div>\n\nx <b title="[[b]]">\n\n<!--\n\n[[c]]\n\n-->'],
    ['link destination', '[x](<https://[[a]]>) [y](https://z "[[b]]")'],
    ['definition', '[x]: /u "[[a]]"'],
    ['label before a destination', '[[a](https://x.y)]'],
    ['autolink', '<https://x.y/[[a]]> https://x.y/[[b]]'],
    ['math', '$a[[b]]$ $$[[c]]$$ x\n\n$$\n[[1,2],[3,4]]\n$$\n\n- > $$[[d]]\n  > $$\n\n| $[[e]]$ |\n| - |'],
    ['alt text', '![x [[a]] y](https://z) ![x [[b]]][r]\n\n[r]: https://u'],
  ])('is not found in %s', (_name, content) => {
    expect(extractLinks(content)).toEqual([])
  })

  test.each([
    '$5 [[a]] for $6',
    'x $b [[a]]',
    '\\$b[[a]]$',
    'US$ [[a]] US$',
    '$b$[[a]]$c$',
    '$$$[[a]]$$$',
    '$$b\n\n[[a]]$$',
    '$b [[a]] $',
    '[[a]] `$` and `$`',
    '| $ | [[a]] | $ |\n| - | - | - |',
  ])('%j is no math', (content) => {
    expect(targetsOf(content)).toEqual(['a'])
  })

  test('in a table has its pipe escaped', () => {
    expect(extractLinks('| a | b |\n| - | - |\n| [[x\\|y]] | [[z]] |\n| [[c|d]] | |')).toEqual([
      { target: 'x', alias: 'y', embed: false, line: 3 },
      plain('z', 3),
    ])
  })

  test.each<[string, string[]]>([
    ['fact [[1]](https://example.com/a), more [[2]](http://example.com/b_(c)).', []],
    ['[[1]](mailto:a@example.com) [[1]](#ref) [[1]](<https://example.com/a b>)', []],
    ['[[1]](a.md) [[1]](../a/) [[1]](a.md#h)', ['a.md', '../a/', 'a.md']],
    ['[[Page]](see there) [[Page]](e.g.) [[Page]](s) [[Page]]()', ['Page', 'Page', 'Page', 'Page']],
    ['[[Page]](https://example.com', ['Page']],
    ['[[Page]] (https://example.com) [[Page]](\nhttps://x)', ['Page', 'Page']],
  ])('%j: an address right behind it makes it the text of a Markdown link', (content, targets) => {
    expect(extractLinks(content).map(({ target }) => target)).toEqual(targets)
    expect(patternLinks(content, 1).map(({ target }) => target)).toEqual(targets)
  })

  test('knows its line, whatever the line endings', () => {
    expect(extractLinks('a\n\n[[b]]\n[[c]]\n\n<b> [[d]]').map(({ line }) => line)).toEqual([3, 4, 6])
    expect(extractLinks('a\r\n\r\n[[b]]\r[[c]]\r\n\r\n<b> [[d]]').map(({ line }) => line)).toEqual([3, 4, 6])
  })

  test('is a node with the text that a reader sees', () => {
    const paragraph = parseMarkdown('a ![[cites:B#C|d]]').children[0]
    expect(paragraph && 'children' in paragraph && paragraph.children[1]).toMatchObject({
      type: 'wikiLink',
      value: 'd',
      embed: true,
      link: { target: 'B', type: 'cites', heading: 'C', alias: 'd' },
      position: { start: { offset: 2 }, end: { offset: 18 } },
    })
  })

  test('counts 20,000 times at most', () => {
    expect(extractLinks('[[a]] '.repeat(20_001))).toHaveLength(20_000)
    expect(extractLinks(`<b> ${'[[a]] '.repeat(67)}\n\n`.repeat(300))).toHaveLength(20_000)
  })
})

describe('a Markdown link', () => {
  const markdown = (content: string) => extractLinks(content).map(({ embed, line, ...link }) => link)

  test.each<[string, Partial<WikiLink>]>([
    ['[x](../a.md#h)', { target: '../a.md', heading: 'h' }],
    ['[x](a)', { target: 'a' }],
    ['[x](/a/b.md)', { target: '/a/b.md' }],
    ['[x](Three%20laws%20of%20m%C3%B6tion.md)', { target: 'Three laws of mötion.md' }],
    ['[x](<a b.md> "title")', { target: 'a b.md' }],
    ['[x](a%zz.md)', { target: 'a%zz.md' }],
    ['[x](a.md?raw=1#b%20c)', { target: 'a.md', heading: 'b c' }],
    ['[`x` *y* [z]](a\\_b.md)', { target: 'a_b.md' }],
    ['[x]\n\n[x]: ./a.md#h', { target: './a.md', heading: 'h' }],
    ['[x][]\n\n[X]: <a b.md>', { target: 'a b.md' }],
    ['> - [x][y]\n\n[y]: a.md "title"', { target: 'a.md' }],
  ])('%j', (content, link) => {
    expect(markdown(content)).toEqual([{ form: 'markdown', ...link }])
  })

  test('may lead to a folder', () => {
    const content = '[x](../guide/#h) [x](..) [x](./?q) [x](/) [x](a/b%20c/../)'
    const links = [{ target: '../guide/', heading: 'h' }, { target: '..' }, { target: './' }, { target: '/' }]
    expect(markdown(content)).toEqual(
      [...links, { target: 'a/b c/../' }].map((link) => ({ form: 'markdown', ...link })),
    )
  })

  test('of an image is an embed', () => {
    expect(extractLinks('a\n![alt](img/a%20b.png) ![alt][b]\n\n[b]: c.png')).toEqual([
      { target: 'img/a b.png', form: 'markdown', embed: true, line: 2 },
      { target: 'c.png', form: 'markdown', embed: true, line: 2 },
    ])
  })

  test.each([
    '[x](https://x.y/a.md) [x](mailto:a@b.c) [x](//x.y/a.md) [x](#heading) [x]() [x](?q) <https://x.y>',
    '`[x](a.md)`\n\n    [x](a.md)\n\n```\n[x](a.md)\n```',
    '\\[x](a.md) [x] (a.md) [^1](a.md)\n\n[^1]: note',
    '[unused]: a.md',
  ])('there is none in %j', (content) => {
    expect(extractLinks(content)).toEqual([])
  })
})

describe('a link in HTML', () => {
  test('is a Markdown link', () => {
    const content =
      '# Logo\n\n<p align="center">\n<a href="a&amp;b.md#h" title="src=x">x</a> <A title=\'href=y\' HREF=c%20d.md>\n' +
      '  <img alt=\'[[no]]\'\n src=\'i m.png\'></p>\n\nx <a href=https://x.y> <a name="z"> <img src="data:x"> <abbr href="e">'
    expect(extractLinks(content)).toEqual([
      { target: 'a&b.md', heading: 'h', form: 'markdown', embed: false, line: 4 },
      { target: 'c d.md', form: 'markdown', embed: false, line: 4 },
      { target: 'i m.png', form: 'markdown', embed: true, line: 5 },
    ])
  })

  test('ends not at a bracket in quotes, and has any character reference', () => {
    const content =
      '<img alt=">" src=a.png> <a title=\'a > b\' href="caf&eacute;&#x2f;&#98;.md">x</a>\n\n<p>\n<a title=it\'s href=c.md>'
    expect(extractLinks(content).map(({ target }) => target)).toEqual(['a.png', 'café/b.md', 'c.md'])
  })

  test('is none in comments, scripts and code', () => {
    expect(extractLinks('<!-- <a href="x.md"> -->\n\n<script>"<a href=x.md>"</script>\n\n`<a href="x.md">`')).toEqual(
      [],
    )
  })

  test('takes time linear in hostile text', () => {
    for (const part of [
      '<a ',
      '<img src',
      '\\[[a]] ',
      '<a \'="<a "=\'',
      '<a href="',
      '<a x=',
      '<a href=x.md>',
      '<!-- <a ',
      '<script <a ',
      '$a ',
      '$$a',
      '$a[[b]]',
    ]) {
      // More than linear time is more than the test has.
      const [first] = extractLinks(`[[x]] <a href="x">${part.repeat(200_000 / part.length)}`)
      expect(first?.target, part).toBe('x')
    }
  })
})

describe('finding links without a parser', () => {
  const harmless = [
    '[[a]]',
    '![[b]]',
    '[[a|b]]',
    '[[cites:x]]',
    '`x`',
    '`[[x]]`',
    '\n',
    '\n',
    '\n\n',
    '  ',
    '\n- ',
    '\n> ',
    '\n1. ',
    '\n# ',
    'a',
    'b c',
    '[y]',
    '[y](z.md)',
    '![y](z%20.png#h)',
    '[y](https://x.y)',
    '[[[z]',
    '*',
    '\n```\n',
    '|',
    '\\[',
    '\\]',
    '\\!',
  ]
  const treacherous = [
    ...[
      '`',
      '``',
      '```',
      '~~~',
      '~~~\n',
      '    ',
      '\t',
      ' ',
      '- ',
      '> ',
      '+ ',
      '10) ',
      '\r\n',
      '\r',
      '\\',
      '\\|',
      '\\`',
      '\\\\',
      '&#91;',
    ],
    ...[
      '<',
      '<div>',
      '</div>',
      '<!--',
      '<!-- x -->',
      '\n<!--\n',
      '\n-->\n',
      '<div>x</div>',
      '-->',
      '<script>',
      '</script>',
      '<a href="',
      '<img src=',
      '$',
      '$$',
      '$x$',
      '">',
      '<http://a',
      'http://x.y/',
      '@',
      'a@b.c',
    ],
    ...[
      'www.a.b',
      '](',
      ']: ',
      '][',
      '![',
      '[^1]',
      '[^1]: ',
      '\n\n[ref]: /u\n',
      '[ref]',
      '[[x`y]]',
      '[[',
      ']]',
      '[',
      ']',
      '(',
      ')',
      '"',
    ],
    ...[
      '\n---\n',
      '\n===\n',
      '| - |',
      '\n|-|-|\n',
      '\n:-|-\n',
      ':-',
      '- [ ] ',
      '_',
      '~~',
      '\n*\n',
      '\n-\n',
      '\0',
      '\uFEFF',
    ],
  ]
  const some = (parts: string[], maxLength: number) => fc.array(fc.constantFrom(...parts), { maxLength })
  const content = fc
    .oneof(
      fc.tuple(some(harmless, 12), some(treacherous, 2), some(harmless, 12)),
      fc.tuple(some([...harmless, ...treacherous], 20)),
    )
    .map((parts) => parts.flat().join(''))

  test('gives what parsing the whole text gives', () => {
    fc.assert(
      fc.property(content, (text) => {
        const parsed = parsedLinks(text)
        expect(extractLinks(text)).toEqual(parsed)
        const certain = certainLinks(text)
        if (certain) expect(certain).toEqual(parsed)
      }),
      { numRuns: runs(5000) },
    )
  })

  test.each([
    ['a backtick in a link', '[[a `b]] c`', ['a `b']],
    ['a code span in a link', '[[a `b` c]]', ['a `b` c']],
    ['an escaped backtick', '\\`[[a]]`', ['a']],
    ['a table by a lazy line only', '- a\n\n  [[b|c]]\n:- | -', ['b']],
    ['a fence that ends with its list', '- a\n\n  ```\n[[b]]\n\n`[[c]]`', ['b']],
    ['a fence over blank lines in a list', '- ```\n\n  [[a]]\n\n  ```', []],
    ['a fence of tildes in a list', '- ~~~\n  [[a]]', []],
    ['HTML in a footnote', '[^1]: <pre>\n[[a]]\n\n[[b]]', ['a', 'b']],
    ['a fence in a quote', '> ```\n[[a]]\n\n[[b]]', ['a', 'b']],
    ['HTML after a blank line', '<pre>\n\n[[a]]\n\n</pre>\n\n[[b]]', ['b']],
    ['HTML in an ordered list', '1. <div>\n   [[a]]\n\n[[b]]', ['b']],
    ['code in a footnote', '[^1]: a\n\n        [[b]]\n\n    [[c]]', ['c']],
    ['NUL', '[[a\0]]', ['a\uFFFD']],
    ['a byte order mark', 'x\n\n\uFEFF[r]: /u "[[a]]"', ['a']],
  ])('is not misled by %s', (_name, text, targets) => {
    expect(targetsOf(text)).toEqual(targets)
    expect(parsedLinks(text).map(({ target }) => target)).toEqual(targets)
  })

  test('is enough for a common note', () => {
    const note =
      '# Title\n\nSee [[On-call rotation]] and `[[not]]` `<T>`, then\n[[contradicts:Old policy|the old one]].\n\n' +
      '- one [[a]]\n  - two ![[b]]\n\n```ts\nconst x = [[1]] as <T>\n```\n\n> **Note** [[c]]\n'
    expect(certainLinks(note)).toEqual(parsedLinks(note))
    expect(parsedLinks(note)).toHaveLength(5)
  })

  test('is enough for a note with HTML that ends with its block', () => {
    for (const html of ['<!-- x -->', '<div>\nx\n</div>', '- <b>x</b>']) {
      expect(certainLinks(`${html}\n\n[[a]]`), html).toEqual([plain('a', html.split('\n').length + 2)])
    }
  })

  test('takes time linear in hostile text', () => {
    const parts = [
      '[[',
      '[[a',
      '![[',
      '`',
      '`a',
      '-',
      '- ',
      '> ',
      '[^',
      ']:',
      '~~~',
      '<',
      '|',
      '[[a]]`',
      '\n```',
      ' ',
      '\t',
      '[[a|',
      '\n',
    ]
    for (const part of parts) {
      const text = `x [[a]] ${part.repeat(500_000 / part.length)}\nx`
      // More than linear time is more than the test has.
      expect(certainLinks(text)?.[0]?.target ?? 'a', part).toBe('a')
    }
  })
})

/** The specification: the links of the syntax tree of the whole text. */
function parsedLinks(content: string): WikiLink[] {
  return treeLinks(parseMarkdown(content))
}

test('a slash behind the name of a page is no part of it', () => {
  expect(extractLinks('[x](page.md/#h) [y](a/b.html/)')).toMatchObject([
    { target: 'page.md', heading: 'h' },
    { target: 'a/b.html' },
  ])
})
