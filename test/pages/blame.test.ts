import { expect, test } from 'vitest'
import { readBlame } from '../../src/pages/blame/read-blame.ts'
import { readHistory } from '../../src/pages/read-history.ts'
import { createApiKey } from '../../src/people/manage-api-keys.ts'
import { approveCandidate } from '../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { CompiledPage } from '../../src/sources/compile/compiled.ts'
import { commitSource } from '../../src/sources/ingest/commit-source.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'

const seqId = 'handbook_00000001'

test('each sentence is of who said it, through editions of its Source, edits, edits in review, merges and renames', async () => {
  const { ctx, kbId, gitDir, curator, reader, app } = await newTestBed()
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const writer = new NativeWriter(gitDir)
  const settings = writer.read('refs/heads/main', 'kb.yaml')
  writer.commit(
    'refs/heads/main',
    new Map([['kb.yaml', settings.replace('rewriteLinks: false', 'rewriteLinks: true')]]),
  )
  await kb.sync()
  const [first, second] = [
    await addSource(ctx, { kbId, filename: 'a.pdf' }),
    await addSource(ctx, { kbId, filename: 'b.pdf' }),
  ]
  const edition = (id: string, filename: string, page: number, content: string) => {
    const source = {
      id,
      filename,
      sha256: 'ab'.repeat(32),
      editionOf: first.id,
      sourceUrl: null,
      isWanted: async () => true,
    }
    const compiled: CompiledPage = {
      ...{
        key: 'summary',
        kind: 'summary',
        title: 'Care',
        content,
        tags: [],
        place: { pages: [page, page] },
        model: 'm-1',
      },
    }
    return commitSource(ctx, kb, source, [compiled])
  }
  const pendingOf = async () => {
    const rows = kb.projection.read.all`SELECT id FROM candidates WHERE status = 'pending'`
    return rows.map(({ id }) => String(id))
  }
  const approveAll = async () => {
    for (const id of await pendingOf()) await approveCandidate(ctx, curator, id, {})
  }
  await edition(first.id, 'a.pdf', 4, 'Wash hands. Wear gloves.\n\nBe kind.\n\nSee [[Ward]].\n')
  await approveAll()
  const ward = await submitCandidate(ctx, app, candidate({ title: 'Ward', content: 'The ward.' }))
  await approveCandidate(ctx, curator, ward.candidateId, {})
  const edited = 'Wash hands. Wear gloves.\n\nBe kind.\n\nSee [[Ward]].\n\nAsk the lead.\n'
  const sent = await submitCandidate(ctx, app, correction(seqId, edited, { title: 'Care' }))
  await approveCandidate(ctx, curator, sent.candidateId, { content: edited.replace('lead.', 'lead. Ada said so.') })
  await edition(second.id, 'b.pdf', 5, 'Wash hands. Wear masks.\n\nBe kind.\n\nSee [[Ward]].\n')
  await approveAll()
  const renaming = correction('handbook_00000002', 'The ward.', { title: 'Ward 2' })
  await approveCandidate(ctx, curator, (await submitCandidate(ctx, app, renaming)).candidateId, {})

  const { sentences, version, title } = await readBlame(ctx, curator, { kb: 'handbook', seqId })
  expect(title).toBe('Care')
  const told = sentences.map(({ text, version: at, proposedBy, approvedBy, model, sources }) => {
    return [text, at, proposedBy, approvedBy, model, sources?.map(({ filename, page }) => `${filename} ${page}`).join()]
  })
  expect(told).toEqual([
    ['Wash hands.', 1, 'Ingest', 'Ingest', 'm-1', 'a.pdf 4'],
    ['Wear masks.', 3, 'Ingest', 'The curator', 'm-1', 'b.pdf 5'],
    ['Be kind.', 1, 'Ingest', 'Ingest', 'm-1', 'a.pdf 4'],
    ['See [[handbook_00000002|Ward 2]].', 1, 'Ingest', 'Ingest', 'm-1', 'a.pdf 4'],
    ['Ask the lead.', 2, 'The app', 'The curator', null, undefined],
    ['Ada said so.', 2, 'The curator', 'The curator', null, undefined],
  ])
  const { versions } = await readHistory(ctx, curator, { kb: 'handbook', seqId, limit: 10 })
  expect(version).toBe(versions[0]?.version)
  for (const { version: at, commit } of sentences)
    expect(versions.find((one) => one.version === at)?.commit).toBe(commit)

  const shown = await readBlame(ctx, reader, { kb: 'handbook', seqId })
  expect(shown.sentences.map(({ text, version }) => [text, version])).toEqual(
    sentences.map(({ text, version }) => [text, version]),
  )
  expect(JSON.stringify(shown)).not.toMatch(/proposedBy|connector|model|The app/)
})

