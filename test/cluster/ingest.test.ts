import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { OpenContext } from '../../src/app/open-context.ts'
import { search } from '../../src/search/kb/search-kb.ts'
import { archiveOlder, archiveSource } from '../../src/sources/ingest/archive-source.ts'
import { ingestDocument } from '../../src/sources/ingest/ingest-document.ts'
import type { IngestSteps } from '../../src/sources/ingest/ingest-source.ts'
import { ingestSteps, rereadSources } from '../../src/sources/ingest/ingest-steps.ts'
import { startIngest } from '../../src/sources/ingest/job-runner.ts'
import { sourceTexts } from '../../src/sources/ingest/source-texts.ts'
import { readSourceText } from '../../src/sources/read-source-text.ts'
import { type FormPart, uploadSource } from '../../src/sources/receive/upload-source.ts'
import { DatabaseUnreachable } from '../../src/state/database/database-errors.ts'
import { Jobs } from '../../src/state/jobs.ts'
import { S3Error } from '../../src/state/s3/s3-bucket.ts'
import { addSource, eventsOf, statusOf, steps } from '../kb/support/ingest-support.ts'
import { newTestBed } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'
import { newNodes } from './support/two-nodes.ts'

const handbook = '# Wombats\n\nThe wombat digs at dusk.\n\n## Food\n\nThe wombat eats grass and roots at night.\n'
const leaseMs = 30_000

async function newBed() {
  const nodes = await newNodes()
  const { caller, kbId } = nodes
  const upload = async (node: OpenContext, text = handbook, replace = false) => {
    async function* form(): AsyncGenerator<FormPart> {
      yield { name: 'file', filename: 'wombats.md', bytes: [Buffer.from(text)].values() as never }
    }
    return (await uploadSource(node, caller, 'handbook', form(), { force: false, replace })).id
  }
  const succeeds = (node: OpenContext, id: string) =>
    eventually(async () => expect(await node.sources.get(id)).toMatchObject({ status: 'success', attempt: 1 }))
  const kinds = async (node: OpenContext, id: string) =>
    (await node.events.after(caller.tenantId, 0, 1_000))
      .filter(({ kind, data }) => data.documentId === id && kind !== 'ingest.progress')
      .map(({ kind }) => kind)
  const found = async (node: OpenContext, q: string, kind: 'source' | 'wiki' | 'all') =>
    (await search(node, caller, 'handbook', { q, kind, limit: 10 })).documents.map(({ title }) => title)
  const shown = async (node: OpenContext, id: string) =>
    (await readSourceText(node, caller, id, {}))?.passages.map(({ text }) => text).join('')
  const candidates = async (node: OpenContext) => {
    const kb = await node.kb(caller.tenantId, kbId)
    return kb.projection.read.get`select count(*) as count from candidates`?.count
  }
  return { ...nodes, upload, succeeds, kinds, found, shown, candidates }
}

async function ingest(node: OpenContext, steps: Partial<IngestSteps> = {}): Promise<void> {
  const onError = (error: unknown) => {
    throw error
  }
  onTestFinished(await startIngest(node, { ...ingestSteps(node), ...steps }, { onError, leaseMs }))
}

for (const stage of ['extract', 'compile', 'commit'] as const) {
  test(`a Source whose node stands still after its ${stage} is ingested by another, once`, async () => {
    const bed = await newBed()
    const { one, two, clock, caller } = bed
    const real = ingestSteps(one)
    const [reached, continued] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const still = async (...given: never[]) => {
      const result = await (real[stage] as (...given: never[]) => Promise<unknown>)(...given)
      reached.resolve()
      await continued.promise
      return result
    }
    await ingest(one, { [stage]: still })
    const id = await bed.upload(one)
    await reached.promise
    clock.now = new Date(clock.now.getTime() + leaseMs + 1)
    let read = 0
    const { extract } = ingestSteps(two)
    await ingest(two, {
      extract: async (...given) => {
        read++
        return extract(...given)
      },
    })
    await bed.succeeds(two, id)
    const before = [await bed.candidates(two), await bed.found(two, 'wombat', 'wiki')]
    continued.resolve()
    await eventually(async () => expect(await one.jobs.nextDue('nobody')).toBeUndefined())
    expect(await bed.kinds(one, id)).toEqual(['source.uploaded', 'ingest.started', 'ingest.completed'])
    expect([await bed.candidates(two), await bed.found(two, 'wombat', 'wiki')]).toEqual(before)
    expect(before[1]).not.toHaveLength(0)
    expect(read).toBe(1)
    expect(await two.sources.list(bed.kbId, { limit: 10 })).toMatchObject([{ id, uploader: { id: caller.id } }])
  })
}

