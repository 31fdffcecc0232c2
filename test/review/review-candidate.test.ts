import { expect, test } from 'vitest'
import type { CandidateInput } from '../../src/contract/candidates.ts'
import { parseNeuronFile } from '../../src/markdown/file/neuron-file.ts'
import { commentCandidate, dismissCandidate } from '../../src/queue/decide-candidate.ts'
import type { QueueView } from '../../src/queue/lists/list-queue.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { fieldChanges } from '../../src/review/field-changes.ts'
import { readOutcome, reviewCandidate } from '../../src/review/review-candidate.ts'
import { similarNeurons } from '../../src/review/similar-neurons.ts'
import type { CompiledPage } from '../../src/sources/compile/compiled.ts'
import { commitSource } from '../../src/sources/ingest/commit-source.ts'
import { sourceTexts } from '../../src/sources/ingest/source-texts.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

async function newReview() {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  return {
    ...bed,
    submit: async (changes: Partial<CandidateInput> = {}) =>
      (await submitCandidate(ctx, app, candidate(changes))).candidateId,
    correct: async (seqId: string, content: string, changes: Partial<CandidateInput> = {}) =>
      (await submitCandidate(ctx, app, correction(seqId, content, changes))).candidateId,
    approve: (id: string, edit: Parameters<typeof approveCandidate>[3] = {}) =>
      approveCandidate(ctx, curator, id, edit),
    review: (id: string, view: QueueView = { status: 'pending' }) => reviewCandidate(ctx, curator, id, view),
  }
}

test('a new page is shown as it would stand, with its fields and the links that it brings', async () => {
  const { submit, approve, review } = await newReview()
  const { seqId } = await approve(await submit({ title: 'On call', content: 'Who is on call.' }))
  const id = await submit({
    content: 'See [[On call]] and [[supersedes:Old policy]].',
    metadata: '{"tags":["policy"],"sourceUrl":"https://example.com/vip"}',
    confidence: 0.4,
  })
  const { sides, fields, links, entry, kb } = await review(id)
  expect(kb.slug).toBe('handbook')
  expect(sides.before).toBeUndefined()
  expect(sides.after?.content).toBe('See [[On call]] and [[supersedes:Old policy]].')
  expect(fields).toContainEqual({ name: 'tags', before: [], after: ['policy'], isChanged: true })
  expect(fields.map(({ name }) => name)).not.toContain('candidate')
  expect(links).toMatchObject({
    gained: [
      { target: 'On call', type: 'cites', leadsTo: { seqId, title: 'On call' } },
      { target: 'Old policy', type: 'supersedes', leadsTo: 'nothing' },
    ],
    lost: [],
  })
  expect(entry).toMatchObject({ intent: { does: 'add' }, reason: 'confidence 0.4 is below every threshold' })
})

test('who verified a page is shown as a sentence, with all that changes', () => {
  const page = (verified: string) => parseNeuronFile(`---\nverified: ${verified}\n---\nText.\n`)
  const edition = '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90'
  const [before, after] = [
    page('{ at: 2026-11-26 }'),
    page(`{ by: Ada, at: 2026-11-26, until: 2027-01-01, edition: ${edition} }`),
  ]
  expect(fieldChanges(before, after)).toContainEqual({
    name: 'verified',
    before: ['still true on 2026-11-26'],
    after: [`still true on 2026-11-26, says Ada, until 2027-01-01, knowing edition ${edition} of a Source`],
    isChanged: true,
  })
})

