import { expect, test } from 'vitest'
import { characterStart, cutText } from '../../../src/rules/text/whole-characters.ts'

test('a text is cut before a character of two units, never within', () => {
  const text = 'a🙂b'
  expect([-1, 0, 1, 2, 3, 4, 9].map((at) => characterStart(text, at))).toEqual([-1, 0, 1, 1, 3, 4, 9])
  expect([0, 1, 2, 3, 9].map((max) => cutText(text, max))).toEqual(['', 'a', 'a', 'a🙂', text])
  // Halves that stand alone are characters of their own.
  expect(cutText('\ud83da', 1)).toBe('\ud83d')
})
