import { expect, test } from 'vitest'
import { type DiffLine, lineDiff } from '../../src/compare/line-diff.ts'
import { fc } from '../support/properties.ts'

const written = ({ type, parts }: DiffLine) =>
  ({ same: ' ', removed: '-', added: '+' })[type] +
  parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')
const shown = (before: string | null, after: string) => lineDiff(before, after).hunks.map((lines) => lines.map(written))

test('marks the words that changed in lines that did', () => {
  expect(shown('a\nPage the lead in ten minutes.\nz\n', 'a\nPage the duty lead within ten minutes.\nz\n')).toEqual([
    [' a', '-Page the lead [in] ten minutes.', '+Page the [duty ]lead [within] ten minutes.', ' z'],
  ])
})

test('marks words of any script, and blanks with the words around them', () => {
  expect(shown('שלום עולם טוב', 'שלום חבר טוב')).toEqual([['-שלום [עולם] טוב', '+שלום [חבר] טוב']])
  expect(shown('Der alte graue Hund bellt sehr laut.', 'Der neue weiße Hund bellt sehr laut.')).toEqual([
    ['-Der [alte graue] Hund bellt sehr laut.', '+Der [neue weiße] Hund bellt sehr laut.'],
  ])
})

test('marks nothing in lines that have little in common', () => {
  expect(shown('One thing here.', 'Another matter altogether, of course.')).toEqual([
    ['-One thing here.', '+Another matter altogether, of course.'],
  ])
})

test('a new text is all added; texts that are the same have no hunks', () => {
  expect(lineDiff(null, 'a\nb\n').hunks).toEqual([
    [
      { type: 'added', oldLine: null, newLine: 1, parts: [{ text: 'a', isChanged: false }] },
      { type: 'added', oldLine: null, newLine: 2, parts: [{ text: 'b', isChanged: false }] },
    ],
  ])
  expect(lineDiff('a\n', 'a\n')).toEqual({ hunks: [], isTruncated: false })
  expect(lineDiff('', '')).toEqual({ hunks: [], isTruncated: false })
})

test('hunks tell the lines of each text, and hold both texts where they are near', () => {
  const line = fc.constantFrom('a', 'b', 'c d', 'c e', '', 'x <b>')
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.array(line, { maxLength: 30 }), (old, fresh) => {
      const { hunks, isTruncated } = lineDiff(`${old.join('\n')}\n`, `${fresh.join('\n')}\n`)
      expect(isTruncated).toBe(false)
      for (const { oldLine, newLine, parts } of hunks.flat()) {
        const text = parts.map((part) => part.text).join('')
        if (oldLine !== null) expect(text).toBe(old[oldLine - 1] ?? '')
        if (newLine !== null) expect(text).toBe(fresh[newLine - 1] ?? '')
      }
      const kept = (side: 'oldLine' | 'newLine') => hunks.flat().flatMap((one) => one[side] ?? [])
      for (const side of ['oldLine', 'newLine'] as const)
        expect(kept(side)).toEqual([...new Set(kept(side))].sort((a, b) => a - b))
    }),
  )
})

test('is bounded in time and size, and says what is left out', () => {
  const words = (seed: number) => Array.from({ length: 600 }, (_, n) => `w${(n * seed) % 997}`).join(' ')
  const lines = (seed: number) => Array.from({ length: 3000 }, (_, n) => `${words(seed + n)} ${seed}`).join('\n')
  const { hunks, isTruncated } = lineDiff(lines(3), lines(5))
  expect(isTruncated).toBe(true)
  expect(hunks.flat().length).toBeLessThanOrEqual(2000)
  expect(lineDiff('x'.repeat(10_000_000), 'y').isTruncated).toBe(true)
})
