import { v7 as uuidv7 } from 'uuid'
import { expect, onTestFinished, test } from 'vitest'
import type { Ganglion } from '../../../src/services/ganglion.ts'
import { type JobEnd, JobRunner } from '../../../src/services/ingest/job-runner.ts'
import { createKnowledgeBase } from '../../../src/services/setup/create-kb.ts'
import type { Job } from '../../../src/store/jobs.ts'
import { eventually } from '../../support/eventually.ts'
import { newTestBed } from '../support/test-bed.ts'

type Work = (job: Job, signal: AbortSignal) => Promise<void>

function run(
  ganglion: Ganglion,
  work: Work,
  options: { owner?: string; concurrency?: number; leaseMs?: number; heartbeatMs?: number; now?: () => Date } = {},
) {
  const errors: unknown[] = []
  const runner = new JobRunner(ganglion.jobs, work, {
    ...{ owner: 'me', now: ganglion.now, onError: (error) => errors.push(error), ...options },
  })
  const stop = runner.start()
  onTestFinished(stop)
  return { stop, errors }
}

async function enqueue({ jobs, tenants, now }: Ganglion, kbId: string, documentId: string = uuidv7()): Promise<string> {
  await jobs.enqueue({ documentId, tenantId: (await tenants.find('acme'))?.id ?? '', kbId }, now())
  return documentId
}

const idle = (ganglion: Ganglion) =>
  eventually(async () => expect(await ganglion.jobs.nextDue('nobody')).toBeUndefined())

/** Work that goes on until it is let go. */
function held(ganglion: Ganglion) {
  const begun: string[] = []
  const ended: unknown[] = []
  const gate = Promise.withResolvers<void>()
  const work: Work = async (job, signal) => {
    begun.push(job.documentId)
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        ended.push(signal.reason satisfies JobEnd)
        resolve()
      })
    })
    await Promise.race([gate.promise, aborted])
    if (signal.reason === 'stopping') await ganglion.jobs.release(job)
    else await ganglion.jobs.complete(job)
  }
  return { begun, ended, work, release: gate.resolve }
}

test('jobs are run as they come, at most so many at once', async () => {
  const { ganglion, kbId } = await newTestBed()
  let [running, most] = [0, 0]
  run(
    ganglion,
    async (job) => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
      await ganglion.jobs.complete(job)
    },
    { concurrency: 3 },
  )
  for (let n = 0; n < 20; n++) await enqueue(ganglion, kbId)
  await idle(ganglion)
  expect(most).toBe(3)
})

test('what becomes due is run then, without anybody asking', async () => {
  const { ganglion, kbId } = await newTestBed()
  const failures: number[] = []
  run(ganglion, async (job) => {
    failures.push(job.failures)
    if (job.failures < 2) await ganglion.jobs.retry(job, new Date(Date.now() + 30))
    else await ganglion.jobs.complete(job)
  })
  await enqueue(ganglion, kbId)
  await idle(ganglion)
  expect(failures).toEqual([0, 1, 2])
})

test('each knowledge base gets its turn beside one with very many jobs', async () => {
  const { ganglion, kbId } = await newTestBed()
  const { id: other } = await createKnowledgeBase(ganglion, { tenant: 'acme', slug: 'manual' })
  for (let n = 0; n < 1_000; n++) await enqueue(ganglion, kbId)
  const ofOther = await Promise.all([1, 2, 3].map(() => enqueue(ganglion, other)))
  const order: string[] = []
  run(ganglion, async (job) => {
    order.push(job.documentId)
    await ganglion.jobs.complete(job)
  })
  await idle(ganglion)
  expect(new Set(order).size).toBe(1_003)
  for (const id of ofOther) expect(order.indexOf(id)).toBeLessThan(10)
}, 60_000)

