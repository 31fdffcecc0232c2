import { fromMarkdown } from 'mdast-util-from-markdown'
import { describe, expect, test } from 'vitest'
import { AnswerFilter } from '../../src/chat/answer-filter.ts'
import { fc, runs } from '../support/properties.ts'

const citable = ['kb_00000001', 'kb_00000002']

function filtered(...pieces: string[]): { text: string; cited: readonly string[] } {
  const filter = new AnswerFilter(citable)
  const text = pieces.map((piece) => filter.push(piece)).join('') + filter.end()
  return { text, cited: filter.cited }
}

const cases: [string, string, string][] = [
  ['keeps plain Markdown', 'A *b* `c`\n\n- d > e, 3 < 4!\n', 'A *b* `c`\n\n- d > e, 3 < 4!\n'],
  ['keeps a link', 'See [the page](https://example.com/a_(b)).', 'See [the page](https://example.com/a_(b)).'],
  ['keeps an autolink', 'See <https://example.com>.', 'See <https://example.com>.'],
  ['keeps a placeholder', 'Run `shipctl rollback <service>` now.', 'Run `shipctl rollback <service>` now.'],
  ['makes a placeholder that begins its line inert', '<service>\nx', '&lt;service>\nx'],
  ['and one that begins an item', '- <service> x\n- a <service>', '- &lt;service> x\n- a <service>'],
  ['keeps a known citation', 'Page the lead. [kb_00000001]', 'Page the lead. [kb_00000001]'],
  ['drops a made-up citation with its space', 'Page the lead [x_00000009].', 'Page the lead.'],
  [
    'drops the made-up one of a list',
    'Yes. [kb_00000002, x_00000009; kb_00000001]',
    'Yes. [kb_00000002] [kb_00000001]',
  ],
  ['reads a citation in any case', 'Yes. [KB_00000001]', 'Yes. [kb_00000001]'],
  ['reads a wiki link as a citation', 'Yes. [[kb_00000001]]', 'Yes. [kb_00000001]'],
  ['drops the target of a citation', 'Yes. [kb_00000001](https://evil.example)', 'Yes. [kb_00000001]'],
  ['reads a citation in round brackets', 'Yes (kb_00000001).', 'Yes [kb_00000001].'],
  ['in lenticular ones', '是。【kb_00000001】【kb_00000002†source】', '是。[kb_00000001] [kb_00000002]'],
  ['with a label', 'Yes [seqId: kb_00000001] (see kb_00000002).', 'Yes [kb_00000001] [kb_00000002].'],
  ['with a label in another script', 'Да (источник：kb_00000001)', 'Да [kb_00000001]'],
  ['as code', 'Yes (`kb_00000001`).', 'Yes [kb_00000001].'],
  ['as a link', 'See [the page](kb_00000001).', 'See [the page] [kb_00000001].'],
  ['as the mark of a footnote', 'Yes.[^kb_00000001]', 'Yes.[kb_00000001]'],
  ['as a footnote', 'Yes.[^1]\n\n[^1]: kb_00000001, p. 2', 'Yes.[^1]\n\n[^1]: [kb_00000001], p. 2'],
  ['drops a made-up one in each form', 'a (x_00000009) 【x_00000008】 [ref: x_00000007]', 'a'],
  [
    'keeps a call and prose in brackets',
    'f(kb_00000001) (as in kb_00000001 today)',
    'f(kb_00000001) (as in kb_00000001 today)',
  ],
  ['keeps brackets that are no citation', 'a[0] [x] [kb_1] [ ] [kb_00000001', 'a[0] [x] [kb_1] [ ] [kb_00000001'],
  ['makes of an image its text', 'See ![the ![plan](https://evil.example/?q=1).', 'See [the plan.'],
  [
    'makes of an image by reference a link',
    '![a][b]\n\n[b]: https://evil.example',
    '[a][b]\n\n[b]: https://evil.example',
  ],
  ['drops a tag', 'a <img src="https://evil.example/>" onerror=x> b<br/>', 'a  b'],
  ['drops a tag over lines', 'a <img\nsrc=x\n> b', 'a  b'],
  ['drops a comment', 'a <!-- b --> c', 'a  c'],
  ['drops a script with what it holds', 'a<script>alert(1)</script>b', 'ab'],
  [
    'drops what a model thinks aloud',
    '<think>\n[kb_00000002] perhaps\n</think>Yes. [kb_00000001]',
    'Yes. [kb_00000001]',
  ],
  ['makes a tag that never ends inert', 'a <img src=x', 'a &lt;img src=x'],
  ['does not let tags join', 'a <im<b>g src=x> <<b>img src=x>', 'a &lt;img src=x> &lt;img src=x>'],
  ['does not let a dropped citation join a tag', 'a < [x_00000009]img src=x>', 'a <…img src=x>'],
  ['does not let a dropped tag join an image', 'a !<b>[x](https://evil.example)', 'a !…[x](https://evil.example)'],
  ['does not let a dropped tag join a citation', 'a [x_<b>00000009] b', 'a b'],
  ['does not let dropped citations join', 'a [[x_00000009]x_00000008] b', 'ax_00000008] b'],
  ['keeps code in a fence', '```xml\n<img src="x"> ![a](b)\n```\n<b>c', '```xml\n<img src="x"> ![a](b)\n```\nc'],
  ['trusts no fence in a list', '- ```\n  a\n![b](c)\n```\n![d](e)', '- ```\n  a\nb\n```\nd'],
  ['trusts no fence after an indented one', '  ```\na\n```\n![b](c)\n```\n<b>d', '  ```\na\n```\nb\n```\nd'],
  ['makes a script no link', 'See [x](javascript:alert(1)).', 'See [x] (javascript:alert(1)).'],
  ['makes data no link', '[x](data:text/html;base64,PHNjcmlwdD4=)', '[x] (data:text/html;base64,PHNjcmlwdD4=)'],
  ['sees through character references', '[x](java&#115;cript&colon;alert(1))', '[x] (java&#115;cript&colon;alert(1))'],
  ['sees through escapes and case', '[x](JavaScript\\:alert(1))', '[x] (JavaScript\\:alert(1))'],
  ['sees through white space', '[x](<java\tscript:alert(1)> "t")', '[x] ( "t")'],
  ['sees it on the next line', '[x](\n  vbscript:x)', '[x] (\n  vbscript:x)'],
  ['makes a definition of a script none', '[x]\n\n[x]: javascript:alert(1)', '[x]\n\n[x] : javascript:alert(1)'],
  ['makes an autolink of a script inert', 'See <javascript:alert(1)>.', 'See &lt;javascript:alert(1)>.'],
  ['keeps a script in a fence', '```\n[x](javascript:a)\n```\n', '```\n[x](javascript:a)\n```\n'],
  [
    'keeps links of other kinds',
    '[a](mailto:a@b.test) [b](../c.md#d) [e](#f:g) [h](//i.test/j:k) x[0]: y',
    '[a](mailto:a@b.test) [b](../c.md#d) [e](#f:g) [h](//i.test/j:k) x[0]: y',
  ],
  ['makes a link that never ends none', '[x](javascript:alert', '[x] (javascript:alert'],
  ['drops control characters', 'a\u0000b\u001b[31m\r\n', 'ab[31m\n'],
]

