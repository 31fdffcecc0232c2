import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EventLog } from '../../src/state/event-store.ts'
import { type Job, Jobs } from '../../src/state/jobs.ts'
import { KnowledgeBases } from '../../src/state/kb-store.ts'
import type { NewSource } from '../../src/state/sources/source.ts'
import { Sources } from '../../src/state/sources/sources.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { runNode } from '../support/process.ts'
import { fc, runs } from '../support/properties.ts'
import { tempDir } from '../support/temp.ts'
import { at, testDatabase } from './support.ts'

const leaseMs = 30_000

/** A queue, and how to put the n-th Source of a knowledge base into it. */
async function newJobs(kbIds: readonly string[] = ['a', 'b', 'c'], file?: string) {
  const database = await testDatabase(file)
  const { id: tenantId } = await new Tenants(database.db).ensure('acme', at('09:00'))
  for (const id of kbIds) {
    await new KnowledgeBases(database.db).create({ id, tenantId, slug: id, prefix: id }, at('09:00'))
  }
  const jobs = new Jobs(database.db)
  const enqueue = (documentId: string, kbId = 'a', time = at('10:00')) =>
    jobs.enqueue({ documentId, tenantId, kbId }, time)
  const claim = (time = at('10:00'), owner = 'me') => jobs.claim(owner, { now: time, leaseMs })
  return { database, jobs, tenantId, enqueue, claim }
}

async function claimed(claim: () => Promise<Job | undefined>): Promise<Job> {
  const job = await claim()
  if (job === undefined) throw new Error('There is no job to claim.')
  return job
}

test('a Source has one job at a time', async () => {
  const { jobs, tenantId, enqueue, claim } = await newJobs()
  expect(await enqueue('1')).toBe(true)
  expect(await enqueue('1')).toBe(false)
  const job = await claimed(claim)
  expect(job).toEqual({ documentId: '1', tenantId, kbId: 'a', owner: 'me', starts: 1, failures: 0 })
  expect(await enqueue('1')).toBe(false)
  expect(await claim()).toBeUndefined()
  expect(await jobs.complete(job)).toBe(true)
  expect(await jobs.complete(job)).toBe(false)
  expect(await enqueue('1')).toBe(true)
})

test('what has failed waits until it is due, and is counted', async () => {
  const { jobs, enqueue, claim } = await newJobs()
  await enqueue('1')
  expect(await jobs.retry(await claimed(claim), at('10:00:05'))).toBe(true)
  expect(await jobs.nextDue('me')).toEqual(at('10:00:05'))
  expect(await claim(at('10:00:04'))).toBeUndefined()
  expect(await claim(at('10:00:05'))).toMatchObject({ starts: 2, failures: 1 })
})

test('what is given back is due at once, as if it had not been begun', async () => {
  const { jobs, enqueue, claim } = await newJobs()
  await enqueue('1')
  expect(await jobs.release(await claimed(claim))).toBe(true)
  expect(await claim()).toMatchObject({ starts: 1, failures: 0 })
})

test('a lease is taken over only once it has ended, and then its old owner has no say', async () => {
  const { jobs, enqueue, claim } = await newJobs()
  await enqueue('1')
  const old = await claimed(claim)
  expect(await jobs.nextDue('other')).toEqual(at('10:00:30'))
  expect(await jobs.nextDue('me')).toBeUndefined()
  expect(await claim(at('10:00:29'), 'other')).toBeUndefined()
  const lease = { now: at('10:00:20'), leaseMs, documentIds: ['1'] }
  expect(await jobs.heartbeat('me', lease)).toEqual(['1'])
  expect(await claim(at('10:00:49'), 'other')).toBeUndefined()
  expect(await claim(at('10:00:50'), 'other')).toMatchObject({ owner: 'other', starts: 2 })
  expect(await jobs.heartbeat('me', lease)).toEqual([])
  expect([await jobs.complete(old), await jobs.retry(old, at('11:00')), await jobs.release(old)]).toEqual([
    false,
    false,
    false,
  ])
  expect(await jobs.claim('me', { now: at('10:02'), leaseMs, except: ['1'] })).toBeUndefined()
})

