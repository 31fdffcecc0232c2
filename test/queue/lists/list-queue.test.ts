import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { CandidateInput } from '../../../src/contract/candidates.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { projectionFile } from '../../../src/kb/projection/projection.ts'
import { rebuild } from '../../../src/operate/rebuild.ts'
import { approveCandidate, dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { listCandidates } from '../../../src/queue/lists/list-candidates.ts'
import { listQueue, type QueueQuery } from '../../../src/queue/lists/list-queue.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { candidate, correction, newTestBed } from '../../kb/support/test-bed.ts'

async function newQueue() {
  const bed = await newTestBed()
  const { curator } = bed
  let { ctx } = bed
  const app = bed.caller('app', ['crm'])
  const list = (query: Partial<QueueQuery> = {}) => listQueue(ctx, curator, { status: 'pending', limit: 50, ...query })
  return {
    ...bed,
    submit: async (changes: Partial<CandidateInput> = {}) =>
      (await submitCandidate(ctx, app, candidate(changes))).candidateId,
    list,
    titles: async (query: Partial<QueueQuery> = {}) => (await list(query)).entries.map(({ title }) => title),
    dismiss: (id: string) => dismissCandidate(ctx, curator, id, {}),
    restart: async () => {
      ctx = await bed.reopen()
      return ctx
    },
  }
}

test('the queue is filtered by zone, kind, connector, tag, words and status, alone and together', async () => {
  const { submit, titles, dismiss } = await newQueue()
  const meta = (data: object) => ({ metadata: JSON.stringify(data) })
  await submit({ title: 'Plain', content: 'Nothing special.' })
  await submit({ title: 'Red alarm', ...meta({ actionZone: 'red', tags: ['Ops', 'urgent'] }) })
  await submit({
    title: 'Yellow note',
    kind: 'chat-answer',
    ...meta({ actionZone: 'yellow', connector: 'crm', tags: ['ops'] }),
  })
  await dismiss(await submit({ title: 'Gone alarm' }))

  expect(await titles()).toEqual(['Red alarm', 'Plain', 'Yellow note'])
  expect(await titles({ zone: 'red' })).toEqual(['Red alarm'])
  expect(await titles({ zone: 'none' })).toEqual(['Plain'])
  expect(await titles({ kind: 'chat-answer' })).toEqual(['Yellow note'])
  expect(await titles({ connector: 'crm' })).toEqual(['Yellow note'])
  expect(await titles({ tag: '#OPS' })).toEqual(['Red alarm', 'Yellow note'])
  expect(await titles({ tag: 'ops', zone: 'yellow' })).toEqual(['Yellow note'])
  expect(await titles({ text: 'alarm' })).toEqual(['Red alarm'])
  expect(await titles({ text: 'alarm', status: undefined })).toEqual(['Red alarm', 'Gone alarm'])
  expect(await titles({ status: 'dismissed' })).toEqual(['Gone alarm'])
})

test.each([
  ['special', ['Łódź tram']],
  ['SPEC', ['Łódź tram']],
  ['lodz tramway', []],
  ['lodz tra', ['Łódź tram']],
  ['t', []],
  ['a', ['Łódź tram']],
  ['日', ['日本の電車']],
  ['" OR *', ['Łódź tram']],
  ['"""', []],
  ['🚋', []],
  ['אוטובוס', ['אוֹטוֹבּוּס']],
])('the words %j find %j, by the beginning of each word, in the title or the content', async (text, found) => {
  const { submit, titles } = await newQueue()
  await submit({ title: 'Łódź tram', content: 'A special or other line.' })
  await submit({ title: '日本の電車', content: 'x' })
  await submit({ title: 'אוֹטוֹבּוּס', content: 'x' })
  expect(await titles({ text })).toEqual(found)
})

test('words beyond the beginning of a long content are not matched, and a huge content is no burden', async () => {
  const { submit, titles } = await newQueue()
  await submit({ title: 'Long', content: `early ${'filler '.repeat(70_000)} late` })
  expect(await titles({ text: 'early' })).toEqual(['Long'])
  expect(await titles({ text: 'late' })).toEqual([])
})

test('pages lead forth and back over the same candidates, also where one of them is decided meanwhile', async () => {
  const { submit, list, titles, dismiss } = await newQueue()
  const ids: string[] = []
  for (let n = 0; n < 7; n++) ids.push(await submit({ title: `Number ${n}`, impactEstimate: 10 - n }))
  const first = await list({ limit: 3 })
  expect(first.entries.map(({ title }) => title)).toEqual(['Number 0', 'Number 1', 'Number 2'])
  expect(first.previous).toBeNull()
  const second = await list({ limit: 3, after: first.next ?? '' })
  expect(second.entries.map(({ title }) => title)).toEqual(['Number 3', 'Number 4', 'Number 5'])
  await dismiss(ids[3] ?? '')
  const third = await list({ limit: 3, after: second.next ?? '' })
  expect(third.entries.map(({ title }) => title)).toEqual(['Number 6'])
  expect(third.next).toBeNull()
  expect(await titles({ limit: 3, before: third.previous ?? '' })).toEqual(['Number 2', 'Number 4', 'Number 5'])
  await expect(list({ before: 'nonsense' })).rejects.toMatchObject({ fieldErrors: { before: [expect.any(String)] } })
})

test('counts tell what each zone and each status holds of the same filter, over all knowledge bases', async () => {
  const { ctx, submit, list, dismiss } = await newQueue()
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'second' })
  const red = { metadata: '{"actionZone":"red"}' }
  await submit({ title: 'One alarm', ...red })
  await submit({ title: 'Two alarms', ...red, knowledgeBaseId: 'second' })
  await submit({ title: 'Quiet' })
  await dismiss(await submit({ title: 'Old alarm' }))
  const { counts, knowledgeBases, connectors } = await list({ zone: 'red' })
  expect(counts.status).toEqual({ pending: 2, approved: 0, dismissed: 0 })
  expect(counts.zone).toEqual({ red: 2, yellow: 0, green: 0, none: 1 })
  expect((await list({ text: 'alarm' })).counts.status).toEqual({ pending: 2, approved: 0, dismissed: 1 })
  expect((await list({ kb: 'second' })).counts.status.pending).toBe(1)
  expect(knowledgeBases.map(({ slug }) => slug)).toEqual(['handbook', 'second'])
  expect(connectors).toEqual(['api'])
})

