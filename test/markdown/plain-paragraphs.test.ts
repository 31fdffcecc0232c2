import { describe, expect, test } from 'vitest'
import { parseShort, shortTreePieces } from '../../src/markdown/chunks/plain-paragraphs.ts'
import { treePieces } from '../../src/markdown/chunks/tree-pieces.ts'
import { parseMarkdown } from '../../src/markdown/parse/parse-markdown.ts'
import type { BlockPiece } from '../../src/markdown/parse/piece.ts'
import { fc, runs } from '../support/properties.ts'
import { markdown } from './markdown-arbitrary.ts'
import { pageOfBlocks } from './page-of-blocks.ts'

const shown = (pieces: readonly BlockPiece[]) => pieces.map(({ parts, head, ...piece }) => piece)
const short = (content: string) => shown(shortTreePieces(parseShort(content), content, 0))
const whole = (content: string) => shown(treePieces(parseMarkdown(content), content))

describe('paragraphs that are not parsed', () => {
  const plain = fc.constantFrom(
    'Ant bee.',
    'A [[b|c]] d!',
    'é `x()` [[type:é]]\nfox',
    'x',
    'Ant, **bee**',
    'See www.a.b',
    'a\\',
    '![[b]]',
  )
  const joined = fc
    .array(fc.tuple(fc.oneof(plain, markdown), fc.constantFrom('\n\n', '\n\n', '\n', ' \n\n', '\n\n\n')), {
      maxLength: 8,
    })
    .map((parts) => parts.flat().join(''))

  test.each([
    ['text that looks like them', fc.oneof({ weight: 3, arbitrary: joined }, markdown), runs(1000)],
    ['pages of blocks', pageOfBlocks, 60],
  ])('give the same pieces as parsed ones: %s', (_name, page, numRuns) => {
    fc.assert(
      fc.property(page, (content) => {
        expect(short(content)).toEqual(whole(content))
      }),
      { numRuns },
    )
  })

  test.each([
    ['code', '```\na\n\nb\n\nc\n```\n\nd\n\n  ```\n\ne'],
    ['HTML', 'a\n\n<!--\n\nb\n\n-->\n\nc\n\n<script>\n\nd'],
    ['a list, a quote and a table', '- a\n\nb\n\n> c\n\nd\n\n| e |\n| - |\n\nf\n\n[^1]: g\n\nh'],
    ['definitions', 'a [[b]](c.md) d\n\n[a]: /b\n\n[[a]] [a]'],
    ['a heading and a line break', 'a\n===\n\nb  \nc\n\nd\n---\n\ne\\\nf'],
  ])('are found beside %s', (_name, content) => expect(short(content)).toEqual(whole(content)))

  test('are most of a page of prose', () => {
    const { plain } = parseShort('# A\n\nOne [[b]].\n\nTwo\nlines.\n\n- c\n\nThree.\n')
    expect(plain.map(({ pieces }) => pieces.map(({ text }) => text))).toEqual([['One b.', 'Two lines.'], ['Three.']])
  })
})
