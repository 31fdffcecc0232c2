import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { GanglionError } from '../../src/contract/errors.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { Idempotency } from '../../src/state/idempotency-store.ts'
import { type KeyedRequest, runIdempotent } from '../../src/state/run-idempotent.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { fc, runs } from '../support/properties.ts'
import { at, testDatabase } from './support.ts'

/** Outcome of an attempt: it fails before it commits, after it, or not at all; with an error of the rules or another one. */
const Fault = fc.record({
  when: fc.constantFrom('before', 'after', 'never'),
  isRefusal: fc.boolean(),
  isLookLost: fc.boolean(),
  isFinishLost: fc.boolean(),
  /** The process ends: nothing that follows the fault is done. */
  isKill: fc.boolean(),
})

test('whatever fails on the way, one key makes one thing and has one answer', async () => {
  const { db } = await testDatabase()
  const { id: tenantId } = await new Tenants(db).ensure('acme', at('09:00'))
  const caller: Caller = { id: 'key:1', name: 'App', tenantId, role: 'app', connectors: [] }
  // A process that was killed extends no lease; its own ends within a minute, when the next attempt comes.
  vi.useFakeTimers({ toFake: ['setInterval'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  let keys = 0
  const attempts = fc.array(Fault, { minLength: 1, maxLength: 4 })
  const property = fc.asyncProperty(attempts, async (faults) => {
    const idempotencyKey = `key ${keys++}`
    const things = new Set<string>()
    let ids = 0
    const answers: string[] = []
    const none = { when: 'never', isRefusal: false, isLookLost: false, isFinishLost: false, isKill: false } as const
    for (const [minute, fault] of [...faults, none, none].entries()) {
      const { when, isRefusal, isLookLost, isFinishLost, isKill } = fault
      const error = isRefusal ? new GanglionError('unavailable') : new Error('EIO')
      const idempotency = new Idempotency(db)
      const killed = new Promise<never>(() => {})
      if (isFinishLost) idempotency.finish = async (key) => idempotency.abandon(key).then(() => Promise.reject(error))
      let kill = () => {}
      const ended = new Promise<void>((resolve) => {
        kill = resolve
      })
      const fail = () => {
        if (!isKill) throw error
        kill()
        return killed
      }
      const request: KeyedRequest<string> = {
        ...{ idempotencyKey, route: 'POST /', body: {}, newId: () => `${idempotencyKey}.${ids++}`, parse: String },
        committed: async (id) => {
          if (isLookLost) throw new Error('EIO')
          return things.has(id) ? id : undefined
        },
      }
      const stores = { idempotency, now: () => at(`10:0${minute}`), onError: () => {} }
      const answering = runIdempotent(stores, caller, request, async (id) => {
        if (when === 'before') await fail()
        things.add(id)
        if (when === 'after') await fail()
        return id
      })
      const answer = await Promise.race([answering.catch(() => undefined), ended])
      if (answer !== undefined) answers.push(answer)
      const isCommitted = things.size > 0 && !isLookLost && !isKill
      if (isCommitted) expect(answer).toBe([...things][0])
    }
    expect(things.size).toBe(1)
    expect(new Set(answers)).toEqual(things)
  })
  await fc.assert(property, { numRuns: inject('postgres') === undefined ? runs(1000, 200) : runs(200, 60) })
})

test('a refusal frees the key for another request, and an error that may have written does not', async () => {
  const { db } = await testDatabase()
  const { id: tenantId } = await new Tenants(db).ensure('acme', at('09:00'))
  const caller: Caller = { id: 'key:1', name: 'App', tenantId, role: 'app', connectors: [] }
  const stores = { idempotency: new Idempotency(db), now: () => at('10:00'), onError: () => {} }
  const send = (body: string, error?: Error) =>
    runIdempotent(
      stores,
      caller,
      {
        ...{ idempotencyKey: 'k', route: 'POST /', body, newId: () => 'id', parse: String },
        committed: async () => undefined,
      },
      async () => {
        if (error) throw error
        return body
      },
    )
  await expect(send('a', new GanglionError('queue_full'))).rejects.toMatchObject({ code: 'queue_full' })
  await expect(send('b', new Error('EIO'))).rejects.toThrow('EIO')
  await expect(send('c')).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  expect(await send('b')).toBe('b')
})