test('a runner that stops asks its jobs to end, waits for them and puts them back', async () => {
  const { ganglion, kbId } = await newTestBed()
  const first = held(ganglion)
  const { stop } = run(ganglion, first.work)
  const id = await enqueue(ganglion, kbId)
  await eventually(() => expect(first.begun).toEqual([id]))
  await stop()
  expect(first.ended).toEqual(['stopping'])
  await enqueue(ganglion, kbId)
  expect(first.begun).toEqual([id])
  const second = held(ganglion)
  run(ganglion, second.work)
  await eventually(() => expect(second.begun).toHaveLength(2))
  expect(second.begun[0]).toBe(id)
  second.release()
})

test('a job that is cancelled is asked to end at once', async () => {
  const { ganglion, kbId } = await newTestBed()
  const { begun, ended, work } = held(ganglion)
  run(ganglion, work)
  const id = await enqueue(ganglion, kbId)
  await eventually(() => expect(begun).toEqual([id]))
  await ganglion.jobs.cancel(id)
  expect(ended).toEqual(['cancelled'])
})

test('the heartbeat holds a lease for as long as the work takes', async () => {
  const { ganglion, kbId } = await newTestBed()
  const [one, two] = [held(ganglion), held(ganglion)]
  const options = { leaseMs: 300, heartbeatMs: 30 }
  run(ganglion, one.work, { ...options, owner: 'one' })
  await enqueue(ganglion, kbId)
  await eventually(() => expect(one.begun).toHaveLength(1))
  run(ganglion, two.work, { ...options, owner: 'two' })
  await new Promise((resolve) => setTimeout(resolve, 900))
  expect([two.begun, one.ended]).toEqual([[], []])
  one.release()
  await idle(ganglion)
})

test('of two runners the other takes over what a dead one held, and one whose lease is lost is told', async () => {
  const { ganglion, kbId } = await newTestBed()
  const [one, two] = [held(ganglion), held(ganglion)]
  run(ganglion, one.work, { owner: 'one', leaseMs: 50, heartbeatMs: 500 })
  const id = await enqueue(ganglion, kbId)
  await eventually(() => expect(one.begun).toEqual([id]))
  run(ganglion, two.work, { owner: 'two' })
  await eventually(() => expect(two.begun).toEqual([id]))
  await eventually(() => expect(one.ended).toEqual(['lost']))
  expect(one.begun).toEqual([id])
  two.release()
  await idle(ganglion)
})

test('a runner does not begin a job twice when the clock jumps, and goes on after a jump back', async () => {
  const { ganglion, kbId } = await newTestBed()
  let jump = 0
  const now = () => new Date(Date.now() + jump)
  const { begun, work, release } = held(ganglion)
  run(ganglion, work, { now, concurrency: 4, heartbeatMs: 60_000 })
  const first = await enqueue(ganglion, kbId)
  await eventually(() => expect(begun).toEqual([first]))
  jump = 24 * 60 * 60_000
  const second = await enqueue(ganglion, kbId)
  await eventually(() => expect(begun).toEqual([first, second]))
  jump = -24 * 60 * 60_000
  const third = await enqueue(ganglion, kbId)
  await eventually(() => expect(begun).toEqual([first, second, third]))
  release()
  await idle(ganglion)
  expect(begun).toHaveLength(3)
})

test('work that throws ends neither the runner nor its job', async () => {
  const { ganglion, kbId } = await newTestBed()
  const starts: number[] = []
  const { errors } = run(
    ganglion,
    async (job) => {
      starts.push(job.starts)
      if (job.starts < 3) throw new Error('disk full')
      await ganglion.jobs.complete(job)
    },
    { leaseMs: 20, heartbeatMs: 10_000 },
  )
  await enqueue(ganglion, kbId)
  await eventually(async () => {
    await ganglion.jobs.wake()
    expect(starts).toEqual([1, 2, 3])
  })
  expect(errors.map(String)).toEqual(['Error: disk full', 'Error: disk full'])
})