describe('an answer is made safe', () => {
  test.each(cases)('%s', (_, input, output) => {
    expect(filtered(input).text).toBe(output)
  })

  test.each(cases)('%s, character by character', (_, input, output) => {
    expect(filtered(...input).text).toBe(output)
  })

  test('citations come in the order of their first one', () => {
    expect(filtered('a [kb_00000002] b [kb_00000001] c [kb_00000002] d [x_00000001]').cited).toEqual([
      'kb_00000002',
      'kb_00000001',
    ])
  })

  test('a character that two pieces share stays whole, half a one is replaced', () => {
    expect(filtered('a\ud83d', '\ude00b').text).toBe('a😀b')
    expect(filtered('a\ud83d', 'b').text).toBe('a\ufffdb')
  })

  test('text without markup is not held back', () => {
    const filter = new AnswerFilter(citable)
    expect(filter.push('Page the lead')).toBe('Page the lead')
    expect(filter.push(' at once')).toBe(' at once')
  })

  test('a link whose scheme stands behind more white space than is looked at is none', () => {
    const link = `[x](${' '.repeat(2_000)}javascript:alert(1))`
    expect(filtered(link).text).toContain('] (')
    expect(filtered(link.slice(0, 1_900), link.slice(1_900)).text).toContain('] (')
  })

  test('10,000 beginnings of markup are read in linear time', () => {
    for (const hostile of [
      '[',
      '![',
      '<a "',
      '<!--',
      '`',
      '[kb_00000001](',
      '!',
      '[a_,',
      '\n```',
      '<think>',
      '](',
      ']: <',
      '](x&amp;',
      ']()',
      '\t',
    ]) {
      expect(filtered(hostile.repeat(10_000)).cited.length).toBeLessThan(3)
    }
  })
})

