import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenContext, openContext } from '../../../src/app/open-context.ts'
import { GanglionError } from '../../../src/contract/errors.ts'
import { RetrieveInput } from '../../../src/contract/search.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import { kbSearch } from '../../../src/search/kb/kb-search.ts'
import { retrieve } from '../../../src/search/kb/retrieve.ts'
import { search } from '../../../src/search/kb/search-kb.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { newTestBed } from '../../kb/support/test-bed.ts'
import { runNode } from '../../support/process.ts'
import { fc } from '../../support/properties.ts'

const main = 'refs/heads/main'

/** Commits pages, `Page 1` and so on, that all speak of a ticket and of a word of their own. */
function commitPages(gitDir: string, from: number, to: number, word = 'alpha'): void {
  const changes = new Map<string, string>()
  for (let n = from; n < to; n++) {
    const front = `---\nseqId: handbook_${String(n).padStart(8, '0')}\ntitle: Page ${n}\n---\n`
    changes.set(`neurons/page-${n}.md`, `${front}\nA ticket of ${word} number${n}. ${'And more. '.repeat(50)}\n`)
  }
  new NativeWriter(gitDir).commit(main, changes)
}

const find = (ctx: OpenContext, caller: Caller, q = 'ticket') =>
  search(ctx, caller, 'handbook', { q, kind: 'all', limit: 100 })
const countOf = async (ctx: OpenContext, caller: Caller, q?: string) => (await find(ctx, caller, q)).documents.length

/** The search threads that are started from now on. */
function searchThreads(): Worker[] {
  const started: Worker[] = []
  const note = (worker: Worker) => {
    if (worker.threadName === 'search') started.push(worker)
  }
  process.on('worker', note)
  onTestFinished(() => void process.off('worker', note))
  return started
}

/** Tells of every promise that is rejected and that nobody waits for. */
function unhandled(): unknown[] {
  const seen: unknown[] = []
  const note = (reason: unknown) => void seen.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  return seen
}

test('where the thread ends in the middle of anything, callers are told to try again, and then find everything', async () => {
  const threads = searchThreads()
  const { ctx, gitDir, curator } = await newTestBed({})
  for (const round of [0, 1, 2, 3]) {
    commitPages(gitDir, 1 + round * 20, 21 + round * 20)
    const asked = [find(ctx, curator), find(ctx, curator), find(ctx, curator, 'alpha')]
    const settled = Promise.allSettled(asked)
    await new Promise((resolve) => setTimeout(resolve, 10 * round))
    await threads.at(-1)?.terminate()
    for (const result of await settled) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'unavailable', status: 503 })
      else expect(result.value.documents).toHaveLength(20 * (round + 1))
    }
    expect(await countOf(ctx, curator)).toBe(20 * (round + 1))
  }
})

test('where an index is lost or replaced behind its back, every answer is whole', async () => {
  const threads = searchThreads()
  const { ctx, dataDir, kbId, gitDir, curator } = await newTestBed({})
  const file = join(dataDir, 'index', kbId, 'search.db')
  commitPages(gitDir, 1, 10)
  expect(await countOf(ctx, curator)).toBe(9)
  copyFileSync(file, `${file}.old`)
  commitPages(gitDir, 10, 20)
  expect(await countOf(ctx, curator)).toBe(19)
  for (const damage of [
    () => rmSync(file),
    () => writeFileSync(file, 'no database'),
    () => copyFileSync(`${file}.old`, file),
  ]) {
    await threads.at(-1)?.terminate()
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
    damage()
    expect(await countOf(ctx, curator)).toBe(19)
  }
})

test('two servers on one data directory find what either has followed, whoever came last', async () => {
  const bed = await newTestBed()
  const other = await openContext({ dataDir: bed.dataDir })
  onTestFinished(() => other.close())
  const native = new NativeWriter(bed.gitDir)
  commitPages(bed.gitDir, 1, 5, 'alpha')
  const ganglions = [bed.ctx, other]
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 1), fc.constantFrom('alpha', 'beta', 'gamma'), async (who, word) => {
      commitPages(bed.gitDir, 1, 5, word)
      const asked = ganglions[who]
      expect(asked && (await countOf(asked, bed.curator, word))).toBe(4)
      for (const ctx of ganglions) {
        for (const q of ['alpha', 'beta', 'gamma']) {
          expect(await countOf(ctx, bed.curator, q), q).toBe(q === word ? 4 : 0)
        }
      }
    }),
    { numRuns: 8 },
  )
  commitPages(bed.gitDir, 1, 60, 'delta')
  const counts = await Promise.all([0, 1, 0, 1].map((who) => countOf(ganglions[who] ?? other, bed.curator, 'delta')))
  expect(counts).toEqual([59, 59, 59, 59])
  native.commit(main, new Map([['neurons/page-1.md', null]]))
  expect(await Promise.all(ganglions.map((ctx) => countOf(ctx, bed.curator, 'delta')))).toEqual([58, 58])
})

