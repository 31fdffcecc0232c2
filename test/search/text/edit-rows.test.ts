import { expect, test } from 'vitest'
import { EditRows, isWithinEdits } from '../../../src/search/text/edit-rows.ts'
import { fc, runs } from '../../support/properties.ts'

/** Boytsov, "Indexing Methods for Approximate Dictionary Searching", 2011, section 2.2: the recurrence as it is defined. */
function distance(one: string, other: string): number {
  if (one === '' || other === '') return one.length + other.length
  const [a, b] = [one.slice(0, -1), other.slice(0, -1)]
  const isSwapped = one.length > 1 && other.length > 1 && one.at(-1) === b.at(-1) && a.at(-1) === other.at(-1)
  return Math.min(
    distance(a, other) + 1,
    distance(one, b) + 1,
    distance(a, b) + (one.at(-1) === other.at(-1) ? 0 : 1),
    isSwapped ? distance(a.slice(0, -1), b.slice(0, -1)) + 1 : Number.POSITIVE_INFINITY,
  )
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 })

test('tells the optimal string alignment distance of any two words', () => {
  fc.assert(
    fc.property(word, word, fc.nat(3), (one, other, maxEdits) => {
      expect(isWithinEdits(one, other, maxEdits)).toBe(distance(one, other) <= maxEdits)
    }),
    { numRuns: runs(500) },
  )
})

test('rows are shared by words with a common beginning', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), word, (others, one) => {
      const rows = new EditRows(one, 1)
      let [before, far] = ['', '']
      const found = others.toSorted().filter((other) => {
        if (far !== '' && other.startsWith(far)) return false
        let shared = 0
        while (shared < before.length && before[shared] === other[shared]) shared++
        before = other
        far = ''
        for (let at = shared; at < other.length; at++) {
          if (rows.take(at, other.charCodeAt(at))) continue
          far = other.slice(0, at + 1)
          before = far
          return false
        }
        return rows.isWithin(other.length)
      })
      expect(found).toEqual(others.toSorted().filter((other) => distance(one, other) <= 1))
    }),
  )
})

test('no word is similar between one of several and where the next can be', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), word, fc.nat(2), (others, one, maxEdits) => {
      const rows = new EditRows(one, maxEdits)
      const found: string[] = []
      let next = ''
      for (const other of [...new Set(others)].sort()) {
        if (other < next) continue
        let live = 0
        while (live < other.length && rows.take(live, other.charCodeAt(live))) live++
        if (live === other.length && rows.isWithin(live)) found.push(other)
        next = rows.after(other, live) || '\uffff'
      }
      expect(found).toEqual([...new Set(others)].sort().filter((other) => distance(one, other) <= maxEdits))
    }),
  )
})
