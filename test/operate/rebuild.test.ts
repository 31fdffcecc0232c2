import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { OpenContext } from '../../src/app/open-context.ts'
import { KnowledgeBase } from '../../src/kb/knowledge-base.ts'
import { compareProjections } from '../../src/kb/projection/compare-projections.ts'
import { Projection, projectionFile } from '../../src/kb/projection/projection.ts'
import { rebuild } from '../../src/operate/rebuild.ts'
import { dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { listCandidates } from '../../src/queue/lists/list-candidates.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { everyAnswer } from '../kb/support/answers.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { happen, history } from '../kb/support/random-history.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { fc, runs } from '../support/properties.ts'
import { tempDir } from '../support/temp.ts'

const main = 'refs/heads/main'
const queue = 'refs/ganglion/queue'

test('whatever happens to a knowledge base, following it step by step ends where a rebuild does', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (story) => {
      const bed = await newTestBed()
      const ctx = await happen(bed, story)
      expect(await differencesToRebuild(ctx, bed)).toEqual([])
      await ctx.close()
    }),
    { numRuns: runs(20, 5) },
  )
})

async function differencesToRebuild(ctx: OpenContext, { curator, kbId, gitDir }: TestBed) {
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const heads = kb.projection.heads(kb.projection.read)
  const differences: unknown[] = []
  for (const isMainFirst of [false, true]) {
    const indexDir = tempDir()
    const opened = () => new KnowledgeBase(kb.identity, { gitDir, indexDir, parser: ctx.parser })
    let rebuilt = opened()
    if (isMainFirst) {
      await rebuilt.prepare()
      await rebuilt.close()
      rebuilt = opened()
    }
    try {
      await rebuilt.followTo(heads)
      const [left, right] = [ctx.directory.index(kbId), indexDir].map((folder) => join(folder, projectionFile))
      differences.push(...compareProjections(left ?? '', right ?? ''))
    } finally {
      await rebuilt.close()
    }
  }
  return differences
}

test('empty tables that are filled have every index, and so has what a first import left when it was cut off', async () => {
  const { bed } = await eventfulBed()
  const { ctx, dataDir, kbId } = bed
  const empty = join(tempDir(), projectionFile)
  new Projection(empty).close()
  await ctx.close()
  rmSync(join(dataDir, 'index'), { recursive: true })
  const reopened = await bed.reopen()
  const kb = await reopened.kb(bed.curator.tenantId, 'handbook')
  const file = join(reopened.directory.index(kbId), projectionFile)
  expect(indexesOf(file)).toEqual(indexesOf(empty))

  const { promise: never } = Promise.withResolvers<void>()
  await new Promise<void>((started) => {
    void kb.inBulk(true, async () => {
      started()
      await never
    })
  })
  expect(indexesOf(file).length).toBeLessThan(indexesOf(empty).length)
  await (await bed.reopen()).kb(bed.curator.tenantId, 'handbook')
  expect(indexesOf(file)).toEqual(indexesOf(empty))
})

function indexesOf(file: string): unknown[] {
  const db = new DatabaseSync(file, { readOnly: true })
  const rows = db
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL ORDER BY name")
    .all()
  db.close()
  return rows
}

/** A knowledge base to which most things have happened, over the API and in native git, and a look at each answer. */
async function eventfulBed() {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  const submit = async (input = candidate()) => (await submitCandidate(ctx, app, input)).candidateId
  const approve = (id: string) => approveCandidate(ctx, curator, id, {})
  const { seqId } = await approve(await submit())
  const { seqId: linking } = await approve(
    await submit(candidate({ title: 'On call', content: 'See [[VIP escalation policy]].' })),
  )
  const { seqId: gone } = await approve(await submit(candidate({ title: 'Old', content: 'Gone soon.' })))
  await approve(await submit(correction(seqId, 'Page the deputy.\n')))
  await submit(
    correction(linking, 'See [[supersedes:Old]].\n', { metadata: '{"targetNeuron":"x","actionZone":"red"}' }),
  )
  await dismissCandidate(ctx, curator, await submit(), { reason: 'Known.' })
  await submit(candidate({ confidence: 0.95, impactEstimate: 3 }))
  for (let n = 0; n < 9; n++) await submit(candidate({ title: `Waiting ${n}` }))
  const native = new NativeWriter(bed.gitDir)
  const [onCall = '', old = '', vip = ''] = [linking, gone, seqId].map((id) =>
    native.paths(main, 'neurons/').find((path) => native.read(main, path).includes(`seqId: ${id}\n`)),
  )
  native.commit(main, new Map([['neurons/moved.md', { renamedFrom: vip }]]))
  native.commit(main, new Map([[onCall, `${native.read(main, onCall)}\nAnd [[kb:handbook/Old]].\n`]]), {
    at: 1_000_000_000,
  })
  native.commit(main, new Map([[old, null]]))
  const { token } = await ctx.apiKeys.create(
    { tenantId: curator.tenantId, name: 'tests', role: 'curator', connectors: [], expiresAt: null },
    new Date(),
  )
  const commits = native.git('rev-list', main).split('\n')
  const look = (server: OpenContext) =>
    everyAnswer(server, { token, kb: 'handbook', seqIds: [seqId, linking, gone], commits })
  return { bed, look }
}