test('a change is shown against its Neuron, and after approval as what it did', async () => {
  const { submit, correct, approve, review } = await newReview()
  const { seqId } = await approve(await submit({ content: 'See [[A]].', metadata: '{"tags":["one"]}' }))
  const id = await correct(seqId, 'See [[B]].')
  const expected = { gained: [{ target: 'B' }], lost: [{ target: 'A' }], gainedCount: 1, lostCount: 1 }
  const waiting = await review(id)
  expect([waiting.sides.before?.content, waiting.sides.after?.content]).toEqual(['See [[A]].', 'See [[B]].'])
  expect(waiting.links).toMatchObject(expected)
  await approve(id)
  const done = await review(id)
  expect([done.sides.before?.content, done.sides.after?.content]).toEqual(['See [[A]].', 'See [[B]].'])
  expect(done.links).toMatchObject(expected)
  expect(done.entry).toMatchObject({ status: 'approved', seqId })
  expect(done.steps).toMatchObject([{ action: 'approve', by: 'The curator' }])
})

test('a conflict shows three texts and the merged one, with markers; an edit of that one solves it', async () => {
  const { submit, correct, approve, review } = await newReview()
  const { seqId } = await approve(await submit({ content: 'one\ntwo\nthree\n' }))
  const [first, second] = [await correct(seqId, 'ONE\ntwo\nTHREE\n'), await correct(seqId, 'eins\ntwo\nthree\n')]
  await approve(first)
  const { sides, entry } = await review(second)
  expect(sides).toMatchObject({
    problem: 'merge_conflict',
    conflict: { base: 'one\ntwo\nthree\n', current: 'ONE\ntwo\nTHREE\n', isSolvable: true },
  })
  const { merged = '' } = sides.conflict ?? {}
  const base = sides.commit
  expect(merged).toMatch(/^<{7} .+\nONE\n\|{7} .+\none\n={7}\neins\n>{7} .+\ntwo\nTHREE\n$/)
  expect(sides.after?.content).toBe(merged)
  const unsolved = approve(second, { content: merged, base, seen: entry.seen })
  await expect(unsolved).rejects.toMatchObject({ fieldErrors: { content: [expect.stringContaining('conflict')] } })
  const content = merged.replace(/^<{7}.*?={7}\n/s, '').replace(/^>{7}.*\n/m, '')
  await approve(second, { content, base, seen: entry.seen })
  expect((await review(second)).sides.after?.content).toBe('eins\ntwo\nTHREE\n')
})

test('what cannot be approved says why', async () => {
  const { correct, review } = await newReview()
  const { sides } = await review(await correct('handbook_00000042', 'Text.'))
  expect(sides).toMatchObject({ problem: 'target_not_found', before: undefined })
  expect(sides.after?.content).toBe('Text.')
})

test('a decision on what has changed since it was seen is refused, and says whether somebody else decided', async () => {
  const { ctx, curator, submit, correct, approve, review } = await newReview()
  const { seqId } = await approve(await submit({ content: 'one\ntwo\nthree\nfour\n' }))
  const [first, second, third] = [
    await correct(seqId, 'ONE\ntwo\nthree\nfour\n'),
    await correct(seqId, 'one\ntwo\nthree\nFOUR\n'),
    await submit({ title: 'Other' }),
  ]
  const seenOf = async (id: string) => (await review(id)).entry.seen
  const [seen, seenThird] = [await seenOf(second), await seenOf(third)]
  await approve(first)
  await expect(approve(second, { seen })).rejects.toMatchObject({ code: 'stale_head' })
  await approve(second, { seen: await seenOf(second) })
  await expect(approve(second, { seen })).rejects.toMatchObject({ code: 'not_pending' })
  expect(await readOutcome(ctx, curator, second)).toMatchObject({ status: 'approved', by: 'The curator', seqId })

  await commentCandidate(ctx, curator, third, { comment: 'Wait.' })
  await expect(dismissCandidate(ctx, curator, third, { seen: seenThird })).rejects.toMatchObject({
    code: 'stale_head',
  })
  await dismissCandidate(ctx, curator, third, { seen: await seenOf(third) })
  expect(await readOutcome(ctx, curator, third)).toMatchObject({ status: 'dismissed', by: 'The curator' })
})

