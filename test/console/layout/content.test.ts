import { expect, test } from 'vitest'
import { content } from '../../../src/console/layout/html-template.ts'

test('what was rendered stands in one box, as it is', () => {
  expect(String(content({ blocks: ['<p>a</p>', '<p>b</p>'] }))).toBe('<div class="content"><p>a</p>\n<p>b</p></div>')
})
