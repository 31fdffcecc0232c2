import { expect, onTestFinished, test } from 'vitest'
import { DiffPool } from '../../src/compare/diff-pool.ts'
import { unifiedDiff } from '../../src/compare/unified-diff.ts'

function newPool(): DiffPool {
  const pool = new DiffPool()
  onTestFinished(() => pool.close())
  return pool
}

test('many long texts are compared while the event loop goes on', async () => {
  const pool = newPool()
  const [before, after] = ['a\n\n\n'.repeat(100_000), '\n'.repeat(512 * 1024)]
  await pool.diff(before, 'x') // the thread is there
  const alone = performance.now()
  unifiedDiff(before, after)
  const once = performance.now() - alone
  let longest = 0
  let last = performance.now()
  const ticking = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  const found = await Promise.all(Array.from({ length: 10 }, () => pool.diff(before, after)))
  clearInterval(ticking)
  expect(found.every(({ isTruncated, diff }) => isTruncated && diff.length > 100_000)).toBe(true)
  // Ten on the event loop would be ten times as long.
  expect(longest).toBeLessThan(5 * once)
})

test('a pool that is closed, and one in which too many wait, leave the diff out and say so', async () => {
  const pool = newPool()
  const text = 'line\n'.repeat(20_000)
  const found = await Promise.all(Array.from({ length: 80 }, (_, n) => pool.diff(null, text + n)))
  const left = found.filter(({ diff }) => diff === '')
  expect(left.length).toBeGreaterThan(0)
  expect(left.every(({ isTruncated }) => isTruncated)).toBe(true)
  expect(found.length - left.length).toBeGreaterThanOrEqual(50)
  await pool.close()
  expect(await pool.diff(null, text)).toEqual({ diff: '', isTruncated: true })
  expect(await pool.diff(null, 'short')).toEqual(unifiedDiff(null, 'short'))
})
