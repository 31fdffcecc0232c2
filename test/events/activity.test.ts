import { expect, test } from 'vitest'
import { type ActivityItem, ActivityTeller } from '../../src/events/activity-item.ts'
import { EventView } from '../../src/events/event-view.ts'
import { type ActivityQuery, readActivity } from '../../src/events/read-activity.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { dismissCandidate, reopenCandidate } from '../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { candidate, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { neuronText, writtenBed } from '../kb/support/written-neurons.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { eventually } from '../support/eventually.ts'

const ada = (caller: Caller): Caller => ({ ...caller, id: 'user:ada', name: 'Ada' })

const tell = ({ kind, by, subject, reason }: ActivityItem) => [kind, by, subject?.title, ...(reason ? [reason] : [])]

async function activity(bed: TestBed, caller: Caller, query: Partial<ActivityQuery> = {}) {
  return readActivity(bed.ctx, caller, { limit: 50, ...query })
}

/** Waits until the events of this many are in the log. */
async function told(bed: TestBed, count: number): Promise<void> {
  await eventually(async () => {
    expect((await bed.ctx.events.range(bed.curator.tenantId)).last).toBe(count)
  })
}

test('decisions are told with who made them; an approval stands for the page that it made', async () => {
  const bed = await newTestBed()
  const { ctx, app } = bed
  const curator = ada(bed.curator)
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Leave <b>' }))
  await dismissCandidate(ctx, curator, candidateId, { reason: 'Too short' })
  await reopenCandidate(ctx, curator, candidateId)
  await approveCandidate(ctx, curator, candidateId, {})
  // What is told together is told in the order of the refs.
  await told(bed, 5)
  await submitCandidate(ctx, app, candidate({ title: 'Sure', confidence: 0.95 }))
  await told(bed, 8)
  const { items, older, last } = await activity(bed, curator)
  expect(items.map(tell)).toEqual([
    ['candidate.approved', null, 'Sure'],
    ['candidate.created', 'The app', 'Sure'],
    ['candidate.approved', 'Ada', 'Leave <b>'],
    ['candidate.reopened', 'Ada', 'Leave <b>'],
    ['candidate.dismissed', 'Ada', 'Leave <b>', 'Too short'],
    ['candidate.created', 'The app', 'Leave <b>'],
  ])
  expect([older, last]).toEqual([null, 8])
  const pages = await activity(bed, curator, { kind: 'pages' })
  expect(pages.items.map(tell)).toEqual([
    ['neuron.created', null, 'Sure'],
    ['neuron.created', 'Ada', 'Leave <b>'],
  ])
})

test('a reader is told of pages that it may see, and not of who wrote them', async () => {
  const bed = await newTestBed()
  const { ctx, app, reader } = bed
  const curator = ada(bed.curator)
  for (const [title, tags] of [
    ['Seen', []],
    ['Hidden', ['internal']],
  ] as const) {
    const { candidateId } = await submitCandidate(ctx, app, candidate({ title, metadata: JSON.stringify({ tags }) }))
    await approveCandidate(ctx, curator, candidateId, {})
  }
  await addSource(ctx, { kbId: bed.kbId })
  await told(bed, 7)
  for (const kind of [undefined, 'pages'] as const) {
    const { items } = await activity(bed, reader, { kind })
    expect(items.map(tell)).toEqual([['neuron.created', undefined, 'Seen']])
  }
  for (const kind of ['decisions', 'sources', 'pushes'] as const) {
    expect((await activity(bed, reader, { kind })).items).toEqual([])
  }
})

test('the activity looks up how to undo an approval for curators alone', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  await submitCandidate(ctx, app, candidate({ confidence: 0.95 }))
  await told(bed, 3)
  const { tenantId } = curator
  const events = await ctx.events.before(tenantId, {
    ...{ before: 10, limit: 9, kbId: undefined, isCurator: true, kinds: ['candidate.approved', 'neuron.created'] },
  })
  const shown = await new EventView(ctx, curator, { isList: true }).tell(events)
  expect(shown).toHaveLength(2)
  for (const event of shown) {
    expect((await new ActivityTeller(ctx, tenantId).tell([event]))[0]?.undo).toBeUndefined()
    const [item] = await new ActivityTeller(ctx, tenantId, { tellsUndo: true }).tell([event])
    expect(item?.undo).toMatchObject({ by: 'key' })
  }
})

