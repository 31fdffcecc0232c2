import { expect, test } from 'vitest'
import { endOfPlainRun, nextLetter } from '../../../src/search/text/plain-runs.ts'
import { runs } from '../../../src/search/text/tokens.ts'
import { hostileText } from '../../rules/hostile-text.ts'
import { fc } from '../../support/properties.ts'

const english = fc
  .array(
    fc.constantFrom(
      'word',
      'Camel',
      'v',
      'V1',
      'C',
      "'",
      '’',
      '.',
      '. ',
      ',',
      ' ',
      '_',
      '-',
      '+',
      '#',
      '7',
      'é',
      '東',
      '\u0301',
    ),
  )
  .map((parts) => parts.join(''))

const unitsOf = (text: string) => Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))

/** The first run from a place on, by the expression itself. */
function firstRun(text: string, at: number): [start: number, end: number] | undefined {
  runs.lastIndex = at
  const found = runs.exec(text)
  return found === null ? undefined : [found.index, found.index + found[0].length]
}

test('what is taken for a run without the expression is the run that the expression finds', () => {
  fc.assert(
    fc.property(fc.oneof(english, hostileText), (text) => {
      for (let at = 0; at < text.length; at++) {
        const end = endOfPlainRun(unitsOf(text), at)
        if (end > at) expect(firstRun(text, at)).toEqual([at, end])
      }
    }),
  )
})

test('what is passed over has no run', () => {
  fc.assert(
    fc.property(fc.oneof(english, hostileText), (text) => {
      const [start] = firstRun(text, 0) ?? [text.length]
      expect(nextLetter(unitsOf(text), 0)).toBeLessThanOrEqual(start)
    }),
  )
})

test('numbers need no expression, unless they may go on', () => {
  expect(endOfPlainRun(unitsOf('42'), 0)).toBe(2)
  expect(endOfPlainRun(unitsOf('42.'), 0)).toBe(2)
  for (const other of ['10,000', '4.2', '5GB', '42_1']) expect(endOfPlainRun(unitsOf(other), 0)).toBe(0)
})

test('words of a sentence need no expression', () => {
  const text = unitsOf('The lead, not the (new) ticket.')
  expect(endOfPlainRun(text, 0)).toBe(3)
  expect(endOfPlainRun(text, 4)).toBe(8)
  expect(endOfPlainRun(text, 24)).toBe(30)
  expect(endOfPlainRun(unitsOf('Node.js'), 0)).toBe(0)
})