test('neighbours are those of the filter, also of what is decided already', async () => {
  const { ctx, curator, submit, review } = await newReview()
  const red = { metadata: '{"actionZone":"red"}' }
  const [one, two, three] = [await submit(red), await submit(), await submit(red)]
  expect(await review(one)).toMatchObject({ previous: undefined, next: three, count: 3 })
  expect(await review(one, { status: 'pending', zone: 'red' })).toMatchObject({ next: three, count: 2 })
  await dismissCandidate(ctx, curator, three, {})
  expect(await review(three)).toMatchObject({ previous: one, next: two, count: 2 })
  expect(await review(three, { status: 'pending', zone: 'red' })).toMatchObject({ previous: one, next: undefined })
})

test('duplicates that wait are named with what they have in common', async () => {
  const { submit, correct, approve, review } = await newReview()
  const { seqId } = await approve(await submit({ title: 'Base' }))
  const first = await correct(seqId, 'One.', { title: 'A correction' })
  await correct(seqId, 'Two.', { title: 'Another' })
  await submit({ title: 'a CORRECTION!', content: 'Three.' })
  await submit({ title: 'Copy', content: ' One.\n' })
  await submit({ title: 'Unlike', content: 'Four.' })
  const { duplicates } = await review(first)
  expect(duplicates.map(({ entry, why }) => [entry.title, why])).toEqual([
    ['Another', ['same Neuron']],
    ['a CORRECTION!', ['same title']],
    ['Copy', ['same text']],
  ])
})

test('similar Neurons are found by search, with why, and never the target itself', async () => {
  const { ctx, curator, submit, correct, approve } = await newReview()
  const text =
    'When a very important customer raises a ticket at night, page the lead and tell the duty manager at once.'
  const { seqId } = await approve(await submit({ title: 'Escalation at night', content: text }))
  const { seqId: other } = await approve(
    await submit({ title: 'Customer tickets', content: 'How tickets are numbered.' }),
  )
  const similarTo = (id: string) => similarNeurons(ctx, curator, id)
  const similar = await similarTo(await submit({ title: 'Escalation', content: `${text} Really.` }))
  expect(similar?.[0]).toMatchObject({
    seqId,
    why: [expect.stringContaining('escalation'), expect.stringMatching(/^\d+ % of the text/)],
  })
  const own = (await similarTo(await correct(seqId, text))) ?? []
  expect(own.map((neuron) => neuron.seqId)).not.toContain(seqId)
  expect(other).not.toBe(seqId)
})

test('beside a page that ingest made stands the passage of its Source', async () => {
  const { ctx, kbId, curator, review } = await newReview()
  const source = await addSource(ctx, { kbId, filename: 'guide.pdf', fileType: 'pdf' })
  const markdown = [
    '# Guide',
    '',
    'Page one.',
    '',
    '## Escalation',
    '',
    'Page the lead.',
    '',
    '## Rest',
    'Page three.',
  ].join('\n')
  await sourceTexts(ctx).keep(source, {
    ...{ title: 'Guide', markdown, warnings: [] },
    anchors: [
      { line: 1, page: 1 },
      { line: 5, page: 2 },
      { line: 9, page: 3 },
    ],
  })
  const page: CompiledPage = {
    ...{ kind: 'part', key: 'escalation', title: 'Escalation', tags: [], content: 'Page the lead.', edges: [] },
    place: { pages: [2, 2] },
    doubts: ['The numbers may be wrong.'],
  }
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const { id, editionOf, filename, contentHash: sha256 } = source
  const origin = { id, editionOf, filename, sha256, sourceUrl: null, isWanted: async () => true }
  await commitSource(ctx, kb, origin, [page])
  const [row] = kb.projection.read.all`SELECT id FROM candidates WHERE status = 'pending'`
  const { sources, entry } = await review(String(row?.id))
  expect(sources).toEqual([
    {
      id: source.id,
      filename: 'guide.pdf',
      place: { page: '2' },
      text: '## Escalation\n\nPage the lead.',
      isCut: false,
    },
  ])
  expect(entry.warnings).toEqual(['The numbers may be wrong.'])
})
