import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { IndexAddress } from '../../src/search/index-host.ts'
import { QueryError } from '../../src/search/query/query-tree.ts'
import { type IndexedDocument, StaleIndex } from '../../src/search/search-index.ts'
import { SearchInterrupted, SearchPool } from '../../src/search/search-pool.ts'
import { runNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'
import { curator, page } from './support.ts'

function newPool(options?: { heapLimitMb: number }): SearchPool {
  const pool = new SearchPool(options)
  onTestFinished(() => pool.close())
  return pool
}

function newAddress(): IndexAddress {
  return { directory: tempDir(), language: 'en', engine: 'auto' }
}

/** The threads that are started from now on. */
function threads(): Worker[] {
  const started: Worker[] = []
  const note = (worker: Worker) => void started.push(worker)
  process.on('worker', note)
  onTestFinished(() => void process.off('worker', note))
  return started
}

const handbook = [page('h_1', 'Page the lead.'), page('h_2', 'The lead answers a ticket.')]

async function fill(pool: SearchPool, address: IndexAddress, put: IndexedDocument[], newStamp: string): Promise<void> {
  const { stamp } = await pool.versions(address)
  await pool.ask(address, 'apply', { stamp, newStamp, put, remove: [] })
}

const search = (pool: SearchPool, address: IndexAddress, stamp: string, q = 'lead') =>
  pool.ask(address, 'search', { stamp, q, scope: curator })

test('a thread starts with the first call, and one is enough', async () => {
  const started = threads()
  const [pool, address] = [newPool(), newAddress()]
  expect(started).toHaveLength(0)
  await fill(pool, address, handbook, 'one')
  await search(pool, address, 'one')
  expect(started).toHaveLength(1)
})

test('errors come through as what they are', async () => {
  const [pool, address] = [newPool(), newAddress()]
  await fill(pool, address, handbook, 'one')
  await expect(search(pool, address, 'one', 'a*')).rejects.toThrow(QueryError)
  await expect(search(pool, address, 'other')).rejects.toThrow(StaleIndex)
  const unusable = { ...address, directory: '/dev/null/index' }
  await expect(pool.versions(unusable)).rejects.toMatchObject({ code: 'ENOTDIR' })
  expect((await search(pool, address, 'one')).total).toBe(2)
})

test('where the thread ends, all who wait are told, the next call starts another, and what was applied is there', async () => {
  const started = threads()
  const [pool, address] = [newPool(), newAddress()]
  await fill(pool, address, handbook, 'one')
  const put = Array.from({ length: 500 }, (_, n) => page(`x_${n}`, 'A lead. '.repeat(100)))
  const calls = [
    pool.ask(address, 'apply', { stamp: 'one', newStamp: 'two', put, remove: [] }),
    search(pool, address, 'two'),
    search(pool, newAddress(), 'two'),
  ]
  const settled = Promise.allSettled(calls)
  await started[0]?.terminate()
  for (const result of await settled) {
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(SearchInterrupted) })
  }
  const { stamp, versions } = await pool.versions(address)
  expect([2, 502]).toContain(versions.size)
  expect((await search(pool, address, stamp)).total).toBe(versions.size)
  expect(started).toHaveLength(2)
})

test('what exhausts the memory of the thread fails, and nothing else does', async () => {
  const [pool, address] = [newPool({ heapLimitMb: 32 }), newAddress()]
  await fill(pool, address, handbook, 'one')
  const huge = page('x_1', 'word '.repeat(2_000_000))
  await expect(
    pool.ask(address, 'apply', { stamp: 'one', newStamp: 'two', put: [huge], remove: [] }),
  ).rejects.toMatchObject({ constructor: SearchInterrupted, cause: { code: 'ERR_WORKER_OUT_OF_MEMORY' } })
  expect((await search(pool, address, 'one')).total).toBe(2)
})

test('closing answers or refuses what is under way, saves, and refuses what comes then', async () => {
  const [pool, address] = [newPool(), newAddress()]
  await fill(pool, address, handbook, 'one')
  const under = Promise.allSettled([search(pool, address, 'one'), search(pool, address, 'one')])
  await Promise.all([pool.close(), pool.close()])
  for (const result of await under) expect(result.status).toBe('fulfilled')
  await expect(search(pool, address, 'one')).rejects.toThrow(SearchInterrupted)
  const again = newPool()
  expect((await search(again, address, 'one')).total).toBe(2)
})

test('a pool that was never asked closes without a thread', async () => {
  const started = threads()
  await newPool().close()
  expect(started).toHaveLength(0)
})

test('what an index holds is told in parts, however many pages there are', async () => {
  const [pool, address] = [newPool(), newAddress()]
  await fill(pool, address, [], 'one')
  const put = Array.from({ length: 2_001 }, (_, n) => page(`h_${n}`, '', { version: `v${n}` }))
  await pool.ask(address, 'apply', { stamp: 'one', newStamp: 'two', put, remove: [] })
  const { stamp, versions } = await pool.versions(address)
  expect(stamp).toBe('two')
  expect(versions).toEqual(new Map(put.map(({ key, version }) => [key, version])))
  expect(await pool.ask(address, 'version', { key: 'h_2000' })).toBe('v2000')
  expect(await pool.ask(address, 'version', { key: 'h_2001' })).toBeUndefined()
})

test('what an index holds is not told where it changes meanwhile', async () => {
  const [pool, address] = [newPool(), newAddress()]
  const put = Array.from({ length: 1_001 }, (_, n) => page(`h_${n}`, ''))
  await fill(pool, address, put, 'one')
  const told = pool.versions(address)
  await Promise.all([
    expect(told).rejects.toBeInstanceOf(StaleIndex),
    pool.ask(address, 'apply', { stamp: 'one', newStamp: 'two', put: [], remove: ['h_1'] }),
  ])
})

test('a process that has asked, and does not close, ends', async () => {
  const script = `
    import { SearchPool } from '${fileURLToPath(new URL('../../src/search/search-pool.ts', import.meta.url))}'
    const address = { directory: ${JSON.stringify(tempDir())}, language: 'en', engine: 'auto' }
    const { versions } = await new SearchPool().versions(address)
    console.log(versions.size)`
  expect(await runNode(['--input-type=module', '-e', script])).toMatchObject({ code: 0, stdout: '0\n' })
})
