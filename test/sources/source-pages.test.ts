import { expect, test } from 'vitest'
import type { Caller } from '../../src/rules/access/caller.ts'
import { describeUploads } from '../../src/sources/describe-uploads.ts'
import { ingestSteps } from '../../src/sources/ingest/ingest-steps.ts'
import { sourceTexts } from '../../src/sources/ingest/source-texts.ts'
import {
  listSources,
  readPlacedNeurons,
  readSource,
  readSourceOutcome,
  type SourceSearch,
} from '../../src/sources/read-source.ts'
import { readSourceText } from '../../src/sources/read-source-text.ts'
import { beginUpload, finalizeUpload, listOpenUploads, receiveChunk } from '../../src/sources/receive/chunked-upload.ts'
import { addSource, ingest } from '../kb/support/ingest-support.ts'
import { newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { eventually } from '../support/eventually.ts'

const notFound = expect.objectContaining({ code: 'not_found' })
const asked = { force: false, replace: false }

async function names({ ctx, curator }: TestBed, query: Partial<SourceSearch>, as = curator): Promise<string[]> {
  const { documents } = await listSources(ctx, as, 'handbook', { limit: 50, ...query })
  return documents.map(({ filename }) => filename)
}

test('Sources are found by status, folder, type and a part of their name', async () => {
  const bed = await newTestBed()
  const { ctx, kbId } = bed
  await addSource(ctx, { kbId, filename: 'a.md', path: '/hr' })
  await addSource(ctx, { kbId, filename: '100%_ÄRGER.pdf', path: '/hr/2026', fileType: 'pdf', status: 'failed' })
  await addSource(ctx, { kbId, filename: 'c.md', path: '/hrx', status: 'pending' })
  expect(await names(bed, {})).toEqual(['c.md', '100%_ÄRGER.pdf', 'a.md'])
  expect(await names(bed, { statuses: ['pending', 'ready'] })).toEqual(['c.md', 'a.md'])
  expect(await names(bed, { folder: '/hr' })).toEqual(['100%_ÄRGER.pdf', 'a.md'])
  expect(await names(bed, { folder: '/' })).toHaveLength(3)
  expect(await names(bed, { fileType: 'pdf' })).toEqual(['100%_ÄRGER.pdf'])
  for (const text of ['ärger', 'ÄRGER', '0%_', 'PDF']) expect(await names(bed, { text })).toEqual(['100%_ÄRGER.pdf'])
  expect(await names(bed, { text: '%%' })).toEqual([])
})

test('a reader is told of no Source that is internal: not in lists, however they are paged, and not by its id', async () => {
  const bed = await newTestBed()
  const { ctx, kbId, reader, curator } = bed
  const tags = ['internal', null, 'internal/hr', 'policy', 'internal', 'internal', null]
  const read = { kbId, fileType: 'csv' }
  for (const [at, tag] of tags.entries()) await addSource(ctx, { ...read, filename: `${at}.md`, tags: tag })
  expect(await names(bed, {}, reader)).toEqual(['6.md', '3.md', '1.md'])
  const first = await listSources(ctx, reader, 'handbook', { limit: 2 })
  expect(first.documents.map(({ filename }) => filename)).toEqual(['6.md', '3.md'])
  expect(await names(bed, { limit: 2, ...(first.nextCursor && { cursor: first.nextCursor }) }, reader)).toEqual([
    '1.md',
  ])
  const { documents } = await listSources(ctx, curator, 'handbook', { limit: 1, text: '5' })
  const hidden = documents[0]?.id ?? ''
  await expect(readSource(ctx, reader, hidden)).rejects.toEqual(notFound)
  await expect(readSourceText(ctx, reader, hidden, {})).rejects.toEqual(notFound)
  await expect(readSourceOutcome(ctx, reader, hidden)).rejects.toEqual(notFound)
})

test('only curators are told which folders there are', async () => {
  const { ctx, kbId, curator, reader } = await newTestBed()
  for (const path of ['/b', '/a', '/b']) await addSource(ctx, { kbId, path })
  expect((await describeUploads(ctx, curator, 'handbook')).folders).toEqual(['/a', '/b'])
  const shelf = await describeUploads(ctx, reader, 'handbook')
  expect(shelf.folders).toEqual([])
  expect(shelf.fileTypes).toContain('pdf')
})

test('the text of a Source is given by part or by place, to readers without the comments of a note', async () => {
  const { ctx, kbId, curator, reader } = await newTestBed()
  const source = await addSource(ctx, { kbId })
  expect(await readSourceText(ctx, curator, source.id, {})).toBeUndefined()
  const markdown = `first %%secret%% page\n${'x'.repeat(20_000)}\nsecond page\n${'y'.repeat(20_000)}\n`
  const anchors = [
    { line: 1, page: 1 },
    { line: 3, page: 2 },
  ]
  await sourceTexts(ctx).keep(source, { title: undefined, markdown, anchors, warnings: [] })
  await ctx.sources.change(source.id, ['ready'], { extractedAt: new Date().toISOString() })
  const first = await readSourceText(ctx, curator, source.id, {})
  expect(first).toMatchObject({ part: 1, parts: 2, passages: [{ place: { page: 1 } }] })
  expect(first?.passages[0]?.text).toContain('secret')
  expect((await readSourceText(ctx, reader, source.id, {}))?.passages[0]?.text).not.toContain('secret')
  for (const place of [{ page: 2 }, { part: 2 }, { part: 99 }]) {
    expect(await readSourceText(ctx, curator, source.id, place)).toMatchObject({
      part: 2,
      passages: [{ place: { page: 2 } }],
    })
  }
})

test('a Source whose text may hide it is there for its uploader and curators alone until it is read', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  const other = { ...app, id: 'key:other' }
  const { id } = await addSource(ctx, { kbId: bed.kbId, filename: 'salaries of 2026.md' })
  const seen = (caller: Caller) => names(bed, {}, caller)
  expect(await Promise.all([app, curator, other].map(seen))).toEqual([...Array(2).fill(['salaries of 2026.md']), []])
  await expect(readSource(ctx, other, id)).rejects.toMatchObject({ code: 'not_found' })
  await ctx.sources.change(id, ['ready'], { extractedAt: ctx.now().toISOString() })
  expect(await readSource(ctx, other, id)).toMatchObject({ id })
})