test('pages follow one another without a hole and without an event twice, whatever is filtered', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator, kbId } = bed
  for (let number = 0; number < 7; number++) await submitCandidate(ctx, app, candidate({ title: `C ${number}` }))
  await told(bed, 7)
  await addSource(ctx, { kbId, filename: 'rare.md' })
  const titles: (string | undefined)[] = []
  for (let before: number | null | undefined; before !== null; ) {
    const page = await activity(bed, curator, { before, limit: 3, kind: 'decisions', kb: 'handbook' })
    expect(page.items.length).toBeLessThanOrEqual(3)
    titles.push(...page.items.map(({ subject }) => subject?.title))
    before = page.older
  }
  expect(titles).toEqual(['C 6', 'C 5', 'C 4', 'C 3', 'C 2', 'C 1', 'C 0'])
  const sources = await activity(bed, curator, { kind: 'sources' })
  expect(sources.items.map(tell)).toEqual([['source.uploaded', 'The app', 'rare.md']])
  await expect(activity(bed, curator, { kb: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' })
})

test('what others do much of hides nothing of a quiet knowledge base, nor of a rare kind', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  const { tenantId } = curator
  await submitCandidate(ctx, app, candidate({ title: 'Quiet' }))
  await told(bed, 1)
  await addSource(ctx, { kbId: bed.kbId, filename: 'rare.md' })
  await told(bed, 2)
  const { id: kbId } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'busy' })
  const busy = { kbId, kind: 'kb.pushed', isCuratorOnly: false, data: {} } as const
  await ctx.events.append(tenantId, Array(12_000).fill(busy), ctx.now())
  const ofKb = await activity(bed, curator, { kb: 'handbook' })
  expect(ofKb.items.map(tell)).toEqual([
    ['source.uploaded', 'The app', 'rare.md'],
    ['candidate.created', 'The app', 'Quiet'],
  ])
  expect(ofKb.older).toBeNull()
  expect((await activity(bed, curator, { kind: 'sources' })).items).toHaveLength(1)
})

test('a reader is not told of nothing where hidden events fill a page', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator, reader } = bed
  await submitCandidate(ctx, app, candidate({ title: 'Seen', confidence: 0.95 }))
  await told(bed, 3)
  const hidden = { kbId: bed.kbId, kind: 'neuron.updated', data: { seqId: 'handbook_00000099' } } as const
  await ctx.events.append(curator.tenantId, Array(9_000).fill({ ...hidden, isCuratorOnly: true }), ctx.now())
  expect((await activity(bed, reader)).items.map(tell)).toEqual([['neuron.created', undefined, 'Seen']])
  await ctx.events.append(curator.tenantId, Array(6_000).fill({ ...hidden, isCuratorOnly: false }), ctx.now())
  const first = await activity(bed, reader)
  expect(first.items).toEqual([])
  const next = await activity(bed, reader, { before: first.older ?? 0 })
  expect(next.items.map(tell)).toEqual([['neuron.created', undefined, 'Seen']])
})

test('a page that is gone is told by its last title, and what was pushed by who pushed it', async () => {
  const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'Before' }) })
  await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  bed.write({ 'a.md': null })
  await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  await eventually(async () => {
    const { items } = await activity(bed, bed.curator)
    expect(items.find(({ kind }) => kind === 'neuron.deleted')?.subject?.title).toBe('Before')
    expect(items.some(({ kind }) => kind === 'kb.pushed')).toBe(true)
  })
})
