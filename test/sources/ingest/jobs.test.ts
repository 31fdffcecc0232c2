import { v7 as uuidv7 } from 'uuid'
import { expect, onTestFinished, test } from 'vitest'
import type { OpenContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { type JobEnd, JobRunner } from '../../../src/sources/ingest/job-runner.ts'
import type { Job } from '../../../src/state/jobs.ts'
import { newTestBed } from '../../kb/support/test-bed.ts'
import { eventually } from '../../support/eventually.ts'

type Work = (job: Job, signal: AbortSignal) => Promise<void>

function run(
  ctx: OpenContext,
  work: Work,
  options: { owner?: string; concurrency?: number; leaseMs?: number; heartbeatMs?: number; now?: () => Date } = {},
) {
  const errors: unknown[] = []
  const runner = new JobRunner(ctx.jobs, work, {
    ...{ owner: 'me', now: ctx.now, onError: (error) => errors.push(error), ...options },
  })
  const stop = runner.start()
  onTestFinished(stop)
  return { stop, errors }
}

async function enqueue(
  { jobs, tenants, now }: OpenContext,
  kbId: string,
  documentId: string = uuidv7(),
): Promise<string> {
  await jobs.enqueue({ documentId, tenantId: (await tenants.find('acme'))?.id ?? '', kbId }, now())
  return documentId
}

const idle = (ctx: OpenContext) => eventually(async () => expect(await ctx.jobs.nextDue('nobody')).toBeUndefined())

/** Work that goes on until it is let go. */
function held(ctx: OpenContext) {
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
    if (signal.reason === 'stopping') await ctx.jobs.release(job)
    else await ctx.jobs.complete(job)
  }
  return { begun, ended, work, release: gate.resolve }
}

test('jobs are run as they come, at most so many at once', async () => {
  const { ctx, kbId } = await newTestBed()
  let [running, most] = [0, 0]
  run(
    ctx,
    async (job) => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
      await ctx.jobs.complete(job)
    },
    { concurrency: 3 },
  )
  for (let n = 0; n < 20; n++) await enqueue(ctx, kbId)
  await idle(ctx)
  expect(most).toBe(3)
})

test('what becomes due is run then, without anybody asking', async () => {
  const { ctx, kbId } = await newTestBed()
  const failures: number[] = []
  run(ctx, async (job) => {
    failures.push(job.failures)
    if (job.failures < 2) await ctx.jobs.retry(job, new Date(Date.now() + 30))
    else await ctx.jobs.complete(job)
  })
  await enqueue(ctx, kbId)
  await idle(ctx)
  expect(failures).toEqual([0, 1, 2])
})

test('each knowledge base gets its turn beside one with very many jobs', async () => {
  const { ctx, kbId } = await newTestBed()
  const { id: other } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'manual' })
  for (let n = 0; n < 1_000; n++) await enqueue(ctx, kbId)
  const ofOther = await Promise.all([1, 2, 3].map(() => enqueue(ctx, other)))
  const order: string[] = []
  run(ctx, async (job) => {
    order.push(job.documentId)
    await ctx.jobs.complete(job)
  })
  await idle(ctx)
  expect(new Set(order).size).toBe(1_003)
  for (const id of ofOther) expect(order.indexOf(id)).toBeLessThan(10)
})

test('a runner that stops asks its jobs to end, waits for them and puts them back', async () => {
  const { ctx, kbId } = await newTestBed()
  const first = held(ctx)
  const { stop } = run(ctx, first.work)
  const id = await enqueue(ctx, kbId)
  await eventually(() => expect(first.begun).toEqual([id]))
  await stop()
  expect(first.ended).toEqual(['stopping'])
  await enqueue(ctx, kbId)
  expect(first.begun).toEqual([id])
  const second = held(ctx)
  run(ctx, second.work)
  await eventually(() => expect(second.begun).toHaveLength(2))
  expect(second.begun[0]).toBe(id)
  second.release()
})

test('a job that is cancelled is asked to end at once', async () => {
  const { ctx, kbId } = await newTestBed()
  const { begun, ended, work } = held(ctx)
  run(ctx, work)
  const id = await enqueue(ctx, kbId)
  await eventually(() => expect(begun).toEqual([id]))
  await ctx.jobs.cancel(id)
  expect(ended).toEqual(['cancelled'])
})

test('the heartbeat holds a lease for as long as the work takes', async () => {
  const { ctx, kbId } = await newTestBed()
  const [one, two] = [held(ctx), held(ctx)]
  const options = { leaseMs: 1_500, heartbeatMs: 30 }
  run(ctx, one.work, { ...options, owner: 'one' })
  await enqueue(ctx, kbId)
  await eventually(() => expect(one.begun).toHaveLength(1))
  run(ctx, two.work, { ...options, owner: 'two' })
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect([two.begun, one.ended]).toEqual([[], []])
  one.release()
  await idle(ctx)
})

test('of two runners the other takes over what a dead one held, and one whose lease is lost is told', async () => {
  const { ctx, kbId } = await newTestBed()
  const [one, two] = [held(ctx), held(ctx)]
  run(ctx, one.work, { owner: 'one', leaseMs: 50, heartbeatMs: 500 })
  const id = await enqueue(ctx, kbId)
  await eventually(() => expect(one.begun).toEqual([id]))
  run(ctx, two.work, { owner: 'two' })
  await eventually(() => expect(two.begun).toEqual([id]))
  await eventually(() => expect(one.ended).toEqual(['lost']))
  expect(one.begun).toEqual([id])
  two.release()
  await idle(ctx)
})

test('a runner does not begin a job twice when the clock jumps, and goes on after a jump back', async () => {
  const { ctx, kbId } = await newTestBed()
  let jump = 0
  const now = () => new Date(Date.now() + jump)
  const { begun, work, release } = held(ctx)
  run(ctx, work, { now, concurrency: 4, heartbeatMs: 60_000 })
  const first = await enqueue(ctx, kbId)
  await eventually(() => expect(begun).toEqual([first]))
  jump = 24 * 60 * 60_000
  const second = await enqueue(ctx, kbId)
  await eventually(() => expect(begun).toEqual([first, second]))
  jump = -24 * 60 * 60_000
  const third = await enqueue(ctx, kbId)
  await eventually(() => expect(begun).toEqual([first, second, third]))
  release()
  await idle(ctx)
  expect(begun).toHaveLength(3)
})

test('work that throws ends neither the runner nor its job', async () => {
  const { ctx, kbId } = await newTestBed()
  const starts: number[] = []
  const { errors } = run(
    ctx,
    async (job) => {
      starts.push(job.starts)
      if (job.starts < 3) throw new Error('disk full')
      await ctx.jobs.complete(job)
    },
    { leaseMs: 20, heartbeatMs: 10_000 },
  )
  await enqueue(ctx, kbId)
  await eventually(async () => {
    await ctx.jobs.wake()
    expect(starts).toEqual([1, 2, 3])
  })
  expect(errors.map(String)).toEqual(['Error: disk full', 'Error: disk full'])
})
