import { randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { GanglionError, undefinedOn } from '../../../src/contract/errors.ts'
import type { Context } from '../../../src/kb/context.ts'
import { findCandidate } from '../../../src/kb/projection/candidate-index.ts'
import { everySeqId } from '../../../src/kb/projection/neuron-queries.ts'
import type { MainTables } from '../../../src/kb/projection/projection.ts'
import type { ReadableKb } from '../../../src/kb/readable-kb.ts'
import { mainRef } from '../../../src/kb/refs/kb-refs.ts'
import { readGraph } from '../../../src/pages/graph/read-graph.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { candidateHeads } from '../../../src/queue/heads/candidate-refs.ts'
import { type PreviewedKb, previewedKb } from '../../../src/queue/preview/previewed-kb.ts'
import { approveBundle, bundleEntry } from '../../../src/queue/push-bundle.ts'
import { candidateIdFor } from '../../../src/rules/candidates/candidate-id.ts'
import { retrieve } from '../../../src/search/kb/retrieve.ts'
import { findPages } from '../../../src/search/kb/search-kb.ts'
import { inUse } from '../../../src/system/concurrency/present-work.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import type { WrittenBed } from '../../kb/support/written-neurons.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { fc, runs } from '../../support/properties.ts'
import { linkedBed, type Proposed, proposals, propose } from './proposals.ts'

/** All that the tables say of main, but for ids that are drawn anew and times. */
function tablesOf(sql: MainTables): unknown {
  return {
    neurons: sql.all`SELECT seq_id, path, title, version, position, own_tags, tags, audience, partial FROM neurons ORDER BY 1`,
    files: sql.all`SELECT path, path_key, mode, seq_id FROM files ORDER BY 1`,
    versions: sql.all`SELECT seq_id, version, number, position, path, blob IS NULL FROM versions ORDER BY 1, 2`,
    names: sql.all`SELECT * FROM names ORDER BY key, seq_id, kind, exact`,
    tags: sql.all`SELECT * FROM tags ORDER BY 1, 2`,
    links: sql.all`SELECT * FROM links ORDER BY seq_id, ordinal`,
    attachments: sql.all`SELECT * FROM attachments ORDER BY 1, 2`,
    unapproved: sql.all`SELECT * FROM unapproved ORDER BY 1`,
    contested: sql.all`SELECT * FROM contested ORDER BY 1`,
    counts: sql.all`SELECT (SELECT count(*) FROM commits), (SELECT count(*) FROM approvals)`,
  }
}

const questions = [
  'ticket rota',
  'pager',
  '"night desk"',
  'storm OR vip',
  'esc*',
  'tag:vip lead',
  'Lead',
  'policy -queue',
  'tikcet',
]

/** Returns the answers for a curator and an app about a knowledge base, without random ids and times. */
async function answersOf(bed: WrittenBed, kb: ReadableKb): Promise<unknown> {
  const answers: unknown[] = []
  const ctx: Context = { ...bed.ctx, readableKb: async () => kb }
  for (const caller of [bed.curator, bed.app]) {
    for (const q of questions) {
      const query = { q, kind: 'all', limit: 10, facets: true } as const
      const { hits, ...found } = await findPages(ctx, caller, 'handbook', query)
      const limits = { audience: 'curator', maxChars: 2_000, topK: 5, kind: 'all' } as const
      const passages = await retrieve(ctx, caller, 'handbook', { query: q, ...limits })
      answers.push({ q, found, hits: hits.map(({ id: _id, ...hit }) => hit), passages: passages.formattedContext })
      answers.push(passages.chunks.map(({ documentId: _id, ...chunk }) => chunk))
    }
    for (const { seqId } of everySeqId(kb.projection.read)) {
      const read = await readNeuron(ctx, caller, { kb: 'handbook', seqId }).catch(() => undefined)
      if (read === undefined) continue
      const {
        documentId: _id,
        commit: _commit,
        candidateId: _candidate,
        createdAt: _c,
        updatedAt: _u,
        ...neuron
      } = read
      answers.push(neuron)
    }
    answers.push(await readGraph(ctx, caller, 'handbook', { depth: 1, limit: 100 }))
  }
  return answers
}

async function proposedIn(bed: WrittenBed, all: readonly Proposed[]): Promise<string[]> {
  const ids: string[] = []
  for (const one of all) ids.push(...(await propose(bed, one)))
  return ids
}

/** Approves candidates in order, whole bundles as one. @returns those that could not be */
async function approveAll(bed: WrittenBed, ids: readonly string[]): Promise<string[]> {
  const refused: string[] = []
  const { projection } = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const left = new Set(ids)
  for (const id of left) {
    const row = findCandidate(projection.read, id)
    const bundle = row && bundleEntry(projection.read, row)
    if (bundle?.members.every((member) => left.has(member.id))) {
      const judged = { candidateId: id, seen: bundle.seen }
      const taken = await approveBundle(bed.ctx, bed.curator, judged).catch(undefinedOn('merge_conflict'))
      for (const each of taken ?? []) left.delete(each)
      if (taken !== undefined) continue
    }
    await approveCandidate(bed.ctx, bed.curator, id, {}).catch(() => refused.push(id))
  }
  return refused
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error) => (error instanceof GanglionError ? error.code : `${error}`),
  )
}