test('a Source tells which Neurons were made of it, what waits, and its editions', async () => {
  const bed = await newTestBed()
  const { ctx, kbId, curator, reader } = bed
  const source = await addSource(ctx, { kbId, fileType: 'csv' })
  const extracted = {
    title: 'Note',
    markdown: '# Paging\n\nThe lead is paged within ten minutes.\n',
    anchors: [{ line: 1, page: 4 }],
    warnings: [],
  }
  await ingest(ctx, { ...ingestSteps(ctx), extract: async () => extracted })
  await eventually(async () => expect((await ctx.sources.get(source.id))?.status).toBe('success'))
  const before = await readSourceOutcome(ctx, curator, source.id)
  expect(before.editions).toMatchObject([{ id: source.id, archivedAt: null, uploader: 'The app' }])
  const [waiting] = before.candidates
  const made = [...before.neurons.map(({ title }) => title), ...before.candidates.map(({ title }) => title)]
  expect(made.length).toBeGreaterThan(0)
  if (waiting !== undefined) await approveCandidate(ctx, curator, waiting.candidateId, {})
  const after = await readSourceOutcome(ctx, curator, source.id)
  expect(after.neuronCount).toBeGreaterThan(0)
  const [{ seqId = '' } = {}] = after.neurons
  expect(await readPlacedNeurons(ctx, curator, source.id)).toMatchObject([{ seqId, place: { page: '4' } }])
  const seen = await readSourceOutcome(ctx, reader, source.id)
  expect(seen).toMatchObject({ candidates: [], candidateCount: 0, editions: [], neuronCount: after.neuronCount })
})

test('the open uploads of a person are those that they began and did not finish', async () => {
  const { ctx, curator, app } = await newTestBed()
  const begin = (caller: typeof app, filename: string) =>
    beginUpload(ctx, caller, 'handbook', { filename, fileSize: 4, path: '/', metadata: null }, asked)
  const { uploadId } = await begin(curator, 'mine.md')
  const done = await begin(curator, 'done.md')
  await begin(app, 'theirs.md')
  const bytes = async function* () {
    yield Buffer.from('text')
  }
  await receiveChunk(ctx, curator, uploadId, { first: 0, last: 3, total: 4 }, bytes())
  await receiveChunk(ctx, curator, done.uploadId, { first: 0, last: 3, total: 4 }, bytes())
  await finalizeUpload(ctx, curator, done.uploadId, asked)
  expect(await listOpenUploads(ctx, curator, 'handbook')).toMatchObject([
    { uploadId, filename: 'mine.md', fileSize: 4, bytesReceived: 4, status: 'open' },
  ])
})
