import { afterAll, describe, expect, test } from 'vitest'
import { BudgetPool } from '../../../src/markdown/pool/budget-pool.ts'
import type { TestRequest } from '../parse/budget-worker.ts'

const pool = new BudgetPool<TestRequest, string>({
  worker: new URL('../parse/budget-worker.ts', import.meta.url),
  name: 'runRequest',
  maxThreads: 1,
  idleTimeout: 10_000,
})
afterAll(() => pool.close())

describe('the budget of CPU time', () => {
  test('ends a task that works without an end, and the pool goes on', async () => {
    const endless = pool.run({ work: Number.POSITIVE_INFINITY, wait: 0 }, 50)
    await expect(endless).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
    expect(await pool.run({ work: 0, wait: 0 }, 50)).toBe('done')
  })

  test('counts work and not time: a task that waits for longer than its budget is not ended', async () => {
    expect(await pool.run({ work: 0, wait: 1500 }, 50)).toBe('done')
  })

  test('counts the work of the task alone, whatever its thread did before', async () => {
    expect(await pool.run({ work: 600, wait: 0 }, 60_000)).toBe('done')
    expect(await pool.run({ work: 0, wait: 600 }, 300)).toBe('done')
  })
})
