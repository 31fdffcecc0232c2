import { expect, test } from 'vitest'
import { blockDiff } from '../../src/compare/block-diff.ts'

test('tells which blocks came, went and changed', () => {
  expect(blockDiff(['<h2>A</h2>', '<p>b</p>', '<p>c</p>', '<p>d</p>'], ['<h2>A</h2>', '<p>B</p>', '<p>d</p>'])).toEqual(
    {
      blocks: [
        { type: 'same', after: '<h2>A</h2>' },
        { type: 'changed', before: '<p>b</p>', after: '<p>B</p>' },
        { type: 'removed', before: '<p>c</p>' },
        { type: 'same', after: '<p>d</p>' },
      ],
      isTruncated: false,
    },
  )
  expect(blockDiff([], ['x']).blocks).toEqual([{ type: 'added', after: 'x' }])
})

test('marks words within a block, also in items of lists, and keeps the structure of the later one', () => {
  const marked = (before: string, after: string) => {
    const [block] = blockDiff([before], [after]).blocks
    return block?.type === 'changed' ? block.marked : block
  }
  expect(marked('<ul><li>one two three</li><li>b c d</li></ul>', '<ul><li>one 2 three</li><li>b c d</li></ul>')).toBe(
    '<ul><li>one <del>two</del><ins>2</ins> three</li><li>b c d</li></ul>',
  )
  const items = (...texts: string[]) => `<ul>${texts.map((text) => `<li>${text} is here</li>`).join('')}</ul>`
  expect(marked(items('a', 'b', 'c'), items('a', 'c'))).toBe(
    '<ul><li>a is here</li><li><del>b is here</del></li><li>c is here</li></ul>',
  )
  expect(marked('<p>Ask <a href="x>y">him</a> now or then</p>', '<p>Ask him now or then</p>')).toBe(
    '<p>Ask him now or then</p>',
  )
  expect(marked('<p>A &lt; b and so on</p>', '<p>A &gt; b and so on</p>')).toBe(
    '<p>A <del>&lt;</del><ins>&gt;</ins> b and so on</p>',
  )
  expect(marked('<p><img src="a"></p>', '<p><img src="b"></p>')).toBe(
    '<p><del><img src="a"></del><ins><img src="b"></ins></p>',
  )
  expect(marked('<p>all other words</p>', '<p>nothing alike here</p>')).toBeUndefined()
  expect(marked('<p>same words here now</p>', '<ul><li>same words here now</li></ul>')).toBeUndefined()
})

test('says that pages go on', () => {
  const many = Array.from({ length: 2500 }, (_, n) => `<p>${n}</p>`)
  const { blocks, isTruncated } = blockDiff(many, [...many, 'x'])
  expect([blocks.length, isTruncated]).toEqual([2000, true])
})
