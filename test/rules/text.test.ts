import { describe, expect, test } from 'vitest'
import { fold } from '../../src/rules/text/fold.ts'
import { hasBadCharacters, oneLine } from '../../src/rules/text/lines.ts'
import { fc, runs } from '../support/properties.ts'
import { hostileText } from './hostile-text.ts'

describe('oneLine', () => {
  test.each([
    ['x\n\nApproved-By: root', 'x Approved-By: root'],
    ['a\r\nb\tc', 'a b c'],
    ['a\u2028b\u2029c\u0085d\u000be', 'a b c d e'],
    ['evil\u202egnp.exe', 'evil gnp.exe'],
    ['\u2066a\u2069 \u061cb', 'a b'],
    ['\x1b[31mred', '[31mred'],
    ['  a   b  ', 'a b'],
    ['a\ud800b', 'a\ufffdb'],
    ['👩‍💻 Über 知識', '👩‍💻 Über 知識'],
  ])('%j becomes %j', (text, line) => {
    expect(oneLine(text, 100)).toBe(line)
  })

  test('cuts between characters, and leaves no space at the end', () => {
    expect(oneLine('ab cd', 3)).toBe('ab')
    expect(oneLine('a🎉b', 2)).toBe('a')
    expect(oneLine('a🎉b', 3)).toBe('a🎉')
  })

  test('is one well-formed line within its bound, and stays as it is', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 0, max: 50 }), (text, max) => {
        const line = oneLine(text, max)
        expect(line.length).toBeLessThanOrEqual(max)
        expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
        expect(oneLine(line, max)).toBe(line)
      }),
      { numRuns: runs(1000) },
    )
  })
})

test('NUL and half surrogate pairs are bad, whole pairs are not', () => {
  expect(['a\0b', '\ud83c', '\udf89x'].every(hasBadCharacters)).toBe(true)
  expect(['', '🎉', 'a\nb', '\u202e'].some(hasBadCharacters)).toBe(false)
})

describe('fold', () => {
  test.each([
    ['Łódź ﬁle', 'lodz file'],
    ['STRASSE ẞ ß', 'strasse ss ss'],
    ['ΟΔΌΣ οδός', 'οδοσ οδοσ'],
    ['İstanbul ısı', 'istanbul isi'],
    ['が', 'が'],
    ['हिन्दी', 'हिन्दी'],
    ['שָׁלוֹם', 'שלום'],
    ['الكِتَابُ أحمد كـــتاب', 'الكتاب احمد كتاب'],
    ['کی', 'كي'],
  ])('%s becomes %s', (text, folded) => {
    expect(fold(text)).toBe(folded)
  })

  test('changes nothing twice', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(fold(fold(text))).toBe(fold(text))
      }),
      { numRuns: runs(2000) },
    )
  })
})
