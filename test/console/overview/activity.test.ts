import { parseHTML } from 'linkedom'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { html } from '../../../src/console/layout/html-template.ts'
import { activityFeed } from '../../../src/console/overview/activity-feed.ts'
import type { ActivityItem } from '../../../src/events/activity-item.ts'
import { dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { eventually } from '../../support/eventually.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

const hostile = `<b onmouseover=alert(1)>"'&amp;`
const now = new Date('2026-03-02T12:00:00Z')

function item(changes: Partial<ActivityItem>): ActivityItem {
  return {
    ...{ id: 1, kind: 'candidate.approved', at: '2026-03-02T11:00:00Z', kb: { slug: 'handbook', title: 'Handbook' } },
    ...{ by: 'Ada', subject: { title: 'Leave', candidateId: 'c', seqId: 'handbook_00000001' }, isApproval: false },
    ...changes,
  }
}

const page = { title: 'Leave', seqId: 'handbook_00000001' }
const source = { title: 'a.pdf', documentId: 'd' }

function told(items: readonly ActivityItem[]): string[] {
  const { document } = parseHTML(String(html`<main>${activityFeed(items, { now, namesKb: false })}</main>`))
  return [...document.querySelectorAll('li.event')].map(({ textContent }) => textContent.trim().replace(/\s+/g, ' '))
}

test.each<[Partial<ActivityItem>, string]>([
  [{}, 'Ada approved Leave 1 hour ago Read the page'],
  [{ by: null }, 'The policy approved Leave 1 hour ago Read the page'],
  [{ kind: 'candidate.dismissed', reason: 'Too short' }, 'Ada dismissed Leave 1 hour ago Too short'],
  [{ kind: 'candidate.reopened', by: undefined }, 'Somebody reopened Leave 1 hour ago'],
  [{ kind: 'candidate.created', subject: undefined }, 'Ada proposed something that is gone 1 hour ago'],
  [{ kind: 'neuron.updated', by: undefined, subject: page }, 'Leave was changed 1 hour ago'],
  [{ kind: 'neuron.deleted', subject: page }, 'Ada removed Leave 1 hour ago'],
  [{ kind: 'source.uploaded', subject: source }, 'Ada uploaded a.pdf 1 hour ago'],
  [{ kind: 'ingest.completed', by: undefined, subject: source, neurons: 1 }, 'a.pdf was read: 1 page 1 hour ago'],
  [{ kind: 'ingest.failed', subject: source, reason: 'No text' }, 'a.pdf could not be read 1 hour ago No text'],
  [{ kind: 'kb.pushed', subject: undefined, problems: ['x.md:1'] }, 'Ada pushed with git 1 hour ago x.md:1'],
])('%o is told as a person would', (changes, sentence) => {
  expect(told([item(changes)])).toEqual([sentence])
})

test('what several do at the same time is told in total, by each of them', () => {
  const mixed = Array.from({ length: 8 }, (_, at) => item({ id: 20 - at, by: at % 2 === 0 ? 'Ada' : 'Bo' }))
  const sums = told([...mixed, item({ id: 1, at: '2026-03-02T10:00:00Z' })]).map((line) => line.replace(/ ago.*/, ''))
  expect(sums).toEqual(['Ada approved 4 changes 1 hour', 'Bo approved 4 changes 1 hour', 'Ada approved Leave 2 hours'])
  const cut = String(activityFeed(mixed, { now, namesKb: false, hasOlder: true, most: 1 }))
  expect(cut).toContain('4 changes or more')
  expect(cut).not.toContain('Bo')
})

test('many of one kind by one hand are one line', () => {
  const many = ['A', 'B', 'C'].map((title) => item({ subject: { title, candidateId: title } }))
  const failed = [1, 2, 3].map((id) => item({ id, kind: 'ingest.failed', by: undefined, subject: source }))
  const [first, second, third] = told([...many, item({ by: 'Bo' }), ...failed])
  expect(first).toBe('Ada approved 3 changes 1 hour ago WhichABC')
  expect(second).toContain('Bo approved Leave')
  expect(third).toContain('3 Sources could not be read')
})

let started: Console
let curator: Browser
let reader: Browser
beforeAll(async () => {
  started = await startConsole()
  curator = await started.browser('curator')
  reader = await started.browser('reader')
  const { ctx, kbId, tenantId } = started
  const ada = { id: `user:${curator.userId}`, name: hostile, tenantId, role: 'curator' as const, connectors: [] }
  const { candidateId } = await submitCandidate(ctx, ada, candidate({ title: hostile }))
  await dismissCandidate(ctx, ada, candidateId, { reason: hostile })
  await eventually(async () => expect((await ctx.events.range(tenantId)).last).toBe(2))
  for (let number = 0; number < 210; number++) await addSource(ctx, { kbId, filename: `${number}.md` })
})
afterAll(() => started.close())

test('activity is filtered in the address and read page by page', async () => {
  const decisions = await curator.get('/activity?kind=decisions&kb=handbook')
  expect(decisions.texts('.event > p:first-child')).toEqual([
    `${hostile} dismissed ${hostile} just now`,
    `${hostile} proposed ${hostile} just now`,
  ])
  expect(decisions.document.querySelector('main b')).toBeNull()
  expect(decisions.texts('.chip.active')[0]).toBe('Knowledge base: handbook')
  expect(decisions.texts('.chip.active')[1]).toBe('What: Decisions')

  const first = await curator.get('/activity')
  expect(first.texts('.event > p')[0]).toMatch(/^The app uploaded 200 Sources or more/)
  expect(first.texts('.event summary + ul li')).toHaveLength(51)
  const older = first.document.querySelector('a[rel=next]')?.getAttribute('href') ?? ''
  const second = await curator.get(older)
  expect(second.texts('.event')).toHaveLength(3)
  expect(second.document.querySelector('a[rel=next]')).toBeNull()
  expect((await curator.get('/activity?kb=&kind=')).status).toBe(200)
  expect((await curator.get('/activity?before=x')).status).toBe(400)
})

test('a curator hears of what is new without that the page moves; a reader has neither filter nor queue', async () => {
  const page = await curator.get('/activity?kind=sources')
  const live = page.document.querySelector('[data-live]')
  expect(live?.getAttribute('data-live')).toBe('source.uploaded ingest.completed ingest.failed')
  expect(live?.querySelector('[role=status]')?.textContent).toBe('')
  expect(live?.querySelector('a')?.hasAttribute('hidden')).toBe(true)
  const part = await curator.get('/activity?kind=sources', { 'hx-request': 'true' })
  expect([part.texts('h1'), part.document.querySelector('#feed') === null]).toEqual([[], false])

  const readers = await reader.get('/activity')
  expect(readers.texts('.event')).toEqual([])
  expect(readers.texts('summary.chip')).toEqual(['Knowledge base'])
  expect((await reader.get('/activity?kind=decisions')).texts('.event')).toEqual([])
})
