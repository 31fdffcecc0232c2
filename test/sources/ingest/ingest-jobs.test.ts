import { expect, onTestFinished, test, vi } from 'vitest'
import type { OpenContext } from '../../../src/app/open-context.ts'
import { GanglionError } from '../../../src/contract/errors.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { ExtractionError, type ExtractionProblem } from '../../../src/sources/extracted.ts'
import { archiveSource } from '../../../src/sources/ingest/archive-source.ts'
import { ingestDocument } from '../../../src/sources/ingest/ingest-document.ts'
import { type IngestSteps, progressReporter } from '../../../src/sources/ingest/ingest-source.ts'
import { DatabaseUnreachable } from '../../../src/state/database/database-errors.ts'
import { S3Error } from '../../../src/state/s3/s3-bucket.ts'
import type { Source } from '../../../src/state/sources/source.ts'
import { addSource, eventsOf, ingest, statusOf, steps } from '../../kb/support/ingest-support.ts'
import { candidate, newTestBed } from '../../kb/support/test-bed.ts'
import { eventually } from '../../support/eventually.ts'

const failure = (problem: ExtractionProblem) => new ExtractionError(problem, 'The file is password-protected.')

async function becomes(ctx: OpenContext, source: Source, status: string): Promise<void> {
  await eventually(async () => expect((await statusOf(ctx, source)).status).toBe(status))
}

/** Each status that a Source is seen in while a step runs. */
function watched(ctx: OpenContext) {
  const seen: string[] = []
  const see = (step: string, source: Source) => async () => {
    seen.push(`${step} ${(await statusOf(ctx, source)).status}`)
  }
  const given = steps({
    async extract(source) {
      await see('extract', source)()
      return { title: undefined, markdown: 'Text.', anchors: [], warnings: [] }
    },
    async compile(source, { markdown }) {
      await see(`compile ${markdown}`, source)()
      return { pages: [], warnings: [] }
    },
    async commit(source) {
      await see('commit', source)()
      return { seqIds: ['handbook_00000001', 'handbook_00000002'], pending: 1, commit: 'c0ffee', warnings: [] }
    },
  })
  return { seen, steps: given }
}

const stages = ['extracting', 'compiling', 'committing'].map((stage) => {
  return { kind: 'ingest.progress', stage, done: 0, total: 0 }
})
const uploaded = expect.objectContaining({ kind: 'source.uploaded' })
const started = { kind: 'ingest.started', status: 'processing' }

test('a Source that is not as it was read is ingested all the same', async () => {
  const { ctx, kbId } = await newTestBed()
  const source = await addSource(ctx, { kbId, status: 'pending', fileType: 'pdf' })
  const extract = async () => {
    // As a node may whose answer was lost.
    await ctx.sources.change(source.id, ['pending'], { status: 'ready' })
    return { title: undefined, markdown: 'Text.', anchors: [], warnings: [] }
  }
  await ingest(ctx, steps({ extract }))
  await becomes(ctx, source, 'success')
})

test('a binary format: pending while it is read, ready, processing, success', async () => {
  const { ctx, kbId } = await newTestBed()
  const { seen, steps } = watched(ctx)
  const source = await addSource(ctx, { kbId, status: 'pending', fileType: 'pdf' })
  await ingest(ctx, steps)
  await becomes(ctx, source, 'success')
  expect(seen).toEqual(['extract pending', 'compile Text. processing', 'commit processing'])
  expect(await statusOf(ctx, source)).toEqual({ status: 'success', errorMessage: null, attempt: 1 })
  expect((await ctx.sources.get(source.id))?.extractedAt).not.toBeNull()
  const completed = { kind: 'ingest.completed', status: 'success', neurons: 2, pending: 1, commit: 'c0ffee' }
  expect(await eventsOf(ctx, source)).toEqual([uploaded, stages[0], started, stages[1], stages[2], completed])
})