test('a preview answers as main does once the same candidates are approved, and says what would conflict', async () => {
  const bed = await linkedBed()
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  await fc.assert(
    fc.asyncProperty(proposals, fc.boolean(), async (all, rewriteLinks) => {
      const settings = bed.native.read(mainRef, 'kb.yaml').replace(/rewriteLinks: .*/, `rewriteLinks: ${rewriteLinks}`)
      bed.native.commit(mainRef, new Map([['kb.yaml', settings]]))
      await kb.sync()
      const ids = await proposedIn(bed, all)
      if (ids.length === 0) return
      const before = [nativeGit(bed.gitDir, ['rev-parse', 'main']), tablesOf(kb.projection.read)]
      const previewed = await previewedKb(bed.ctx, bed.curator, kb, ids)
      const shown = [tablesOf(previewed.projection.read), await answersOf(bed, previewed)]
      expect([nativeGit(bed.gitDir, ['rev-parse', 'main']), tablesOf(kb.projection.read)]).toEqual(before)
      const refused = await approveAll(bed, ids)
      expect(previewed.preview.conflicts.map(({ candidateId }) => candidateId)).toEqual(refused)
      expect(shown).toEqual([tablesOf(kb.projection.read), await answersOf(bed, kb)])
      for (const id of refused) await dismissCandidate(bed.ctx, bed.curator, id, {})
    }),
    { numRuns: runs(15, 4), endOnFailure: true },
  )
})

test("a preview of a whole bundle shows what its approval makes: pages that take each other's places", async () => {
  const bed = await linkedBed()
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const ids = await propose(bed, { kind: 'turn', numbers: [1, 2], content: 'More.\n' })
  const places = ({ projection }: ReadableKb) => projection.read.all`SELECT seq_id, path FROM neurons ORDER BY 1`
  const before = places(kb)
  const previewed = await previewedKb(bed.ctx, bed.curator, kb, ids)
  expect(places(previewed)).not.toEqual(before)
  expect(previewed.preview).toEqual({ candidates: ids, conflicts: [] })
  expect(await approveAll(bed, ids)).toEqual([])
  expect(places(previewed)).toEqual(places(kb))
})

test('a preview has all links of a page that is written in slices, in their order', async () => {
  const bed = await linkedBed()
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const content = `${Array.from({ length: 2_100 }, (_, n) => `[[Page ${n}]]`).join(' ')}\n`
  const ids = await proposedIn(bed, [{ kind: 'change', number: 1, changes: { content } }])
  const previewed = await previewedKb(bed.ctx, bed.curator, kb, ids)
  const shown = tablesOf(previewed.projection.read)
  expect(previewed.projection.read.all`SELECT count(*) AS n FROM links WHERE target LIKE 'Page %'`).toEqual([
    { n: 2_100 },
  ])
  expect(await approveAll(bed, ids)).toEqual([])
  expect(tablesOf(kb.projection.read)).toEqual(shown)
})

test('a candidate that conflicts with one before it is named and left out', async () => {
  const bed = await linkedBed()
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const ids = await proposedIn(bed, [
    { kind: 'change', number: 1, changes: { content: 'One.\n' } },
    { kind: 'change', number: 1, changes: { content: 'Two.\n' } },
    { kind: 'change', number: 2, changes: { title: 'Two' } },
  ])
  const [first = '', second = ''] = ids
  const opened = async (all: string[]) => (await previewedKb(bed.ctx, bed.curator, kb, all)).preview.conflicts
  expect(await opened(ids)).toEqual([{ candidateId: second, error: 'merge_conflict', message: expect.any(String) }])
  expect(await opened([second, first])).toMatchObject([{ candidateId: first }])
})

test('a preview shows what others would have to approve', async () => {
  const bed = await linkedBed()
  const settings = bed.native.read('refs/heads/main', 'kb.yaml')
  bed.native.commit('refs/heads/main', new Map([['kb.yaml', `${settings}\nauthorMayApprove: false\n`]]))
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const ids = await proposedIn(bed, [{ kind: 'change', number: 1, changes: { title: 'Renamed' } }])
  const { preview, projection } = await previewedKb(bed.ctx, bed.curator, kb, ids)
  expect(preview.conflicts).toEqual([])
  expect(projection.read.all`SELECT 1 FROM neurons WHERE title = 'Renamed'`).toHaveLength(1)
  expect(await codeOf(approveCandidate(bed.ctx, bed.curator, ids[0] ?? '', {}))).toBe('approval_needed')
})