test('the queue of one knowledge base names the others, and opens none of them', async () => {
  const bed = await newQueue()
  await createKnowledgeBase(bed.ctx, { tenant: 'acme', slug: 'second' })
  const ctx = await bed.restart()
  const { knowledgeBases } = await bed.list({ kb: 'handbook' })
  expect(knowledgeBases.map(({ slug }) => slug)).toEqual(['handbook', 'second'])
  expect((await ctx.kbs.all()).map(({ identity }) => identity.slug)).toEqual(['handbook'])
})

test('a row says what it changes, what the policy said, and what is to be known', async () => {
  const { submit, list } = await newQueue()
  await submit({ confidence: 1 })
  await submit(correction('handbook_00000001', 'New.', { title: 'Correction', confidence: 0.3 }))
  await submit(correction('handbook_00000099', 'New.', { title: 'Lost', confidence: 1 }))
  const [change, lost] = (await list()).entries
  expect(change).toMatchObject({
    intent: { does: 'change', seqId: 'handbook_00000001', title: 'VIP escalation policy' },
    reason: 'confidence 0.3 is below every threshold',
    kb: 'handbook',
    createdBy: 'The app',
  })
  expect(lost).toMatchObject({
    intent: { does: 'change', seqId: 'handbook_00000099', title: undefined },
    warnings: ['The target handbook_00000099 does not exist.'],
  })
})

