import { expect, test } from 'vitest'
import { type HeadOperation, headProblems } from './head-history.ts'
import { fc } from './properties.ts'

const line = ['a', 'b', 'c']

test('a history in which each operation took effect at one moment has no problem', () => {
  expect(headProblems(line, [])).toEqual([])
  const together: HeadOperation[] = [
    { kind: 'write', commit: 'b', start: 0, end: 10 },
    { kind: 'write', commit: 'c', start: 1, end: 9 },
    { kind: 'read', commit: 'a', start: 2, end: 8 },
    { kind: 'read', commit: 'c', start: 7, end: 8 },
    { kind: 'read', commit: 'c', start: 20, end: 21 },
  ]
  expect(headProblems(line, together)).toEqual([])
})

test('a read of an older state than one that was read or written before it is told', () => {
  const written: HeadOperation = { kind: 'write', commit: 'b', start: 0, end: 1 }
  expect(headProblems(line, [written, { kind: 'read', commit: 'a', start: 2, end: 3 }])).toHaveLength(1)
  const read: HeadOperation = { kind: 'read', commit: 'c', start: 0, end: 1 }
  expect(headProblems(line, [read, { kind: 'read', commit: 'b', start: 2, end: 3 }])).toHaveLength(1)
  expect(headProblems(line, [read, { kind: 'write', commit: 'b', start: 2, end: 3 }])).toHaveLength(1)
})

test('a commit that is answered and not on the branch is told; one whose answer never came is not', () => {
  expect(headProblems(line, [{ kind: 'write', commit: 'z', start: 0, end: 1 }])).toHaveLength(1)
  expect(headProblems(line, [{ kind: 'write', commit: 'z', start: 0, end: Infinity }])).toEqual([])
})

test('a write that is answered twice took effect before its first answer', () => {
  const twice: HeadOperation[] = [
    { kind: 'write', commit: 'b', start: 0, end: 1 },
    { kind: 'write', commit: 'b', start: 5, end: 6 },
    { kind: 'read', commit: 'b', start: 2, end: 3 },
  ]
  expect(headProblems(line, twice)).toEqual([])
  expect(headProblems(line, [...twice, { kind: 'read', commit: 'a', start: 2, end: 3 }])).toHaveLength(1)
})

test('the answer is that of a search through all orders', () => {
  const commit = fc.constantFrom(...line)
  const interval = fc.tuple(fc.nat(12), fc.nat(6)).map(([start, length]) => ({ start, end: start + length }))
  const read = fc
    .tuple(commit, interval)
    .map(([value, when]): HeadOperation => ({ kind: 'read', commit: value, ...when }))
  const writes = fc
    .tuple(interval, interval, interval)
    .map((whens) => whens.map((when, index): HeadOperation => ({ kind: 'write', commit: line[index] ?? '', ...when })))
  fc.assert(
    fc.property(writes, fc.array(read, { maxLength: 4 }), (written, reads) => {
      const operations = [...written, ...reads]
      expect(headProblems(line, operations).length === 0).toBe(canBeOrdered(operations, -1))
    }),
    { numRuns: 300 },
  )
})

/** Tries every order (Wing, Gong 1993): next may be whatever began before everything else that is left had ended. */
function canBeOrdered(left: readonly HeadOperation[], head: number): boolean {
  if (left.length === 0) return true
  const firstEnd = Math.min(...left.map(({ end }) => end))
  return left.some((operation) => {
    if (operation.start > firstEnd) return false
    const position = line.indexOf(operation.commit)
    const fits = operation.kind === 'read' ? position === head : position === head + 1
    return (
      fits &&
      canBeOrdered(
        left.filter((other) => other !== operation),
        operation.kind === 'read' ? head : position,
      )
    )
  })
}