test('a process that has the data directory for itself frees all jobs', async () => {
  const { jobs, enqueue, claim } = await newJobs()
  await enqueue('1')
  await claim()
  await jobs.recover()
  expect(await claim()).toMatchObject({ documentId: '1', starts: 2 })
})

test('a clock that is set back delays nothing, and no clock does worse than end leases', async () => {
  const { jobs, enqueue, claim } = await newJobs()
  await enqueue('1', 'a', at('20:00'))
  const job = await claimed(() => claim(at('10:00')))
  await jobs.retry(job, at('10:00:20'))
  expect(await claim(at('09:00'))).toMatchObject({ documentId: '1', starts: 2 })
  expect(await claim(at('08:00'), 'other')).toMatchObject({ documentId: '1', owner: 'other' })
  expect(await claim(at('20:00'))).toMatchObject({ documentId: '1', owner: 'me' })
})

test('a job that is cancelled is gone, whoever runs it, and its runner is told', async () => {
  const { jobs, enqueue, claim } = await newJobs()
  const told: string[] = []
  const stop = jobs.listen({ onWaiting: () => told.push('waiting'), onCancelled: (id) => told.push(id) })
  await enqueue('1')
  const job = await claimed(claim)
  expect(await jobs.cancel('1')).toBe(true)
  expect(await jobs.cancel('1')).toBe(false)
  expect(await jobs.complete(job)).toBe(false)
  stop()
  await enqueue('2')
  expect(told).toEqual(['waiting', '1', 'waiting', '1'])
})

async function order({ jobs, claim }: Awaited<ReturnType<typeof newJobs>>, limit = Number.POSITIVE_INFINITY) {
  const ids: string[] = []
  while (ids.length < limit) {
    const job = await claim()
    if (job === undefined) break
    await jobs.complete(job)
    ids.push(job.documentId)
  }
  return ids.join(' ')
}

test('knowledge bases take turns, however many jobs each has', async () => {
  const queue = await newJobs()
  for (let n = 1; n <= 6; n++) await queue.enqueue(`a${n}`, 'a')
  await queue.enqueue('b1', 'b')
  await queue.enqueue('b2', 'b')
  expect(await order(queue, 3)).toBe('a1 b1 a2')
  await queue.enqueue('c1', 'c')
  await queue.enqueue('c2', 'c')
  expect(await order(queue)).toBe('b2 c1 a3 c2 a4 a5 a6')
})

test('a knowledge base that comes again and again, or fails, does not starve the others', async () => {
  const queue = await newJobs()
  await queue.enqueue('b0', 'b')
  await queue.jobs.retry(await claimed(queue.claim), at('12:00'))
  for (let n = 10; n < 30; n++) await queue.enqueue(`a${n}`, 'a')
  await order(queue, 10)
  const turns: string[] = []
  for (let n = 0; n < 6; n++) {
    await queue.enqueue(`b${n + 1}`, 'b')
    turns.push(await order(queue, 1))
  }
  expect(turns.filter((id) => id.startsWith('a')).length).toBeGreaterThanOrEqual(2)
})