test.each([
  ['[a]![](x)(javascript:y)', '[a] (javascript:y)'],
  ['[a](java【x_00000009】script:y)', '[a] (javascript:y)'],
  ['[a](（x_00000009）javascript:y)', '[a] (javascript:y)'],
  ['[a]( (x_00000009)javascript:y)', '[a] (javascript:y)'],
  ['[^a]: x_00000009 javascript:y', '[^a]: … javascript:y'],
  ['[^a]: kb_00000001(javascript:y)', '[^a]: [kb_00000001] (javascript:y)'],
  ['【kb_00000001】(javascript:y(1))', '[kb_00000001] (javascript:y(1))'],
  ['[kb_00000001](x)(javascript:y)', '[kb_00000001] (javascript:y)'],
  ['（kb_00000001）: javascript:y', '[kb_00000001] : javascript:y'],
  ['- [x_00000009] <java>\n```\n<img>', '- …<java>\n```\n<img>'],
  ['<java【x_00000009】script:y>', '&lt;javascript:y>'],
  ['<img（x_00000009） src=x>', '&lt;img src=x>'],
  ['[a](b_(c)) a<b(c)', '[a](b_(c)) a<b(c)'],
  ['[a]![b](x)(javascript:y)', '[a]b(javascript:y)'],
  ['[a]![(javascript:y)](x)', '[a] (javascript:y)'],
  ['[a]<b>(javascript:y)', '[a] (javascript:y)'],
  ['[a]<script>x</script>(javascript:y)', '[a] (javascript:y)'],
  ['[a]<i></i>: javascript:y', '[a] : javascript:y'],
  ['[a][x_00000009](javascript:y)', '[a] (javascript:y)'],
  ['[a](java<b>script:y)', '[a] (javascript:y)'],
  ['[a](<b>javascript:y)', '[a] (javascript:y)'],
  ['[a](![](x)javascript:y)', '[a] (javascript:y)'],
  ['[a]([x_00000009]javascript:y)', '[a] (javascript:y)'],
  ['[a](<https://e> "t") <br>', '[a](<https://e> "t") '],
  ['a [kb_00000001]<br>[x_00000009]', 'a [kb_00000001]'],
])('what is left out makes no link of what stands around it: %s', (text, safe) => {
  expect(filtered(text).text).toBe(safe)
})

const hostile = fc
  .array(
    fc.constantFrom(
      ...[
        '<',
        '>',
        '!',
        '[',
        ']',
        '(',
        ')',
        '`',
        '```',
        '~~~',
        '\n',
        '\n\n',
        ' ',
        '    ',
        '- ',
        '> ',
        '\\',
        '"',
        '/',
        '=',
      ],
      ...[
        'img',
        'script',
        ' src=x',
        'x',
        'x_00000009',
        'kb_00000001',
        'http://e',
        'think',
        '<b>',
        '!--',
        '-->',
        ':',
        '1. ',
        'javascript:',
        '](',
        '![](x)',
        '(javascript:y)',
        '[x_00000009]',
        '【x_00000009】',
        '（x_00000009）',
        '(x_00000009)',
        '[^a]: ',
        '【kb_00000001】',
        'java',
        'script:',
        '&#58;',
        '&Tab;',
        '\t',
        ']: ',
      ],
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

/** Returns what a reader's browser would load or run. */
function active(markdown: string): string[] {
  const found: string[] = []
  const walk = (node: { type: string; value?: string; url?: string; children?: unknown[] }) => {
    // As a browser reads it: without control characters and white space.
    if (/^javascript:/i.test(node.url?.replace(/[\p{C}\s]/gu, '') ?? '')) found.push(node.url ?? '')
    if (node.type === 'image' || node.type === 'imageReference') found.push(node.type)
    if (node.type === 'html' && !/^<[a-z][\w -]*>$/i.test(node.value ?? '')) found.push(node.value ?? '')
    for (const child of node.children ?? []) walk(child as typeof node)
  }
  walk(fromMarkdown(markdown))
  return found
}

describe('whatever a model says', () => {
  test('a reader of Markdown finds no image, no tag and no script in it', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(active(filtered(text).text)).toEqual([])
      }),
      { numRuns: runs(20_000) },
    )
  })

  test('no citation is made up', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(filtered(text).text).not.toMatch(/\[[ \t]*x_00000009[ \t]*\]/)
      }),
      { numRuns: runs(5_000) },
    )
  })

  test('how it is cut into pieces makes no difference', () => {
    fc.assert(
      fc.property(hostile, fc.array(fc.nat(10)), (text, lengths) => {
        const pieces: string[] = []
        let at = 0
        for (const length of lengths) {
          pieces.push(text.slice(at, at + length))
          at += length
        }
        expect(filtered(...pieces, text.slice(at))).toEqual(filtered(text))
      }),
      { numRuns: runs(5_000), examples: [['<!-->-->', [1, 4]]] },
    )
  })
})
