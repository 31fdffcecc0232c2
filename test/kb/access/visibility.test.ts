import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SourceAnswer } from '../../../src/contract/documents.ts'
import type { CandidateKind } from '../../../src/contract/vocabulary.ts'
import { readEvents } from '../../../src/events/read-events.ts'
import { readCandidate } from '../../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import { commitSource } from '../../../src/sources/ingest/commit-source.ts'
import { ingestDocument } from '../../../src/sources/ingest/ingest-document.ts'
import { ingestSteps, linkableNames } from '../../../src/sources/ingest/ingest-steps.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { beginUpload } from '../../../src/sources/receive/chunked-upload.ts'
import { type FormPart, uploadSource } from '../../../src/sources/receive/upload-source.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { ingest } from '../support/ingest-support.ts'
import { candidate, correction, newTestBed, type TestBed } from '../support/test-bed.ts'
import { neuronText, seq, writtenBed } from '../support/written-neurons.ts'

const other: Partial<Caller> = { id: 'key:another-key', name: 'Another app' }

type Upload = { filename?: string; path?: string; tags?: string[]; text?: string; force?: boolean; replace?: boolean }

function upload({ ctx }: TestBed, caller: Caller, options: Upload = {}): Promise<SourceAnswer> {
  const { filename = 'plan.md', path = '/', tags = [], text = '# Plan\n', force = false, replace = false } = options
  async function* bytes() {
    yield Buffer.from(text)
  }
  async function* form(): AsyncGenerator<FormPart> {
    yield { name: 'path', value: path }
    yield { name: 'metadata', value: JSON.stringify({ tags }) }
    yield { name: 'file', filename, bytes: bytes() }
  }
  return uploadSource(ctx, caller, 'handbook', form(), { force, replace })
}