test('of many jobs of many knowledge bases, none is lost or given twice, and no turn is skipped', async () => {
  const rounds = fc.array(fc.record({ kb: fc.constantFrom('a', 'b', 'c'), claims: fc.nat(2) }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(rounds, async (steps) => {
      const queue = await newJobs()
      const [put, got]: [string[], string[]] = [[], []]
      for (const [index, { kb, claims }] of steps.entries()) {
        const id = `${String(index).padStart(3, '0')}${kb}`
        await queue.enqueue(id, kb)
        put.push(id)
        for (let n = 0; n < claims; n++) {
          const next = await order(queue, 1)
          if (next !== '') got.push(next)
        }
      }
      const rest = (await order(queue)).split(' ').filter((id) => id !== '')
      expect([...got, ...rest].toSorted()).toEqual(put)
      const left = (kb: string) => rest.filter((id) => id.endsWith(kb)).length
      // While all three have jobs, each third one is of each.
      const even = 3 * Math.min(left('a'), left('b'), left('c')) - 3
      for (let n = 0; n + 6 <= even; n++) expect(new Set(rest.slice(n, n + 6).map((id) => id.at(-1))).size).toBe(3)
    }),
    { numRuns: runs(15, 5) },
  )
})

test('processes that claim at once share 1,000 jobs, and none gets another one’s', async () => {
  const file = join(tempDir(), 'ganglion.db')
  const { database, jobs, tenantId } = await newJobs(['a', 'b', 'c'], file)
  await database.db.transaction().execute(async (transaction) => {
    const queue = new Jobs(transaction)
    for (let n = 0; n < 1_000; n++) {
      await queue.enqueue({ documentId: String(n), tenantId, kbId: 'abc'.charAt(n % 3) }, at('10:00'))
    }
  })
  const moduleUrl = (name: string) => JSON.stringify(new URL(`../../src/state/${name}.ts`, import.meta.url).href)
  const script = `
    const { openDatabase } = await import(${moduleUrl('database/open-database')})
    const { Jobs } = await import(${moduleUrl('jobs')})
    const [file, owner] = process.argv.slice(1)
    const { db, close } = await openDatabase(file)
    const jobs = new Jobs(db)
    for (let job; (job = await jobs.claim(owner, { now: new Date(), leaseMs: 60_000 })) !== undefined; ) {
      if (!(await jobs.complete(job))) throw new Error('not mine')
      console.log(job.documentId)
    }
    await close()`
  const run = (owner: string) => runNode(['--input-type=module', '-e', script, file, owner])
  const runs = await Promise.all([run('one'), run('two')])
  for (const { code, stderr } of runs) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const ids = runs.flatMap(({ stdout }) => stdout.trim().split('\n')).map(Number)
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, n) => n))
  expect(await jobs.claim('me', { now: new Date(), leaseMs })).toBeUndefined()
})

test('editions of one document are ingested one after the other, the oldest first, and keep nothing else waiting', async () => {
  const { database, jobs, tenantId, enqueue, claim } = await newJobs()
  const sources = new Sources(database.db, new EventLog(database.db))
  for (const id of ['1', '2', '3', 'other']) {
    const added: NewSource = {
      ...{ id, tenantId, kbId: 'a', filename: id === 'other' ? 'other.md' : 'note.md', path: '/', fileType: 'md' },
      ...{ fileSize: 1, contentHash: id, status: 'ready', errorMessage: null, tags: null, connector: 'upload' },
      ...{ sourceUrl: null, metadata: null, uploader: { id: 'key:app', name: 'The app' } },
    }
    await sources.add(added, at('10:00'), { force: false, replace: true, isVisible: () => true })
    await enqueue(id)
  }
  const oldest = await claimed(claim)
  expect([oldest.documentId, (await claim())?.documentId, await claim()]).toEqual(['1', 'other', undefined])
  expect(await jobs.nextDue('me')).toBeUndefined()
  expect(await jobs.nextDue('other')).toEqual(at('10:00:30'))
  await jobs.retry(oldest, at('10:00:05'))
  expect(await claim(at('10:00:04'))).toBeUndefined()
  expect(await jobs.nextDue('me')).toEqual(at('10:00:05'))
  const again = await claimed(() => claim(at('10:00:05')))
  expect([again.documentId, await jobs.complete(again)]).toEqual(['1', true])
  let isWoken = false
  jobs.listen({ onWaiting: () => (isWoken = true), onCancelled: () => {} })
  await jobs.cancel('2')
  expect([(await claim())?.documentId, isWoken]).toEqual(['3', true])
})
