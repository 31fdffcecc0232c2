import { expect, test } from 'vitest'
import { withLiteralMarks, withoutComments } from '../../src/markdown/comments.ts'
import { parseNeuronFile, shownContent } from '../../src/markdown/file/neuron-file.ts'
import { fc } from '../support/properties.ts'

test.each([
  ['in a line', 'Seen %%hidden%% seen.', 'Seen  seen.'],
  ['twice in a line', 'a %%x%% b %%y%% c', 'a  b  c'],
  ['over lines of a paragraph', 'a %%x\ny%% b', 'a \n b'],
  ['as a block', 'a\n\n%%\nx\n\ny\n%%\n\nb', 'a\n\n\n\n\n\n\n\nb'],
  ['as a block that nothing ends', 'a\n\n%% x\n\ny', 'a\n\n\n\n'],
  ['in a quote', '> %%x\n> y%%\n> z', '> \n\n> z'],
  ['around a fence', '%%\n```\nx\n```\n%%\nb', '\n\n\n\n\nb'],
  ['behind a code span', '`a` %%x%%', '`a` '],
  ['between backticks that are no pair', 'a ` %%x%% b', 'a `  b'],
  ['with backticks in it', '%% ` %% `a %%b%%', ' `a '],
  ['behind an unclosed fence', '```\n%%x%%', '```\n'],
  ['behind a quote with an unclosed fence', '> ```\n> a\n%%x%%\n```\nb\n```', '> ```\n> a\n\n```\nb\n```'],
  ['where it begins a list', '- a\n- %%x%%', '- a\n- '],
  ['with CRLF', 'a\r\n%%\r\nx\r\n%%\r\nb', 'a\r\n\r\n\r\n\r\nb'],
  ['as drawing data', 'a\n\n```compressed-json\nN4Ig\n```\nb', 'a\n\n\n\n\nb'],
])('a comment %s is hidden, and lines keep their numbers', (_, content, shown) => {
  expect(withoutComments(content)).toBe(shown)
  expect(shown.split('\n')).toHaveLength(content.split('\n').length)
})

test.each([
  ['in a code span', '`%%x%%` and ``a ` %%x%%``'],
  ['in a fence', '```mermaid\n%% a comment of Mermaid\n```\n\n~~~\n%%x%%\n~~~'],
  ['in a fence of a list', '- item\n\n    ```\n    %%x%%\n    ```'],
  ['behind a backslash', 'a \\%%b%\\% c'],
  ['alone in its paragraph', 'It is 100%% sure.\n\nAnd 50%% done.'],
  ['of one sign', '50% and 60%'],
])('%% %s is text', (_, content) => {
  expect(withoutComments(content)).toBe(content)
})

test.each([
  ['a line', 'It is 100%% sure, %%really%%.', 'It is 100\\%% sure, \\%%really\\%%.'],
  ['code', '`%%a%%` %%\n\n```\n%%b\n```\n%%c', '`%%a%%` \\%%\n\n```\n%%b\n```\n\\%%c'],
  ['several', '%%%% %%%', '\\%%\\%% \\%%%'],
])('a text that knows no comments keeps its %%%% as text, in %s', (_, content, escaped) => {
  expect(withLiteralMarks(content)).toBe(escaped)
})

test('whatever a page holds, its lines keep their numbers, and nothing is added', () => {
  const piece = fc.constantFrom(
    '%%',
    '`',
    '``',
    '```',
    '~~~',
    '\n',
    '\n\n',
    '> ',
    '- ',
    '\\',
    'x',
    ' ',
    '    ',
    'compressed-json',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const content = pieces.join('')
      const shown = withoutComments(content).split('\n')
      const lines = content.split('\n')
      expect(shown).toHaveLength(lines.length)
      for (const [index, line] of shown.entries()) expect(line.length).toBeLessThanOrEqual(lines[index]?.length ?? 0)
      // In a paragraph of its own at the end, a comment is hidden whatever stands before it.
      const closed = `${content}\n\n%%hidden%%`
      if (!pieces.some((each) => ['%%', '```', '~~~'].includes(each))) {
        expect(withoutComments(closed)).not.toContain('hidden')
      }
      const literal = withLiteralMarks(content)
      if (!pieces.includes('compressed-json')) expect(withoutComments(literal)).toBe(literal)
    }),
  )
})

test.each([
  ['backticks', '`'.repeat(100_000)],
  ['runs of every length', Array.from({ length: 600 }, (_, length) => '`'.repeat(length)).join(' ')],
  ['openings', '%% '.repeat(60_000)],
  ['openings in paragraphs of their own', 'a %%\n\n'.repeat(30_000)],
  ['fences that nothing closes', '```x\n'.repeat(40_000)],
  ['one long paragraph', 'a %%b%% c\n'.repeat(20_000)],
])('a long page of %s takes linear time', (_, content) => {
  // In quadratic time it would take more than the minute that the test has.
  const text = `%%${content.repeat(2)}`
  expect(withoutComments(text).length).toBeLessThanOrEqual(text.length)
  expect(withoutComments(content + text).length).toBeLessThanOrEqual(content.length + text.length)
})

const drawing = (head: string) => `---\n${head}\n---\n
==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==

Back of the card, [[linked]].

# Excalidraw Data
## Text Elements
Secret label ^abc

%%
## Drawing
\`\`\`compressed-json
N4IgLgngDgpiBcIYA8DGBDANgSwCYCd0B3EAGhADcZ8BnbAewDsEAmcm
\`\`\`
%%`

test('of an Excalidraw page only what is no data of the drawing is shown', () => {
  const shown = shownContent(parseNeuronFile(drawing('excalidraw-plugin: parsed')))
  expect(shown.trim()).toBe('Back of the card, [[linked]].')
  expect(shownContent(parseNeuronFile(drawing('title: no drawing')))).toContain('Secret label')
  expect(shownContent(parseNeuronFile(drawing('title: no drawing')))).not.toContain('N4Ig')
})

test('a page without comments is shown byte for byte', () => {
  for (const content of ['', 'a\n\n', '  a  ', '100%\n']) expect(shownContent({ content, extra: {} })).toBe(content)
})
