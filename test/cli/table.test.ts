import { expect, test } from 'vitest'
import { table } from '../../src/cli/table.ts'

test('columns are as wide as their widest cell, and lines end with text', () => {
  expect(
    table(
      ['ID', 'NAME', 'STATE'],
      [
        ['1', 'a long name', 'valid'],
        ['22', 'b', ''],
      ],
    ),
  ).toBe(['ID  NAME         STATE', '1   a long name  valid', '22  b'].join('\n'))
})

test('a table without rows is its heading', () => {
  expect(table(['ID', 'NAME'], [])).toBe('ID  NAME')
})