test('the warnings of each step stand on the Source, those of its last ingest only', async () => {
  const { ctx, kbId, app } = await newTestBed()
  const extracted = { title: 'Note', markdown: 'Text.', anchors: [] }
  let warned = true
  const given = steps({
    extract: async () => ({ ...extracted, warnings: warned ? ['Page 2 is blank.', 'Page 3 is blank.'] : [] }),
    compile: async () => ({ pages: [], warnings: ['Page 3 is blank.', 'Without the model.'] }),
    commit: async () => ({ seqIds: [], pending: 0, commit: undefined, warnings: warned ? ['A curator decides.'] : [] }),
  })
  const source = await addSource(ctx, { kbId, status: 'pending' })
  await ingest(ctx, given)
  await becomes(ctx, source, 'success')
  const warnings = async () => (await ctx.sources.get(source.id))?.warnings
  expect(await warnings()).toEqual(['Page 2 is blank.', 'Page 3 is blank.', 'Without the model.', 'A curator decides.'])
  warned = false
  await ingestDocument(ctx, app, source.id)
  await becomes(ctx, source, 'success')
  expect(await warnings()).toEqual(['Page 3 is blank.', 'Without the model.'])
})

test('a text format: ready, processing at once, success', async () => {
  const { ctx, kbId } = await newTestBed()
  const { seen, steps } = watched(ctx)
  await ingest(ctx, steps)
  const source = await addSource(ctx, { kbId })
  await becomes(ctx, source, 'success')
  expect(seen).toEqual(['extract processing', 'compile Text. processing', 'commit processing'])
  expect((await eventsOf(ctx, source)).slice(0, 3)).toEqual([uploaded, started, stages[0]])
})

test.each<[ExtractionProblem, 'pending' | 'ready']>([
  ['encrypted', 'pending'],
  ['corrupt', 'ready'],
  ['too-large', 'pending'],
  ['not-configured', 'pending'],
])('what is %s fails at the first attempt, with a reason for people', async (problem, status) => {
  const { ctx, kbId } = await newTestBed()
  const extract = vi.fn(() => Promise.reject(failure(problem)))
  const source = await addSource(ctx, { kbId, status })
  await ingest(ctx, steps({ extract }))
  await becomes(ctx, source, 'failed')
  expect(extract).toHaveBeenCalledTimes(1)
  const error = 'The file is password-protected.'
  expect(await statusOf(ctx, source)).toMatchObject({ errorMessage: error })
  expect((await eventsOf(ctx, source)).at(-1)).toEqual({ kind: 'ingest.failed', status: 'failed', error })
  expect(await ctx.jobs.nextDue('nobody')).toBeUndefined()
})

test('what may be better next time is tried three times', async () => {
  const { ctx, kbId } = await newTestBed()
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const compile = vi.fn(() => Promise.reject(new Error('secret path')))
  const extract = vi
    .fn(steps().extract)
    .mockRejectedValueOnce(failure('crashed'))
    .mockRejectedValueOnce(failure('starved'))
  const [source, other] = [await addSource(ctx, { kbId }), await addSource(ctx, { kbId, status: 'pending' })]
  const given: IngestSteps = steps({
    extract: (asked, context) => (asked.id === other.id ? extract(asked, context) : steps().extract(asked, context)),
    compile: (asked, ...rest) => (asked.id === source.id ? compile() : steps().compile(asked, ...rest)),
  })
  await ingest(ctx, given, { onError })
  await becomes(ctx, source, 'failed')
  await becomes(ctx, other, 'success')
  expect([compile.mock.calls.length, extract.mock.calls.length]).toEqual([3, 3])
  expect(await statusOf(ctx, source)).toEqual({
    ...{ status: 'failed', errorMessage: 'Something went wrong while compiling; try again.', attempt: 1 },
  })
  expect(errors.map(String).toSorted()).toEqual([
    'Error: The file is password-protected.',
    ...Array(3).fill('Error: secret path'),
  ])
  const kinds = (await eventsOf(ctx, source)).map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'ingest.started')).toHaveLength(1)
  expect(kinds.filter((kind) => kind === 'ingest.failed')).toHaveLength(1)
})

test('however often a part of the server is out of reach, the Source does not fail for it', async () => {
  const { ctx, kbId } = await newTestBed()
  const outages = [
    new S3Error('cannot be reached'),
    new DatabaseUnreachable(new Error('ECONNREFUSED')),
    Object.assign(new Error('no space left'), { code: 'ENOSPC' }),
    new GanglionError('unavailable'),
    new S3Error('answered GET with 500 (InternalError)'),
  ]
  const left = [...outages]
  const errors: unknown[] = []
  const extract: IngestSteps['extract'] = async (source, context) => {
    const outage = left.shift()
    if (outage !== undefined) throw outage
    return steps().extract(source, context)
  }
  const source = await addSource(ctx, { kbId })
  await ingest(ctx, steps({ extract }), { onError: (error) => errors.push(error) })
  await becomes(ctx, source, 'success')
  expect(await statusOf(ctx, source)).toMatchObject({ attempt: 1 })
  expect(errors).toEqual(outages.filter((error) => !(error instanceof GanglionError)))
})

