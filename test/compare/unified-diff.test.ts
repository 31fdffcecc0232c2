import { applyPatch, parsePatch } from 'diff'
import { expect, test } from 'vitest'
import { unifiedDiff } from '../../src/compare/unified-diff.ts'
import { fc, runs } from '../support/properties.ts'

const numbered = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name} ${n}\n`).join('')

test('a diff turns the one text into the other, whatever the lines', () => {
  const line = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('', 'a', 'b', '}', '@@', '-', '+a', '\\ No newline') },
    fc.string(),
  )
  const text = fc
    .array(
      line.filter((some) => !some.includes('\n')),
      { maxLength: 40 },
    )
    .map((lines) => lines.map((some) => `${some}\n`).join(''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const { diff, isTruncated } = unifiedDiff(before, after)
      expect(isTruncated).toBe(false)
      expect(applyPatch(before, diff)).toBe(after)
    }),
    { numRuns: runs(500) },
  )
})

test('near changes share a hunk, far ones have their own, each with four lines around', () => {
  const before = numbered(40, 'line')
  const after = before.replace('line 10\n', 'ten\n').replace('line 18\n', '').replace('line 30\n', 'line 30\nmore\n')
  const { diff } = unifiedDiff(before, after)
  expect(diff.match(/^@@.*@@$/gm)).toEqual(['@@ -7,17 +7,16 @@', '@@ -28,8 +27,9 @@'])
  expect(diff).toContain(' line 9\n-line 10\n+ten\n line 11\n')
})

test('a new text and a removed one have an empty side', () => {
  expect(unifiedDiff(null, 'one\ntwo').diff).toBe('--- /dev/null\n+++ after\n@@ -0,0 +1,2 @@\n+one\n+two\n')
  expect(unifiedDiff('one\n', '').diff).toBe('--- before\n+++ after\n@@ -1,1 +0,0 @@\n-one\n')
  expect(unifiedDiff('one\n', 'one').diff).toBe('--- before\n+++ after\n')
})

test('thousands of changed lines are told, as a patch that applies', () => {
  for (const count of [1_000, 3_000, 6_000]) {
    const [before, after] = [numbered(count, 'old'), numbered(count, 'new')]
    const { diff, isTruncated } = unifiedDiff(before, after)
    expect(isTruncated).toBe(false)
    expect(applyPatch(before, diff)).toBe(after)
  }
  const before = numbered(20_000, 'line')
  const after = before.replaceAll(/^line (\d*[05])$/gm, 'changed $1')
  const { diff, isTruncated } = unifiedDiff(before, after)
  expect(diff.length).toBeGreaterThan(200_000)
  expect(isTruncated).toBe(true)
})

test('of what is too large comes as much as fits, in hunks that are patches', () => {
  const huge = ['\n'.repeat(512 * 1024), numbered(40_000, 'line'), `${'x'.repeat(512 * 1024)}\n`]
  for (const before of [null, 'a\nb\n', ...huge]) {
    for (const after of huge.filter((text) => text !== before)) {
      const { diff, isTruncated } = unifiedDiff(before, after)
      expect(isTruncated).toBe(true)
      expect(diff.length).toBeLessThanOrEqual(256 * 1024)
      expect(() => parsePatch(diff)).not.toThrow()
    }
  }
})