test('without its indexes, and after a rebuild, the API answers the same, byte for byte', async () => {
  const { bed, look } = await eventfulBed()
  const before = await look(bed.ctx)
  const statuses = [...before.values()].map((answer) => answer.slice(0, 3))
  expect(statuses.filter((status) => status === '200').length).toBeGreaterThan(40)
  expect([...before.values()].join()).toContain('"version":3')

  await bed.ctx.close()
  rmSync(join(bed.dataDir, 'index'), { recursive: true })
  expect(await look(await bed.reopen())).toEqual(before)

  const ctx = await bed.reopen()
  const [handbook] = await rebuild(ctx, await ctx.knowledgeBases.list())
  expect(handbook).toEqual({ id: bed.kbId, slug: 'handbook', neurons: 3, candidates: 16 })
  expect(await look(ctx)).toEqual(before)
})

test('an index that is damaged, or not one at all, is built again', async () => {
  const bed = await newTestBed()
  await submitCandidate(bed.ctx, bed.app, candidate())
  await bed.ctx.close()
  writeFileSync(join(bed.dataDir, 'index', bed.kbId, projectionFile), 'No database.')
  const ctx = await bed.reopen()
  expect(await rebuild(ctx, await ctx.knowledgeBases.list())).toMatchObject([{ candidates: 1 }])
})

test('where packed-refs was emptied, the index that knows where the refs were is not dropped', async () => {
  const bed = await newTestBed()
  await submitCandidate(bed.ctx, bed.app, candidate())
  await bed.ctx.close()
  const native = new NativeWriter(bed.gitDir)
  const refs = native.git('for-each-ref')
  native.git('pack-refs', '--all')
  writeFileSync(join(bed.gitDir, 'packed-refs'), '')

  const ctx = await bed.reopen()
  const kbs = await ctx.knowledgeBases.list()
  for (const ref of [main, queue]) {
    const error = await rebuild(ctx, kbs).catch(({ message }) => String(message))
    const [, repair = ''] =
      /^refs.* is gone; to put it back: git --git-dir=\S+ (update-ref .*)$/.exec(String(error)) ?? []
    expect(repair).toContain(ref)
    native.git(...repair.split(' '))
  }
  expect(native.git('for-each-ref')).toBe(refs)
  expect(await rebuild(ctx, kbs)).toMatchObject([{ candidates: 1 }])
})

test('a server that finds a ref gone writes nothing over it', async () => {
  const bed = await newTestBed()
  await submitCandidate(bed.ctx, bed.app, candidate())
  const native = new NativeWriter(bed.gitDir)
  native.git('pack-refs', '--all')
  writeFileSync(join(bed.gitDir, 'packed-refs'), '')
  await expect(submitCandidate(bed.ctx, bed.app, candidate())).rejects.toThrow('is gone')
  expect(existsSync(join(bed.gitDir, queue))).toBe(false)
})

test('a candidate that was damaged by hand is left out, and the others are there', async () => {
  const bed = await newTestBed()
  const { candidateId: damaged } = await submitCandidate(bed.ctx, bed.app, candidate())
  const { candidateId: whole } = await submitCandidate(bed.ctx, bed.app, candidate())
  const native = new NativeWriter(bed.gitDir)
  const path = native.paths(queue).find((file) => file.includes(damaged)) ?? ''
  native.commit(queue, new Map([[path, '---\nid: [\n']]))
  const listed = async (ctx: OpenContext) => {
    const { candidates } = await listCandidates(ctx, bed.curator, { kb: 'handbook', limit: 10 })
    return candidates.map(({ candidateId }) => candidateId)
  }
  expect(await listed(bed.ctx)).toEqual([whole])
  await bed.ctx.close()
  rmSync(join(bed.dataDir, 'index'), { recursive: true })
  expect(await listed(await bed.reopen())).toEqual([whole])
})
