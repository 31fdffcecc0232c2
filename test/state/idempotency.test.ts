import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openDatabase } from '../../src/state/database/open-database.ts'
import { Idempotency } from '../../src/state/idempotency-store.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { tempDir } from '../support/temp.ts'
import { at, testDatabase } from './support.ts'

async function oneRequest(file?: string) {
  const { db } = await testDatabase(file)
  const tenant = await new Tenants(db).ensure('acme', at('09:00'))
  const request = {
    tenantId: tenant.id,
    callerId: 'key:1',
    idempotencyKey: 'once',
    route: 'POST /api/v1/queue/candidates',
    bodyHash: 'abc',
    subjectId: 'first',
  }
  return { db, idempotency: new Idempotency(db), request }
}

test('the first answer is given again', async () => {
  const { idempotency, request } = await oneRequest()
  expect(await idempotency.begin(request, at('10:00'))).toEqual({ state: 'new', subjectId: 'first' })
  await idempotency.finish(request, { status: 201, body: { candidateId: 'first', tags: ['é'] } })
  const again = { ...request, subjectId: 'second' }
  for (const time of ['10:00', '23:59']) {
    expect(await idempotency.begin(again, at(time))).toEqual({
      state: 'replay',
      status: 201,
      body: { candidateId: 'first', tags: ['é'] },
    })
  }
})

test('the same key with another body or route is a mismatch', async () => {
  const { idempotency, request } = await oneRequest()
  await idempotency.begin(request, at('10:00'))
  await idempotency.finish(request, { status: 201, body: {} })
  expect(await idempotency.begin({ ...request, bodyHash: 'def' }, at('10:01'))).toEqual({ state: 'mismatch' })
  expect(await idempotency.begin({ ...request, route: 'POST /' }, at('10:01'))).toEqual({ state: 'mismatch' })
})

test('an idempotency key belongs to the caller that sent it', async () => {
  const { idempotency, request } = await oneRequest()
  await idempotency.begin(request, at('10:00'))
  await idempotency.finish(request, { status: 201, body: {} })
  const other = { ...request, callerId: 'user:1', subjectId: 'theirs' }
  expect(await idempotency.begin(other, at('10:01'))).toEqual({ state: 'new', subjectId: 'theirs' })
})

test('after a crash the next attempt gets the id that was reserved', async () => {
  const file = join(tempDir(), 'ganglion.db')
  const { request } = await oneRequest(file).then(async (before) => {
    await before.idempotency.begin(before.request, at('10:00'))
    return before
  })
  const { db, close } = await openDatabase(file)
  const restarted = new Idempotency(db)
  const again = { ...request, subjectId: 'second' }
  expect(await restarted.begin(again, at('10:05'))).toEqual({ state: 'retry', subjectId: 'first' })
  await restarted.finish(request, { status: 201, body: { candidateId: 'first' } })
  expect(await restarted.begin(again, at('10:06'))).toMatchObject({ state: 'replay', body: { candidateId: 'first' } })
  await close()
})

test('a forgotten request is new again, an abandoned one is a retry', async () => {
  const { idempotency, request } = await oneRequest()
  await idempotency.begin(request, at('10:00'))
  await idempotency.forget(request)
  const second = { ...request, bodyHash: 'corrected', subjectId: 'second' }
  expect(await idempotency.begin(second, at('10:01'))).toEqual({ state: 'new', subjectId: 'second' })
  await idempotency.abandon(second)
  expect(await idempotency.begin({ ...second, subjectId: 'third' }, at('10:02'))).toEqual({
    state: 'retry',
    subjectId: 'second',
  })
})

test('of many requests at once one does the work and the others get its answer', async () => {
  const { idempotency, request } = await oneRequest()
  let works = 0
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const attempt = await idempotency.begin({ ...request, subjectId: `id-${index}` }, at('10:00'))
      if (attempt.state !== 'new') return attempt
      works += 1
      await new Promise((resolve) => setTimeout(resolve, 20))
      await idempotency.finish(request, { status: 201, body: attempt.subjectId })
      return { state: 'replay', status: 201, body: attempt.subjectId }
    }),
  )
  expect(works).toBe(1)
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
})

test('when the first of many fails, the next in line does the work', async () => {
  const { idempotency, request } = await oneRequest()
  await idempotency.begin(request, at('10:00'))
  const waiting = [1, 2].map(() => idempotency.begin({ ...request, subjectId: 'next' }, at('10:00')))
  await idempotency.forget(request)
  const next = await Promise.race(waiting)
  expect(next).toEqual({ state: 'new', subjectId: 'next' })
  await idempotency.finish(request, { status: 201, body: null })
  expect((await Promise.all(waiting)).map(({ state }) => state).sort()).toEqual(['new', 'replay'])
})

test('a failing database leaves nobody waiting', async () => {
  const { idempotency, request } = await oneRequest()
  const unknown = { ...request, tenantId: 'no such tenant' }
  await expect(idempotency.begin(unknown, at('10:00'))).rejects.toThrow(/foreign key/i)
  await expect(idempotency.begin(unknown, at('10:00'))).rejects.toThrow(/foreign key/i)
})

test('an answer lives 24 hours', async () => {
  const { idempotency, request } = await oneRequest()
  await idempotency.begin(request, new Date('2026-03-01T10:00:00.000Z'))
  await idempotency.finish(request, { status: 201, body: {} })
  const again = { ...request, bodyHash: 'other', subjectId: 'second' }
  expect(await idempotency.begin(again, new Date('2026-03-02T09:59:59.999Z'))).toEqual({ state: 'mismatch' })
  expect(await idempotency.begin(again, new Date('2026-03-02T10:00:00.000Z'))).toEqual({
    state: 'new',
    subjectId: 'second',
  })
})

test('an answer lives 24 hours by the time of the request, however slow the machine is', async () => {
  const { idempotency, request } = await oneRequest()
  await idempotency.begin(request, new Date('2026-03-01T10:00:00.000Z'))
  await idempotency.finish(request, { status: 201, body: {} })
  let elapsed = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (elapsed += 5))
  onTestFinished(() => clock.mockRestore())
  const again = { ...request, bodyHash: 'other', subjectId: 'second' }
  expect(await idempotency.begin(again, new Date('2026-03-02T09:59:59.999Z'))).toEqual({ state: 'mismatch' })
})

test('sweeping removes what has expired and nothing else', async () => {
  const { db, idempotency, request } = await oneRequest()
  for (const [idempotencyKey, time] of [
    ['old', '08:00'],
    ['edge', '10:00'],
    ['young', '10:00:00.001'],
  ] as const) {
    await idempotency.begin({ ...request, idempotencyKey }, at(time))
    await idempotency.finish({ ...request, idempotencyKey }, { status: 201, body: {} })
  }
  expect(await idempotency.sweep(new Date('2026-03-02T10:00:00.000Z'))).toBe(2)
  expect(await db.selectFrom('idempotency_keys').select('idempotency_key').execute()).toEqual([
    { idempotency_key: 'young' },
  ])
})
