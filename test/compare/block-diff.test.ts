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

test('says that pages go on', () => {
  const many = Array.from({ length: 2500 }, (_, n) => `<p>${n}</p>`)
  const { blocks, isTruncated } = blockDiff(many, [...many, 'x'])
  expect([blocks.length, isTruncated]).toEqual([2000, true])
})