test('Sources that are archived and ingested again while parts fail end, each with its job, and are told to', async () => {
  const { one, two, clock, caller, kbId } = await newNodes()
  const ticking = setInterval(() => Object.assign(clock, { now: new Date() }), 2)
  onTestFinished(() => clearInterval(ticking))
  const failing = async () => {
    await delay(Math.random() * 10)
    if (Math.random() < 0.5) throw new S3Error('answered GET with 500')
    return steps().commit({} as never, [], {} as never)
  }
  const options = { onError: () => {}, retryMs: 2 }
  for (const node of [one, two]) onTestFinished(await startIngest(node, steps({ commit: failing }), options))
  const sources = await Promise.all(
    Array.from({ length: 24 }, (_, n) => addSource(one, { kbId, status: n % 2 === 0 ? 'ready' : 'pending' })),
  )
  const archived = sources.map(async ({ id }, n) => {
    for (;;) {
      await delay(Math.random() * 40)
      const act = n % 4 === 0 || Math.random() < 0.3 ? ingestDocument : archiveSource
      const outcome = await act(n % 3 === 0 ? one : two, caller, id).catch(({ code }) => code)
      if (outcome === undefined || outcome === 'not_found') return
      expect([{ ok: true, message: expect.anything() }, 'already_processing']).toContainEqual(outcome)
      if (n % 4 === 0 && Math.random() < 0.2) return
    }
  })
  await Promise.all(archived)
  await eventually(async () => expect(await one.jobs.nextDue('nobody')).toBeUndefined())
  expect(await one.sources.unfinished()).toEqual([])
  const letters: Record<string, string> = { 'source.uploaded': 'u', 'ingest.completed': 'c', 'ingest.failed': 'f' }
  for (const source of sources) {
    const kinds = (await eventsOf(one, source)).map(({ kind }) => kind).filter((kind) => kind !== 'ingest.progress')
    const story = kinds.map((kind) => letters[kind] ?? 's').join('')
    expect(story).toMatch(/^u(?:s?f|sc)(?:s[cf])*$/)
    expect((await one.sources.get(source.id))?.status).toBe(story.endsWith('c') ? 'success' : 'failed')
  }
})

test('a Source is archived together with its job, or not at all', async () => {
  const { ctx, kbId, curator } = await newTestBed()
  const source = await addSource(ctx, { kbId })
  vi.spyOn(Jobs.prototype, 'cancel').mockRejectedValueOnce(new DatabaseUnreachable(new Error('ECONNREFUSED')))
  await expect(archiveSource(ctx, curator, source.id)).rejects.toThrow()
  expect([await ctx.sources.get(source.id), (await eventsOf(ctx, source)).length]).toEqual([source, 1])
  vi.spyOn(ctx.sources, 'archive').mockRejectedValueOnce(new DatabaseUnreachable(new Error('ECONNREFUSED')))
  await expect(archiveSource(ctx, curator, source.id)).rejects.toThrow()
  expect([await ctx.sources.get(source.id), (await eventsOf(ctx, source)).length]).toEqual([source, 1])
  expect(await ctx.jobs.nextDue('nobody')).toBeDefined()
})

test.each(['success', 'ready', 'processing'] as const)(
  'an older edition that is %s is over with the newer one',
  async (status) => {
    const { ctx, kbId, app } = await newTestBed()
    const older = await addSource(ctx, { kbId, status: 'failed' })
    await ctx.jobs.cancel(older.id)
    if (status !== 'success') await ingestDocument(ctx, app, older.id)
    await ctx.sources.change(older.id, ['failed', 'processing'], { status })
    await archiveOlder(ctx, { ...older, seq: older.seq + 1 })
    expect((await ctx.sources.get(older.id))?.archivedAt).not.toBeNull()
    const isOver = status === 'success'
    expect((await eventsOf(ctx, older)).at(-1)?.kind).toBe(isOver ? 'source.uploaded' : 'ingest.failed')
    expect([await statusOf(ctx, older), await ctx.jobs.nextDue('nobody')]).toMatchObject([
      { status: isOver ? 'success' : 'failed' },
      undefined,
    ])
  },
)

test('the text of a Source is shown and found by a node that did not read it', async () => {
  const { one, two, upload, succeeds, found, shown, kept } = await newBed()
  await ingest(one)
  const id = await upload(one)
  await succeeds(two, id)
  expect(await shown(two, id)).toBe(await shown(one, id))
  expect(await shown(two, id)).toContain('The wombat digs at dusk.')
  expect(await found(two, 'roots', 'source')).toHaveLength(1)
  expect(kept('texts')).toEqual([expect.stringContaining(id)])
})

test('a text that the store does not have is read again by the leading node, and found by the others', async () => {
  const { one, two, upload, succeeds, found, shown, s3, node } = await newBed()
  await ingest(one)
  const id = await upload(one)
  await succeeds(one, id)
  for (const key of s3.objects.keys()) if (key.includes('/texts/')) s3.objects.delete(key)
  expect(await shown(two, id)).toBeUndefined()
  const errors: unknown[] = []
  onTestFinished(rereadSources(one, { transcriber: undefined, onError: (error) => errors.push(error) }))
  await eventually(async () => expect(await shown(two, id)).toContain('dusk'))
  expect(await found(await node(), 'roots', 'source')).toHaveLength(1)
  expect(errors).toEqual([])
})

test('a text that a node kept just before it was killed is found', async () => {
  const { one, two, upload, succeeds, found } = await newBed()
  const id = await upload(one)
  const source = await one.sources.get(id)
  if (source === undefined) throw new Error()
  await sourceTexts(one).keep(source, { title: 'Wombats', markdown: handbook, anchors: [], warnings: [] })
  await ingest(two)
  await succeeds(two, id)
  expect((await two.sources.get(id))?.extractedAt).not.toBeNull()
  expect(await found(two, 'roots', 'source')).toHaveLength(1)
})

test('while the store is out of reach search finds what the index has, and the rest afterwards', async () => {
  const { one, two, upload, succeeds, found, s3, caller } = await newBed()
  await ingest(one)
  const id = await upload(one)
  await succeeds(one, id)
  expect(await found(two, 'wombat', 'wiki')).not.toHaveLength(0)
  const next = await upload(one, '# Numbats\n\nThe numbat sleeps in a log.\n')
  await succeeds(one, next)
  await two.kb(caller.tenantId, 'handbook') // brings its copy up to date
  s3.outage.isOn = true
  expect(await found(two, 'roots', 'source')).toHaveLength(1)
  expect(await found(two, 'numbat', 'source')).toHaveLength(0)
  s3.outage.isOn = false
  await eventually(async () => expect(await found(two, 'numbat', 'source')).toHaveLength(1))
})