test('closing in the middle of following and searching ends both soon, and what comes later finds everything', async () => {
  const rejections = unhandled()
  const bed = await newTestBed()
  commitPages(bed.gitDir, 1, 300)
  for (const wait of [0, 5, 20, 60]) {
    const ctx = await openContext({ dataDir: bed.dataDir })
    const asked = Promise.allSettled([
      find(ctx, bed.curator),
      retrieve(ctx, bed.curator, 'handbook', RetrieveInput.parse({ query: 'a ticket' })),
    ])
    await new Promise((resolve) => setTimeout(resolve, wait))
    await ctx.close()
    await asked
    rmSync(join(bed.dataDir, 'index', bed.kbId), { recursive: true })
  }
  const again = await bed.reopen()
  expect((await find(again, bed.curator, 'number299')).documents).toHaveLength(1)
  expect(rejections).toEqual([])
})

test('the index of a knowledge base that is being closed is not available', async () => {
  const { ctx, gitDir, curator } = await newTestBed()
  commitPages(gitDir, 1, 60)
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const index = kbSearch(kb, ctx)
  const scope = { audience: 'curator', defaultAudience: [], limit: 10 } as const
  const asked = index.search({ q: 'ticket', scope })
  const closed = index.close()
  await expect(asked).rejects.toThrow(GanglionError)
  await closed
  await expect(index.search({ q: 'ticket', scope })).rejects.toMatchObject({ code: 'unavailable' })
})

test('knowledge bases of several data directories share a search thread, and closing one leaves the others open', async () => {
  const started = searchThreads()
  const [one, other] = [await newTestBed(), await newTestBed()]
  for (const { gitDir } of [one, other]) commitPages(gitDir, 1, 4)
  expect(await Promise.all([one, other].map(({ ctx, curator }) => countOf(ctx, curator)))).toEqual([3, 3])
  await one.ctx.close()
  expect(readdirSync(join(one.dataDir, 'index', one.kbId))).not.toContain('search.db-wal')
  commitPages(other.gitDir, 4, 6)
  expect(await countOf(other.ctx, other.curator)).toBe(5)
  expect(started.length).toBeLessThanOrEqual(1)
  expect(await countOf(await one.reopen(), one.curator)).toBe(3)
})

test('an index that another process holds locked is not available, and is right as soon as it is free', async () => {
  const { ctx, dataDir, kbId, gitDir, curator } = await newTestBed()
  commitPages(gitDir, 1, 10)
  expect(await countOf(ctx, curator)).toBe(9)
  commitPages(gitDir, 10, 20)
  const other = new DatabaseSync(join(dataDir, 'index', kbId, 'search.db'))
  other.exec('BEGIN IMMEDIATE')
  await expect(find(ctx, curator)).rejects.toMatchObject({ code: 'unavailable' })
  other.exec('ROLLBACK')
  other.close()
  expect(await countOf(ctx, curator)).toBe(19)
})

test('a process that only opens a knowledge base starts no search thread, makes no index and ends by itself', async () => {
  const bed = await newTestBed()
  commitPages(bed.gitDir, 1, 10)
  await bed.ctx.close()
  const script = `
    import { openContext } from '${fileURLToPath(new URL('../../../src/app/open-context.ts', import.meta.url))}'
    const threads = []
    process.on('worker', ({ threadName }) => threads.push(threadName))
    const ctx = await openContext({ dataDir: ${JSON.stringify(bed.dataDir)} })
    const kb = await ctx.kb(${JSON.stringify(bed.curator.tenantId)}, 'handbook')
    await kb.sync()
    await ctx.close()
    console.log(threads.filter((name) => name === 'search').length)`
  expect(await runNode(['--input-type=module', '-e', script])).toMatchObject({ code: 0, stdout: '0\n', stderr: '' })
  expect(readdirSync(join(bed.dataDir, 'index', bed.kbId)).filter((name) => name.startsWith('search'))).toEqual([])
})