test.each([
  ['another attempt', new Error('busy')],
  ['a part of the server', new DatabaseUnreachable(new Error('ECONNREFUSED'))],
])('what waits for %s is not shown as being processed, and may be archived', async (_, error) => {
  const { ctx, kbId, app, curator } = await newTestBed()
  const kinds = { text: 'md', unread: 'pdf', read: 'pdf' }
  const sources = new Map<string, Source>()
  for (const [name, fileType] of Object.entries(kinds)) {
    const source = await addSource(ctx, { kbId, fileType, status: 'failed' })
    await ctx.jobs.cancel(source.id)
    await ingestDocument(ctx, app, source.id)
    sources.set(name, source)
  }
  const fail = vi.fn(() => Promise.reject(error))
  const given = steps({
    extract: (source, context) => (source.id === sources.get('unread')?.id ? fail() : steps().extract(source, context)),
    compile: fail,
  })
  await ingest(ctx, given, { retryMs: 60_000, onError: () => {} })
  await eventually(() => expect(fail).toHaveBeenCalledTimes(3))
  await eventually(async () => {
    const statuses = [...sources.values()].map(async (source) => (await statusOf(ctx, source)).status)
    expect(await Promise.all(statuses)).toEqual(['ready', 'pending', 'ready'])
  })
  for (const { id } of sources.values()) await archiveSource(ctx, curator, id)
  expect(await ctx.jobs.nextDue('nobody')).toBeUndefined()
  const end = { kind: 'ingest.failed', status: 'failed', error: 'It was archived before it was ingested.' }
  for (const source of sources.values()) expect((await eventsOf(ctx, source)).at(-1)).toEqual(end)
})

test('a failed Source is ingested again when asked, and its reason is cleared', async () => {
  const { ctx, kbId, app } = await newTestBed()
  const extract = vi.fn(steps().extract).mockRejectedValueOnce(failure('not-configured'))
  const gate = Promise.withResolvers<void>()
  const source = await addSource(ctx, { kbId, status: 'pending' })
  await ingest(ctx, steps({ extract, compile: () => gate.promise.then(() => ({ pages: [], warnings: [] })) }))
  await becomes(ctx, source, 'failed')
  const answer = await ingestDocument(ctx, app, source.id)
  expect(answer).toEqual({ ok: true, message: 'The ingest of note.md begins.' })
  expect(await statusOf(ctx, source)).toMatchObject({ status: 'processing', errorMessage: null })
  await expect(ingestDocument(ctx, app, source.id)).rejects.toMatchObject({
    code: 'already_processing',
    status: 409,
  })
  gate.resolve()
  await becomes(ctx, source, 'success')
  const kinds = (await eventsOf(ctx, source)).map(({ kind }) => kind).filter((kind) => kind !== 'ingest.progress')
  expect(kinds).toEqual(['source.uploaded', 'ingest.failed', 'ingest.started', 'ingest.completed'])
})

