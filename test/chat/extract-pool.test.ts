import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ExtractPool } from '../../src/chat/extract/extract-pool.ts'
import { testAnswerer } from './support/conformance.ts'
import { extractAnswerer } from './support/extract-answerer.ts'
import { ask, passage, question } from './support/passages.ts'

function newPool(): ExtractPool {
  const pool = new ExtractPool()
  onTestFinished(() => pool.close())
  return pool
}

/** A question whose passages take long to read. */
function longQuestion() {
  const content = Array.from(
    { length: 300 },
    (_, n) => `The on-call lead of shift ${n} is paged for VIP ticket ${n}.`,
  ).join(' ')
  return question({ passages: Array.from({ length: 20 }, (_, n) => passage({ seqId: `kb_${n}`, content })) })
}

describe('extracts made in a thread', () => {
  testAnswerer(async () => newPool())

  test('are those that are made without one', async () => {
    const asked = longQuestion()
    expect(await ask(newPool(), asked)).toEqual(await ask(extractAnswerer, asked))
  })

  test('hold up nothing else, however many are asked for', async () => {
    const pool = newPool()
    const asked = longQuestion()
    const once = await ask(pool, asked)
    const asking = Promise.all(Array.from({ length: 20 }, () => ask(pool, asked)))
    expect(await Promise.race([asking, setImmediate('the loop goes on')])).toBe('the loop goes on')
    expect(await asking).toEqual(Array(20).fill(once))
  })

  test('are refused where too many wait', async () => {
    const pool = newPool()
    const asked = question()
    const results = await Promise.allSettled(Array.from({ length: 110 }, () => ask(pool, asked)))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.length).toBeGreaterThanOrEqual(10)
    expect(refused.every(({ reason }) => reason.code === 'unavailable')).toBe(true)
  })
})