describe('a Source that a key may not see', () => {
  test('is no duplicate, not even in an upload in chunks', async () => {
    const bed = await newTestBed()
    const { ctx, app, curator } = bed
    await upload(bed, curator, { tags: ['internal'] })
    const { contentHash } = await upload(bed, app, { filename: 'mine.md' })
    const input = { filename: 'x.md', fileSize: 7, path: '/', metadata: null, contentHash }
    const begin = (caller: Caller) => beginUpload(ctx, caller, 'handbook', input, { force: false, replace: false })
    const duplicate = { code: 'duplicate_source' }
    await expect(upload(bed, app)).rejects.toMatchObject({ ...duplicate, details: { existingFilename: 'mine.md' } })
    await expect(begin(curator)).rejects.toMatchObject({ ...duplicate, details: { existingFilename: 'plan.md' } })
    await expect(begin(app)).rejects.toMatchObject({ ...duplicate, details: { existingFilename: 'mine.md' } })
    await upload(bed, curator, { tags: ['internal'], text: '# Secret\n', filename: 'secret.md' })
    const { contentHash: secret = '' } =
      (await ctx.sources.all(bed.kbId)).find(({ filename }) => filename === 'secret.md') ?? {}
    const unknown = beginUpload(
      ctx,
      app,
      'handbook',
      { ...input, contentHash: secret },
      { force: false, replace: false },
    )
    await expect(unknown).resolves.toHaveProperty('uploadId')
  })

  test('is not replaced: an upload at its place is a Source of its own', async () => {
    const bed = await newTestBed()
    const { ctx, app, curator } = bed
    const hidden = await upload(bed, curator, { tags: ['internal'] })
    const added = await upload(bed, app, { text: '# Taken over\n', replace: true })
    const editions = (await ctx.sources.all(bed.kbId)).map(({ id, editionOf }) => [id, editionOf])
    expect(editions).toEqual([
      [hidden.id, hidden.id],
      [added.id, added.id],
    ])
    // Also where the edition that is hidden is not ingested yet, and the one before it is still there.
    const open = await upload(bed, curator, { text: 'v1', filename: 'open.md' })
    await upload(bed, curator, { text: 'v2', filename: 'open.md', tags: ['internal'], replace: true })
    const third = await upload(bed, app, { text: 'v3', filename: 'open.md', replace: true })
    expect(await ctx.sources.get(third.id)).toMatchObject({ editionOf: third.id })
    expect(third.id).not.toBe(open.id)
  })

  test('stays internal in its next edition, and comes first where another stands beside it', async () => {
    const bed = await newTestBed()
    const { ctx, app, curator } = bed
    const hidden = await upload(bed, curator, { tags: ['hr', 'internal/hr'] })
    await upload(bed, app, { text: '# Beside it\n' })
    const next = await upload(bed, curator, { text: '# Plan 2\n', tags: ['plans'], replace: true })
    expect(await ctx.sources.get(next.id)).toMatchObject({ editionOf: hidden.id, tags: 'plans,internal/hr' })
  })

  test('cannot be ingested again, no more than one that is not there', async () => {
    const bed = await newTestBed()
    const { ctx, app, curator } = bed
    const { id } = await upload(bed, curator, { tags: ['internal'] })
    const mine = await upload(bed, app, { tags: ['internal'], text: 'mine' })
    for (const docId of [id, '0199a5c1-0000-7000-8000-00000000000a']) {
      await expect(ingestDocument(ctx, app, docId)).rejects.toMatchObject({ code: 'not_found', details: {} })
    }
    // A key knows what it has uploaded itself.
    expect(await ingestDocument(ctx, app, mine.id)).toMatchObject({ ok: true })
    await expect(ingestDocument(ctx, { ...app, ...other }, mine.id)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('is not named by a Neuron that was made of it', async () => {
    const bed = await writtenBed()
    const hidden = await upload(bed, bed.curator, { tags: ['internal'], filename: 'secret.md' })
    const open = await upload(bed, bed.curator, { text: 'open', filename: 'open.md' })
    const sources = [hidden, open].map(({ id, filename }) => `  - { id: ${id}, filename: ${filename} }\n`)
    bed.write({ 'a.md': neuronText(1, { title: 'A' }).replace(/---\n$/, `sources:\n${sources.join('')}---\n`) })
    expect((await bed.read(1))?.sources).toHaveLength(2)
    expect((await bed.read(1, bed.app))?.sources).toEqual([{ id: open.id, filename: 'open.md' }])
  })

  test('lends its text to no other Source of the same bytes', async () => {
    const bed = await newTestBed()
    const hidden = await upload(bed, bed.curator, { tags: ['internal'] })
    const open = await upload(bed, bed.app)
    const texts = sourceTexts(bed.ctx)
    await texts.keep(hidden, { title: undefined, markdown: 'x', anchors: [], warnings: [] })
    expect(await texts.find(hidden)).toBeDefined()
    expect(await texts.find(open)).toBeUndefined()
  })
})

describe('a Neuron that a key may not see', () => {
  test('is no target: a correction gets the same answer as for one that is not there', async () => {
    const { ctx, kbId, app, curator } = await writtenBed({
      'hidden.md': neuronText(1, { title: 'Hidden', tags: ['internal'] }, 'The secret.\n'),
    })
    const submit = (target: string, kind: CandidateKind) =>
      submitCandidate(
        ctx,
        app,
        correction(target, `${target}, ${kind}.`, { confidence: 0.95, title: `${kind} ${target}`, kind }),
      )
    const answers = []
    for (const target of [seq(1), seq(77)]) {
      for (const kind of ['user-correction', 'ingest-page-update', 'external-feed'] as const) {
        const answer = await submit(target, kind)
        answers.push(answer)
        const { candidateId, queueUrl } = answer
        const message = `You see no Neuron ${target}: a curator has to decide.`
        const warnings = [{ code: 'target_not_found', message }]
        expect(answer).toEqual({ candidateId, queueUrl, status: 'pending', kbId, warnings })
      }
    }
    const [first] = answers
    // A curator may still take it, and is told.
    const told = await readCandidate(ctx, curator, first?.candidateId ?? '')
    expect(told).toMatchObject({ target: seq(1), warnings: [expect.stringMatching(/may not see/)] })
    const approval = await approveCandidate(ctx, curator, first?.candidateId ?? '', {})
    expect(approval).toMatchObject({ seqId: seq(1) })
  })

  test('is not a document that says so when it is to be ingested', async () => {
    const id = '0199a5c1-0000-7000-8000-00000000000b'
    const page = (tags: string[]) => neuronText(1, { title: 'A', tags }).replace('---\n', `---\nid: ${id}\n`)
    const bed = await writtenBed({ 'a.md': page([]) })
    await expect(ingestDocument(bed.ctx, bed.app, id)).rejects.toMatchObject({ code: 'not_a_source' })
    bed.write({ 'a.md': page(['internal']) })
    await expect(ingestDocument(bed.ctx, bed.app, id)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('does not show in the path of a new one', async () => {
    const bed = await newTestBed()
    const { ctx, app } = bed
    const paths = []
    for (const metadata of [{ tags: ['internal'] }, {}, { path: 'plans/x.md' }, { path: `plans/${'ü'.repeat(120)}` }]) {
      const input = candidate({
        ...{ title: 'Plan', content: `Text ${paths.length}.`, confidence: 0.95 },
        metadata: JSON.stringify(metadata),
      })
      const { candidateId } = await submitCandidate(ctx, app, input)
      const [path = ''] = (await ctx.kb(app.tenantId, 'handbook')).projection.read.all`SELECT path FROM neurons
        WHERE candidate_id = ${candidateId}`.map((row) => String(row.path))
      expect(path).toMatch(new RegExp(`-${candidateId.slice(-6)}\\.md$`))
      expect(Buffer.byteLength(basename(path))).toBeLessThanOrEqual(255)
      paths.push(path.replace(/-[0-9a-f]{6}\.md$/, ''))
    }
    expect(paths[1]).toBe(paths[0])
    expect(paths[2]).toBe('neurons/plans/x')
  })

  test('is not linked to by the pages of a Source that others see', async () => {
    const bed = await writtenBed({
      'open.md': neuronText(1, { title: 'Open plan' }),
      'student.md': neuronText(2, { title: 'Student plan', audience: ['student'] }),
      'hidden.md': neuronText(3, { title: 'Hidden plan', tags: ['internal'] }),
    })
    const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
    const names = async (tags: string[]) => (await linkableNames(kb, 'none', { tags })).map(({ name }) => name)
    expect(await names([])).toEqual(['Open plan'])
    expect(await names(['internal'])).toEqual(['Open plan', 'Student plan', 'Hidden plan'])
  })

  test('does not show in what links to its files are called', async () => {
    const page = (number: number, title: string, more = {}) => neuronText(number, { title, ...more }, '![[plan.png]]\n')
    const bed = await writtenBed({ 'hidden.md': page(1, 'Hidden', { tags: ['internal'] }), 'plan.png': 'png' })
    const { app, curator, ctx } = bed
    const input = candidate({ content: '![[plan.png]] ![[other.png]]', confidence: 0.95 })
    await submitCandidate(ctx, app, input)
    const missing = (target: string) => expect.objectContaining({ target, reason: 'missing' })
    expect((await bed.read(2, app))?.unresolved).toEqual([missing('plan.png'), missing('other.png')])
    expect((await bed.read(2, curator))?.unresolved).toEqual([missing('other.png')])
    bed.write({ 'open.md': page(3, 'Open') })
    expect((await bed.read(3, app))?.unresolved).toEqual([])
  })

  test('once public, then hidden, then deleted, is not readable in its history', async () => {
    const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }, 'Once public.\n') })
    const publicAt = bed.native.git('rev-parse', 'refs/heads/main')
    expect(await bed.read(1, bed.app, publicAt)).toMatchObject({ content: 'Once public.' })
    bed.write({ 'a.md': neuronText(1, { title: 'A', audience: ['curator'] }, 'Hidden.\n') })
    expect(await bed.read(1, bed.app, publicAt)).toBeUndefined()
    bed.write({ 'a.md': null })
    expect(await bed.read(1, bed.app, publicAt)).toBeUndefined()
    expect(await bed.read(1, bed.curator, publicAt)).toMatchObject({ content: 'Once public.' })
  })

  test('is readable in its history where it was public when it was deleted, but for what was hidden then', async () => {
    const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A', tags: ['internal'] }, 'A draft.\n') })
    const draftAt = bed.native.git('rev-parse', 'refs/heads/main')
    bed.write({ 'a.md': neuronText(1, { title: 'A' }, 'Public.\n') })
    const publicAt = bed.native.git('rev-parse', 'refs/heads/main')
    bed.write({ 'a.md': null })
    expect(await bed.read(1, bed.app, publicAt)).toMatchObject({ content: 'Public.' })
    expect(await bed.read(1, bed.app, draftAt)).toBeUndefined()
  })
})

describe('without a curator', () => {
  const page = { key: 'part', kind: 'part', title: 'Part', place: {} } as const

  test('no ingest shows a Neuron to more readers', async () => {
    const bed = await newTestBed()
    const { ctx, curator } = bed
    const kb = await ctx.kb(curator.tenantId, 'handbook')
    const ids = { id: '0199a5c1-0000-7000-8000-00000000000a', editionOf: '0199a5c1-0000-7000-8000-00000000000a' }
    const source = { ...ids, filename: 'a.pdf', sha256: 'ab'.repeat(32), sourceUrl: null, isWanted: async () => true }
    const take = (content: string, tags: string[]) => commitSource(ctx, kb, source, [{ ...page, content, tags }])
    const [seqId = ''] = (await take('One.', ['internal'])).seqIds
    expect(await take('Two.', [])).toMatchObject({ updated: 0, pending: 1, seqIds: [seqId] })
    expect(await take('Two.', [])).toMatchObject({ updated: 0, pending: 1 })
    expect(await take('Three.', ['internal', 'more'])).toMatchObject({ updated: 1, pending: 0 })
    const read = kb.projection.read.get`SELECT tags FROM neurons WHERE seq_id = ${seqId}`
    expect(JSON.parse(String(read?.tags))).toContain('internal')
  })
})

test('the end of an ingest counts no Neuron that is hidden now, and no candidate for it', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  await upload(bed, app, { text: '# Plan\n\nOpen at nine.\n' })
  await ingest(ctx, ingestSteps(ctx))
  const told = async (caller: Caller) => {
    const { events } = await readEvents(ctx, caller, { lastEventId: 0 }, new AbortController().signal)
    const { value = [] } = await events.next()
    return value.filter(({ kind }) => kind === 'ingest.completed').map(({ neurons, pending }) => [neurons, pending])
  }
  await expect.poll(() => told(curator)).toEqual([[1, 0]])
  expect(await told(app)).toEqual([[1, 0]])
  const { candidateId } = await submitCandidate(ctx, curator, correction(seq(1), 'Open at nine.'))
  await approveCandidate(ctx, curator, candidateId, { tags: ['internal'] })
  expect(await told(app)).toEqual([[0, 0]])
  expect(await told(curator)).toEqual([[1, 0]])
  // A curator has edited it, so its next version waits.
  await upload(bed, app, { text: '# Plan\n\nOpen at ten.\n', replace: true })
  await expect
    .poll(() => told(curator))
    .toEqual([
      [1, 0],
      [1, 1],
    ])
  expect(await told(app)).toEqual([
    [0, 0],
    [0, 0],
  ])
})

test('a Source that is ingested links to no name that is hidden', async () => {
  const bed = await writtenBed({ 'hidden.md': neuronText(1, { title: 'Operation Falcon', tags: ['internal'] }) })
  const { ctx, app, curator } = bed
  await upload(bed, app, { text: '# Guess\n\nIs there an Operation Falcon?\n', filename: 'guess.md' })
  await ingest(ctx, ingestSteps(ctx))
  await expect.poll(async () => (await bed.read(2, curator))?.content).toMatch(/Operation Falcon/)
  expect((await bed.read(2, app))?.content).not.toMatch(/\[\[/)
})