test('what is ready is accepted, what runs cannot be asked for again, and of many who ask at once one is heard', async () => {
  const { ctx, kbId, app } = await newTestBed()
  const source = await addSource(ctx, { kbId })
  const accepted = { ok: true, message: 'The ingest of note.md is already queued.' }
  expect(await Promise.all([1, 2].map(() => ingestDocument(ctx, app, source.id)))).toEqual([accepted, accepted])
  const stop = await ingest(ctx, steps())
  await becomes(ctx, source, 'success')
  await stop()
  const kinds = (await eventsOf(ctx, source)).map(({ kind }) => kind).filter((kind) => kind !== 'ingest.progress')
  expect(kinds).toEqual(['source.uploaded', 'ingest.started', 'ingest.completed'])
  const asked = await Promise.allSettled([1, 2, 3, 4].map(() => ingestDocument(ctx, app, source.id)))
  expect(asked.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
  await ingest(ctx, steps())
  await becomes(ctx, source, 'success')
})

test('only a Source of the tenant that is not archived can be ingested', async () => {
  const { ctx, kbId, app } = await newTestBed()
  const source = await addSource(ctx, { kbId, status: 'failed' })
  const refusal = (caller: typeof app, id: string) =>
    ingestDocument(ctx, caller, id).catch((error) => (error instanceof GanglionError ? error.code : error))
  const { id: tenantId } = await ctx.tenants.ensure('globex', new Date())
  expect(await refusal({ ...app, tenantId }, source.id)).toBe('not_found')
  expect(await refusal(app, '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70')).toBe('not_found')
  expect(await refusal(app, '../x')).toBe('not_found')
  await ctx.sources.archive(app.tenantId, source.id, new Date())
  expect(await refusal(app, source.id)).toBe('not_found')
  const { seqId = '' } = await submitCandidate(ctx, app, candidate({ confidence: 1 }), {})
  const kb = await ctx.kb(app.tenantId, 'handbook')
  const documentId = kb.projection.read.get`SELECT document_id AS id FROM neurons WHERE seq_id = ${seqId}`?.id
  expect(await refusal(app, String(documentId))).toBe('not_a_source')
})

test('an archived Source is not ingested, whenever that happens', async () => {
  const { ctx, kbId, app } = await newTestBed()
  const { seen, steps: given } = watched(ctx)
  const archive = (source: Source) => ctx.sources.archive(app.tenantId, source.id, new Date())
  const before = await addSource(ctx, { kbId })
  await archive(before)
  const during = await addSource(ctx, { kbId, status: 'pending' })
  await ingest(ctx, {
    ...given,
    async extract(source, context) {
      await archive(source)
      return given.extract(source, context)
    },
  })
  await eventually(async () => expect(await ctx.jobs.nextDue('nobody')).toBeUndefined())
  expect(seen).toEqual(['extract pending'])
  expect([(await statusOf(ctx, before)).status, (await statusOf(ctx, during)).status]).toEqual(['ready', 'pending'])
})

test.each(['extract', 'compile', 'commit'] as const)(
  'a stop in the middle of %s is taken up by the next start',
  async (step) => {
    const bed = await newTestBed()
    const { ctx, kbId } = bed
    const source = await addSource(ctx, { kbId, status: 'pending' })
    const reached = Promise.withResolvers<void>()
    const stuck = (_: unknown, second: unknown, third?: unknown): Promise<never> => {
      reached.resolve()
      const { signal } = (third ?? second) as { signal: AbortSignal }
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    }
    const stop = await ingest(ctx, steps({ [step]: stuck }))
    await reached.promise
    await stop()
    const again = await bed.reopen()
    onTestFinished(() => again.close())
    const stopAgain = await ingest(again, steps())
    await becomes(again, source, 'success')
    await stopAgain()
    const kinds = (await eventsOf(again, source)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'ingest.started')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'ingest.completed')).toHaveLength(1)
  },
)

test('a Source whose job was lost gets another at the next start', async () => {
  const { ctx, kbId } = await newTestBed()
  const sources = [
    await addSource(ctx, { kbId, status: 'pending' }),
    await addSource(ctx, { kbId, status: 'ready' }),
    await addSource(ctx, { kbId, status: 'processing' }),
  ]
  for (const { id } of sources) await ctx.jobs.cancel(id)
  await ingest(ctx, steps())
  for (const source of sources) await becomes(ctx, source, 'success')
})

test('a Source that ends the server again and again fails at last', async () => {
  const { ctx, kbId } = await newTestBed()
  const source = await addSource(ctx, { kbId })
  for (let n = 0; n < 10; n++) {
    await ctx.jobs.claim('dead', { now: new Date(), leaseMs: 1_000 })
    await ctx.jobs.recover()
  }
  const extract = vi.fn(steps().extract)
  await ingest(ctx, steps({ extract }))
  await becomes(ctx, source, 'failed')
  expect(extract).not.toHaveBeenCalled()
  expect(await statusOf(ctx, source)).toMatchObject({
    errorMessage: 'The server ended 10 times while it was being ingested.',
  })
})

test('progress is told at the begin of each stage, and then once a second', () => {
  let time = 0
  const told: string[] = []
  const progress = progressReporter(
    ({ stage, done, total }) => told.push(`${stage} ${done}/${total}`),
    () => time,
  )
  progress.show(1, 9)
  progress.begin('extracting')
  for (time = 0; time <= 2_500; time += 100) progress.show(time / 100, 25)
  progress.begin('compiling')
  progress.show(1, 2)
  expect(told).toEqual(['extracting 0/0', 'extracting 10/25', 'extracting 20/25', 'compiling 0/0'])
})