test('curators read who made the key that proposed a sentence', async () => {
  const { ctx, curator } = await newTestBed()
  const ann = await ctx.users.create({ email: 'ann@example.com', name: 'Ann', passwordHash: '' }, ctx.now())
  const by = { id: `user:${ann?.id}`, name: 'Ann', tenantId: curator.tenantId }
  const input = { name: 'bot', role: 'app', connectors: [], expiresAt: null } as const
  const { key } = await createApiKey(ctx, { ...by, isAdmin: true }, { ...input, connectors: [] })
  const sender = { ...curator, id: `key:${key.id}`, name: 'bot', role: 'app' } as const
  const { candidateId } = await submitCandidate(ctx, sender, candidate({ content: 'Wash hands.' }))
  const { seqId } = Object(await approveCandidate(ctx, curator, candidateId, {}))
  const { sentences } = await readBlame(ctx, curator, { kb: 'handbook', seqId })
  expect(sentences).toMatchObject([{ text: 'Wash hands.', proposedBy: 'Ann (bot)' }])
})

test('a page that the caller may not see has no blame, and a version that was hidden says nothing', async () => {
  const { ctx, curator, reader, app } = await newTestBed()
  const take = async (input: Parameters<typeof submitCandidate>[2], edit = {}) =>
    approveCandidate(ctx, curator, (await submitCandidate(ctx, app, input)).candidateId, edit)
  const metadata = (more: object) => JSON.stringify({ targetNeuron: seqId, replaceTags: true, ...more })
  await take(candidate({ content: 'First. Hidden.', metadata: JSON.stringify({ tags: ['internal'] }) }))
  await expect(readBlame(ctx, reader, { kb: 'handbook', seqId })).rejects.toMatchObject({ code: 'not_found' })
  await take(correction(seqId, 'First. Shown.', { metadata: metadata({ tags: ['open'] }) }))
  const { sentences } = await readBlame(ctx, reader, { kb: 'handbook', seqId })
  expect(sentences.map(({ text, version }) => [text, version])).toEqual([
    ['First.', 2],
    ['Shown.', 2],
  ])
  expect((await readBlame(ctx, curator, { kb: 'handbook', seqId })).sentences[0]?.version).toBe(1)
  await expect(readBlame(ctx, curator, { kb: 'handbook', seqId: 'handbook_00000009' })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('a page of very many sentences is explained in parts, which are together what one answer would hold', async () => {
  const { ctx, app, reader } = await newTestBed()
  const lines = Array.from({ length: 6_000 }, (_, at) => `Line ${at} [^${at}]\n\n[^${at}]: b`)
  const made = await submitCandidate(ctx, app, candidate({ title: 'Long', content: lines.join('\n'), confidence: 1 }))
  const id = made.seqId ?? expect.unreachable('It is approved.')
  const texts: string[] = []
  let parts = 0
  for (let start: number | undefined = 0; start !== undefined; parts++) {
    const part = await readBlame(ctx, reader, { kb: 'handbook', seqId: id, start })
    expect(Buffer.byteLength(JSON.stringify(part.sentences))).toBeLessThanOrEqual(
      1024 * 1024 + part.sentences.length + 1,
    )
    texts.push(...part.sentences.map(({ text }) => text))
    start = part.nextStart
  }
  expect(parts).toBeGreaterThan(2)
  expect(texts).toEqual(lines.flatMap((line) => line.split('\n\n')))
})
