import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { DiffPool } from '../../src/compare/diff-pool.ts'
import { unifiedDiff } from '../../src/compare/unified-diff.ts'
import { PresentWork } from '../../src/system/concurrency/present-work.ts'
import { TaskPool } from '../../src/system/task-pool.ts'

function newPool(): DiffPool {
  const pool = new DiffPool()
  onTestFinished(() => pool.close())
  return pool
}

test('many long texts are compared while the event loop goes on', async () => {
  const pool = newPool()
  const [before, after] = ['a\n\n\n'.repeat(100_000), '\n'.repeat(512 * 1024)]
  await pool.diff(before, 'x') // the thread is there
  const comparing = Promise.all(Array.from({ length: 10 }, () => pool.diff(before, after)))
  expect(await Promise.race([comparing, setImmediate('the loop goes on')])).toBe('the loop goes on')
  const found = await comparing
  expect(found[0]?.diff.length).toBeGreaterThan(100_000)
  // What waits too long for others shows the first changes.
  expect(found.every(({ isTruncated, diff }) => isTruncated && diff.length > 0)).toBe(true)
})

test('what waits long for others is compared all the same', async () => {
  const pool = new TaskPool<number, number>({
    worker: new URL('slow-worker.ts', import.meta.url),
    timeLimitMs: 2500,
    maxTasks: 10,
  })
  onTestFinished(() => pool.close())
  expect(await Promise.all([500, 501, 502, 503, 504, 505].map((ms) => pool.run(ms)))).toEqual([
    500, 501, 502, 503, 504, 505,
  ])
})

test('what may not wait long for others is given up, and the next is done', async () => {
  const worker = new URL('slow-worker.ts', import.meta.url)
  const pool = new TaskPool<number, number>({ worker, timeLimitMs: 5000, maxTasks: 10, waitLimitMs: 300 })
  onTestFinished(() => pool.close())
  const [first, ...others] = await Promise.allSettled([1000, 1001, 1002].map((ms) => pool.run(ms)))
  expect(first).toMatchObject({ value: 1000 })
  expect(others).toMatchObject([{ reason: { name: 'TaskFailed' } }, { reason: { name: 'TaskFailed' } }])
  expect(await pool.run(1)).toBe(1)
})

test('a pool that is closed, and one in which too many wait, show the first changes', async () => {
  const pool = newPool()
  const text = 'line\n'.repeat(20_000)
  const found = await Promise.all(Array.from({ length: 80 }, (_, n) => pool.diff(text, `${text}new ${n}\n${text}`)))
  expect(found.map(({ diff }, n) => diff.includes(`+new ${n}\n`))).toEqual(Array(80).fill(true))
  await pool.close()
  expect(await pool.diff(null, text)).toEqual({ ...unifiedDiff(null, text.slice(0, 1000)), isTruncated: true })
  expect(await pool.diff(null, 'short')).toEqual(unifiedDiff(null, 'short'))
  const blocks = { blocks: [{ type: 'changed', before: 'b', after: text }], isTruncated: true }
  expect(await pool.blocks(['b'], [text])).toEqual(blocks)
})

test('callers take turns: the tasks of one hold up no other, and cannot fill the pool', async () => {
  const worker = new URL('slow-worker.ts', import.meta.url)
  const pool = new TaskPool<number, number>({ worker, timeLimitMs: 5000, maxTasks: 8 })
  onTestFinished(() => pool.close())
  const done: string[] = []
  const run = (caller: string) => new PresentWork(() => caller).run(() => pool.run(20)).then(() => done.push(caller))
  const many = Array.from({ length: 7 }, () => run('many'))
  const refused = run('many')
  await expect(refused).rejects.toThrow('the task was not done')
  await Promise.all([...many, run('one'), run('other')])
  expect(done.indexOf('one')).toBeLessThanOrEqual(2)
  expect(done.indexOf('other')).toBeLessThanOrEqual(3)
  expect(done).toHaveLength(9)
})