test('a preview is for curators, and of pending candidates alone', async () => {
  const bed = await linkedBed()
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const [id = '', other = ''] = await proposedIn(bed, [
    { kind: 'change', number: 1, changes: { title: 'Renamed' } },
    { kind: 'remove', number: 2 },
  ])
  const open = (ids: string[], as = bed.curator) => codeOf(previewedKb(bed.ctx, as, kb, ids))
  expect(await open([id], bed.reader)).toBe('not_found')
  expect(await open([id], bed.app)).toBe('not_found')
  expect(await open([candidateIdFor(kb.identity.id)])).toBe('not_found')
  expect(await open([candidateIdFor(randomUUID())])).toBe('not_found')
  expect(await open(['0'.repeat(40)])).toBe('not_found')
  expect(await open([nativeGit(bed.gitDir, ['rev-parse', 'main'])])).toBe('not_found')
  expect(await open([id, other])).toBe('done')
  await dismissCandidate(bed.ctx, bed.curator, other, {})
  expect(await open([id, other])).toBe('not_pending')
  expect(await open([id])).toBe('done')
  await approveCandidate(bed.ctx, bed.curator, id, {})
  expect(await open([id])).toBe('not_pending')
})

test('a preview writes nothing, is kept while main stays, and is made anew when main moves', async () => {
  const bed = await linkedBed()
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const [id = '', other = ''] = await proposedIn(bed, [
    { kind: 'change', number: 1, changes: { title: 'Renamed' } },
    { kind: 'change', number: 2, changes: { title: 'Renamed, too' } },
  ])
  const titles = (of: PreviewedKb) =>
    of.projection.read.all`SELECT title FROM neurons WHERE title LIKE 'Renamed%'`.length
  const files = () => readdirSync(bed.dataDir, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const written = () => files().map(({ parentPath, name }) => [parentPath, name, statSync(join(parentPath, name)).size])
  // What is done after an answer, such as the log of events, is done first.
  for (let last = ''; last !== String(written()); await delay(200)) last = String(written())
  const [revision, before] = [kb.projection.revision(), written()]
  const first = await previewedKb(bed.ctx, bed.curator, kb, [id])
  expect(written().filter((one, at) => String(one) !== String(before[at]))).toEqual([])
  expect(kb.projection.revision()).toBe(revision)
  expect(await previewedKb(bed.ctx, bed.curator, kb, [id])).toBe(first)
  await approveCandidate(bed.ctx, bed.curator, other, {})
  expect(titles(first)).toBe(1)
  const second = await previewedKb(bed.ctx, bed.curator, kb, [id])
  expect(titles(second)).toBe(2)
})

test('a preview is closed once it is dropped and nobody reads it', async () => {
  const bed = await linkedBed()
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const [id = '', other = ''] = await proposedIn(bed, [
    { kind: 'change', number: 1, changes: { title: 'Renamed' } },
    { kind: 'change', number: 2, changes: { title: 'Renamed, too' } },
  ])
  const [first] = await inUse(async () => {
    const previewed = await previewedKb(bed.ctx, bed.curator, kb, [id])
    await approveCandidate(bed.ctx, bed.curator, other, {})
    expect(tablesOf(previewed.projection.read)).toBeDefined()
    return [previewed]
  })
  await expect
    .poll(() => codeOf(Promise.resolve().then(() => tablesOf(first.projection.read))))
    .toMatch(/not open|finalized/)
})

test('a preview that is read while its knowledge base is closed is closed once', async () => {
  const bed = await linkedBed()
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const [id = ''] = await proposedIn(bed, [{ kind: 'change', number: 1, changes: { title: 'Renamed' } }])
  const failures: unknown[] = []
  const note = (error: unknown) => failures.push(error)
  process.on('unhandledRejection', note)
  await inUse(async () => {
    await previewedKb(bed.ctx, bed.curator, kb, [id])
    await bed.ctx.close()
  })
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(failures).toEqual([])
})

test('a commit of the ref of a candidate stands for the candidate', async () => {
  const bed = await linkedBed()
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const [id = ''] = await proposedIn(bed, [{ kind: 'remove', number: 1 }])
  const head = await candidateHeads(kb, bed.ctx).headOf(id)
  const { preview } = await previewedKb(bed.ctx, bed.curator, kb, [head ?? '', id])
  expect(preview).toEqual({ candidates: [id], conflicts: [] })
})