test('a rebuild filters the queue as before, also by words and tags, of candidates that were revised', async () => {
  const { submit, list, titles, dismiss, restart } = await newQueue()
  for (let n = 0; n < 5; n++) {
    await submit({ title: `Tram ${n}`, content: `Line ${n} runs.`, metadata: JSON.stringify({ tags: [`t${n % 2}`] }) })
  }
  await dismiss((await list()).entries[0]?.id ?? '')
  const answers = async () => [
    await list(),
    await titles({ text: 'tram run' }),
    await titles({ text: '3' }),
    await titles({ tag: 't0' }),
    await titles({ status: 'dismissed', text: 'line' }),
  ]
  const before = await answers()
  const ctx = await restart()
  await rebuild(ctx, await ctx.knowledgeBases.list())
  expect(await answers()).toEqual(before)
})

test('the queues of the others are listed where a knowledge base is damaged', async () => {
  const { ctx, curator, submit, list } = await newQueue()
  await submit({ title: 'Kept' })
  const { gitDir } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'damaged' })
  writeFileSync(join(gitDir, 'refs/heads/main'), '')
  expect(await list()).toMatchObject({ entries: [{ title: 'Kept' }], unavailable: ['damaged'] })
  expect(await listCandidates(ctx, curator, { limit: 5 })).toMatchObject({
    candidates: [{ title: 'Kept' }],
    unavailable: ['damaged'],
  })
  await expect(listCandidates(ctx, curator, { kb: 'damaged', limit: 5 })).rejects.toThrow(/is empty/)
})

test('a key makes no bundle that says what its candidates do, whatever they claim', async () => {
  const { ctx, app, curator } = await newTestBed({ now: () => new Date('2026-03-04T12:00:00Z') })
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  for (const title of ['One', 'Two']) {
    const page = await submitCandidate(ctx, app, candidate({ title, content: `Text of ${title}.` }))
    const { seqId = '' } = Object(await approveCandidate(ctx, curator, page.candidateId, {}))
    const { blob } = kb.projection.read.get`SELECT blob FROM neurons WHERE seq_id = ${seqId}` ?? {}
    const claimed = { connector: 'console', fingerprint: `neurons/archive/${title}.md ${blob}`, targetNeuron: seqId }
    await submitCandidate(ctx, app, correction(seqId, 'Other.', { title, metadata: JSON.stringify(claimed) }))
  }
  const { entries } = await listQueue(ctx, curator, { kb: 'handbook', status: 'pending', bundles: true, limit: 50 })
  expect(entries.map(({ bundle }) => bundle)).toEqual([undefined, undefined])
})

test('each zone is counted whole up to 10,000, however many the others have', async () => {
  const { ctx, kbId, submit, list } = await newQueue()
  const id = await submit({ metadata: JSON.stringify({ actionZone: 'red' }) })
  const db = new DatabaseSync(join(ctx.directory.index(kbId), projectionFile))
  const columns = db
    .prepare("SELECT name FROM pragma_table_info('candidates')")
    .all()
    .map(({ name }) => String(name))
  const copied = columns.map((name) => (name === 'id' ? "id || '-' || n" : name === 'zone' ? '$zone' : name))
  const copy = db.prepare(`INSERT INTO candidates SELECT ${copied} FROM candidates,
    (WITH RECURSIVE c (n) AS (SELECT $from UNION ALL SELECT n + 1 FROM c WHERE n < $to) SELECT n FROM c) WHERE id = $id`)
  copy.run({ id, zone: null, from: 1, to: 12_000 })
  copy.run({ id, zone: 'yellow', from: 12_001, to: 21_000 })
  copy.run({ id, zone: 'green', from: 21_001, to: 21_003 })
  expect((await list({ limit: 1 })).counts.zone).toEqual({ red: 1, yellow: 9_000, green: 3, none: 10_001 })
  expect((await list({ limit: 1, zone: 'green' })).counts.zone.yellow).toBe(9_000)
  expect((await list({ limit: 1, zone: 'green' })).counts.status.pending).toBe(3)
  const plan = db.prepare("EXPLAIN QUERY PLAN SELECT 1 FROM candidates WHERE status = 'pending' AND zone IS NULL").all()
  db.close()
  expect(plan[0]?.detail).toContain('COVERING INDEX candidates_by_zone (status=? AND zone=?)')
})
