import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { type EventListener, EventView } from '../../src/events/event-view.ts'
import { readEvents } from '../../src/events/read-events.ts'
import { createKnowledgeBase, operator } from '../../src/kb/create-kb.ts'
import { deriveEvents } from '../../src/kb/events/derive-events.ts'
import { importDirectory } from '../../src/operate/import/import-directory.ts'
import { dismissCandidate, reopenCandidate, requestChanges } from '../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { StoredEvent } from '../../src/state/event-store.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { eventually } from '../support/eventually.ts'
import { tempDir } from '../support/temp.ts'
import { eventsOf } from './support/events-of.ts'

const kindsOf = (events: readonly StoredEvent[]) => events.map(({ kind }) => kind)

/** Returns what two logs of the same history must share: each of their events, whatever the order and the ids. */
function factsOf(events: readonly StoredEvent[]): string[] {
  return events
    .map(({ kind, isCuratorOnly, data }) => JSON.stringify([kind, isCuratorOnly, ...Object.entries(data).sort()]))
    .sort()
}

const page = (seqId: string, more = '', text = 'Text.') => `---\nseqId: ${seqId}\ntitle: Page\n${more}---\n\n${text}\n`

test('a new knowledge base has no events, and what it held before it is followed is not news', async () => {
  const bed = await newTestBed()
  new NativeWriter(bed.gitDir).commit('refs/heads/main', new Map([['neurons/a.md', page('handbook_00000001')]]))
  expect(await eventsOf(bed, bed.ctx)).toEqual([])
})

test('a candidate is created, dismissed, reopened and approved, and becomes a Neuron', async () => {
  const bed = await newTestBed()
  const { ctx, curator, app, kbId } = bed
  const { candidateId } = await submitCandidate(ctx, app, candidate())
  await dismissCandidate(ctx, curator, candidateId, {})
  await reopenCandidate(ctx, curator, candidateId)
  const { seqId, documentId, commit } = await approveCandidate(ctx, curator, candidateId, {})
  const neuron = { seqId, commit, documentId, candidateId }
  expect((await eventsOf(bed, ctx)).map(({ at: _, ...event }) => event)).toEqual(
    [
      { kind: 'candidate.created', data: { candidateId, status: 'pending' } },
      { kind: 'candidate.dismissed', data: { candidateId, status: 'dismissed' } },
      { kind: 'candidate.reopened', data: { candidateId, status: 'pending' } },
      { kind: 'candidate.approved', data: { ...neuron, status: 'approved' } },
      { kind: 'neuron.created', data: neuron },
    ].map((event, index) => expect.objectContaining({ ...event, id: index + 1, kbId, isCuratorOnly: false })),
  )
})

test('a correction updates its Neuron, and what the policy approves is told in full', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  const { seqId = '' } = await submitCandidate(ctx, app, candidate({ confidence: 1 }))
  await eventsOf(bed, ctx)
  const { candidateId } = await submitCandidate(ctx, app, correction(seqId, 'Page nobody.'))
  const { commit } = await approveCandidate(ctx, curator, candidateId, {})
  const events = await eventsOf(bed, ctx)
  expect(kindsOf(events)).toEqual([
    ...['candidate.created', 'candidate.approved', 'neuron.created'],
    ...['candidate.created', 'candidate.approved', 'neuron.updated'],
  ])
  expect(events.at(-1)?.data).toMatchObject({ seqId, commit, candidateId })
})

test('a page that is pushed, changed, removed and brought back is told, with the commit that was pushed', async () => {
  const bed = await newTestBed()
  await eventsOf(bed, bed.ctx)
  const writer = new NativeWriter(bed.gitDir)
  const id = '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90'
  const path = 'neurons/a.md'
  for (const text of [
    page('handbook_00000009', `id: ${id}\n`),
    page('handbook_00000009'),
    null,
    page('handbook_00000009'),
  ]) {
    writer.commit('refs/heads/main', new Map([[path, text]]))
  }
  const events = await eventsOf(bed, bed.ctx)
  const commits = writer.git('rev-list', '--reverse', 'main').split('\n').slice(1)
  expect(events.map(({ kind, data }) => [kind, data.seqId, data.commit])).toEqual(
    ['neuron.created', 'neuron.updated', 'neuron.deleted', 'neuron.created'].flatMap((kind, index) => [
      ['kb.pushed', undefined, commits[index]],
      [kind, 'handbook_00000009', commits[index]],
    ]),
  )
  expect(events.map(({ data }) => data.documentId)).toEqual([undefined, id, ...Array(6).fill(undefined)])
})

test('an edit that keeps the back-pointer of an older candidate approves nothing', async () => {
  const bed = await newTestBed()
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, candidate({ confidence: 1 }))
  const writer = new NativeWriter(bed.gitDir)
  const [path = ''] = writer.paths('refs/heads/main', 'neurons')
  writer.commit('refs/heads/main', new Map([[path, `${writer.read('main', path)}More.\n`]]))
  const events = await eventsOf(bed, bed.ctx)
  expect(events.slice(3).map(({ kind, data }) => [kind, data.candidateId])).toEqual([
    ['kb.pushed', undefined],
    ['neuron.updated', undefined],
  ])
  expect(events[2]?.data.candidateId).toBe(candidateId)
})

test('a merge counts as one commit: the push, and what it changed', async () => {
  const bed = await newTestBed()
  await eventsOf(bed, bed.ctx)
  const writer = new NativeWriter(bed.gitDir)
  writer.git('update-ref', 'refs/heads/side', 'main')
  writer.commit('refs/heads/side', new Map([['neurons/a.md', page('handbook_00000001')]]))
  writer.commit('refs/heads/side', new Map([['neurons/a.md', page('handbook_00000001', '', 'Other.')]]))
  const server = 'Ganglion <ganglion@ganglion.invalid>'
  writer.commit('refs/heads/main', new Map(), {
    parents: ['main', 'refs/heads/side'],
    tree: 'refs/heads/side',
    committer: server,
  })
  const events = await eventsOf(bed, bed.ctx)
  const commit = writer.git('rev-parse', 'main')
  expect(events.map(({ kind, data }) => [kind, data.commit])).toEqual([
    ['kb.pushed', commit],
    ['neuron.created', commit],
  ])
})

test('a Neuron that only curators see is marked so, in the version that the event tells of', async () => {
  const bed = await newTestBed()
  await eventsOf(bed, bed.ctx)
  const writer = new NativeWriter(bed.gitDir)
  const seqId = 'handbook_00000001'
  const internal = page(seqId, 'tags: [internal]\n')
  const forStudents = page(seqId, 'audience: [student]\n')
  for (const text of [page(seqId), internal, null, forStudents, page(seqId), null]) {
    writer.commit('refs/heads/main', new Map([['neurons/a.md', text]]))
  }
  const neurons = (await eventsOf(bed, bed.ctx)).filter(({ kind }) => kind !== 'kb.pushed')
  expect(neurons.map(({ isCuratorOnly }) => isCuratorOnly)).toEqual([false, true, true, true, false, false])
})

test('what was told is not told again after a restart, and what happened meanwhile is', async () => {
  const bed = await newTestBed()
  await submitCandidate(bed.ctx, bed.app, candidate())
  const before = await eventsOf(bed, bed.ctx)
  await bed.ctx.close()
  new NativeWriter(bed.gitDir).commit('refs/heads/main', new Map([['neurons/a.md', page('handbook_00000001')]]))
  const events = await eventsOf(bed, await bed.reopen())
  expect(events.slice(0, before.length)).toEqual(before)
  expect(kindsOf(events)).toEqual(['candidate.created', 'kb.pushed', 'neuron.created'])
})

test('where main was rewritten, one push says so, and what follows is told again', async () => {
  const bed = await newTestBed()
  const { ctx, app } = bed
  const { candidateId } = await submitCandidate(ctx, app, candidate({ confidence: 1 }))
  await eventsOf(bed, ctx)
  const writer = new NativeWriter(bed.gitDir)
  const lost = writer.git('rev-parse', 'main')
  writer.commit('refs/heads/main', new Map([['neurons/b.md', page('handbook_00000077')]]), { parents: ['main~1'] })
  const rewritten = writer.git('rev-parse', 'main')
  const events = await eventsOf(bed, ctx)
  const problems = [`refs/heads/main was moved from ${lost} to ${rewritten}, which does not follow it.`]
  expect(events.slice(3).map(({ kind, data }) => [kind, data])).toEqual([
    ['kb.pushed', { commit: rewritten, problems }],
  ])
  await approveCandidate(ctx, bed.curator, candidateId, {})
  expect(kindsOf((await eventsOf(bed, ctx)).slice(4))).toEqual(['candidate.approved', 'neuron.created'])
})

test('a queue that was rewritten is told from where it stands', async () => {
  const bed = await newTestBed()
  const { ctx, app } = bed
  await submitCandidate(ctx, app, candidate())
  await submitCandidate(ctx, app, candidate())
  await eventsOf(bed, ctx)
  const writer = new NativeWriter(bed.gitDir)
  writer.git('update-ref', 'refs/ganglion/queue', 'refs/ganglion/queue~1')
  writer.git('reflog', 'expire', '--expire=now', '--all')
  writer.git('gc', '--quiet', '--prune=now')
  await submitCandidate(ctx, app, candidate())
  const created = 'candidate.created'
  expect(kindsOf(await eventsOf(bed, ctx))).toEqual([created, created, 'kb.pushed', created])
})

test('an import is told whole, each note a candidate before it is a Neuron', async () => {
  const bed = await newTestBed()
  const vault = join(tempDir(), 'vault')
  mkdirSync(vault)
  for (let n = 0; n < 300; n++) writeFileSync(join(vault, `note-${n}.md`), `# Note ${n}\n\nText ${n}.\n`)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  await importDirectory(kb, vault, { actor: operator, now: bed.ctx.now })
  const events = await eventsOf(bed, bed.ctx)
  const idsOf = (kind: string) => events.filter((event) => event.kind === kind).map(({ data }) => data.candidateId)
  for (const kind of ['candidate.created', 'candidate.approved', 'neuron.created']) {
    expect([kind, new Set(idsOf(kind)).size, idsOf(kind).length]).toEqual([kind, 300, 300])
  }
  expect(events).toHaveLength(900)
  const firstAt = new Map<string, number>()
  for (const [index, { kind, data }] of events.entries()) firstAt.set(`${kind} ${data.candidateId}`, index)
  for (const id of idsOf('candidate.created')) {
    const places = ['candidate.created', 'candidate.approved', 'neuron.created'].map(
      (kind) => firstAt.get(`${kind} ${id}`) ?? -1,
    )
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  }
})

test('events that cannot be written hold up no writer, and are told once they can be', async () => {
  const dataDir = tempDir()
  const errors: unknown[] = []
  const ctx = await openContext({ dataDir, watch: { onError: (error) => errors.push(error) } })
  onTestFinished(() => ctx.close())
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const curator = { id: 'key:k', name: 'K', tenantId, role: 'curator' as const, connectors: [] }
  await eventsOf({ curator }, ctx)
  const sqlite = new DatabaseSync(ctx.directory.database)
  onTestFinished(() => sqlite.close())
  sqlite.exec('ALTER TABLE events RENAME TO broken')
  const { candidateId } = await submitCandidate(ctx, curator, candidate())
  await approveCandidate(ctx, curator, candidateId, {})
  await eventually(() => expect(errors.map(String)).toContainEqual(expect.stringContaining('no such table')))
  sqlite.exec('ALTER TABLE broken RENAME TO events')
  await submitCandidate(ctx, curator, candidate())
  const kinds = kindsOf(await eventsOf({ curator }, ctx))
  expect(kinds.sort()).toEqual(['candidate.approved', 'candidate.created', 'candidate.created', 'neuron.created'])
})

test('told at once or one by one, the events of a history are the same', async () => {
  const live = await newTestBed()
  await eventsOf(live, live.ctx)
  const kb = await live.ctx.kb(live.curator.tenantId, 'handbook')
  const begin = await live.ctx.events.loggedHeads(live.kbId)
  const writer = new NativeWriter(live.gitDir)
  const ids: string[] = []
  for (let n = 0; n < 12; n++) {
    const { candidateId } = await submitCandidate(live.ctx, live.app, candidate({ title: `Note ${n}` }))
    ids.push(candidateId)
    if (n % 3 === 0) await dismissCandidate(live.ctx, live.curator, candidateId, {})
    else await approveCandidate(live.ctx, live.curator, candidateId, {})
    if (n % 4 === 2) {
      const [path = ''] = writer.paths('refs/heads/main', 'neurons')
      writer.commit('refs/heads/main', new Map([[path, n === 10 ? null : `${writer.read('main', path)}More.\n`]]))
    }
    if (n === 6) await reopenCandidate(live.ctx, live.curator, ids[0] ?? '')
    await eventsOf(live, live.ctx)
  }
  const told = await eventsOf(live, live.ctx)
  const heads = kb.projection.heads(kb.projection.read)
  const again: StoredEvent[] = []
  for await (const { events } of deriveEvents(kb, begin ?? heads, heads)) {
    again.push(...events.map((event) => ({ ...event, id: 0, at: '' })))
  }
  expect(factsOf(again)).toEqual(factsOf(told))
  expect(told.length).toBeGreaterThan(30)
})

test('a reader goes on after any event without a gap, wakes by itself, and ends with its signal', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  for (let n = 0; n < 5; n++) await submitCandidate(ctx, app, candidate())
  const all = await eventsOf(bed, ctx)
  for (const lastEventId of [0, 2, 5]) {
    const ending = new AbortController()
    const { after, hasGap, events } = await readEvents(ctx, curator, { lastEventId }, ending.signal)
    expect([after, hasGap]).toEqual([lastEventId, false])
    const seen: number[] = []
    const reading = (async () => {
      for await (const some of events) seen.push(...some.map(({ id }) => id))
    })()
    await submitCandidate(ctx, app, candidate())
    const length = (await eventsOf(bed, ctx)).length
    await eventually(() =>
      expect(seen).toEqual(Array.from({ length: length - lastEventId }, (_, i) => lastEventId + i + 1)),
    )
    ending.abort()
    await reading
  }
  expect(all).toHaveLength(5)
})

test('readers who leave cost the others nothing', async () => {
  const bed = await newTestBed()
  const { ctx } = bed
  // A tenant without a knowledge base, in whose log nothing else happens.
  const { id: tenantId } = await ctx.tenants.ensure('quiet', new Date())
  const curator = { ...bed.curator, tenantId }
  const read = vi.spyOn(ctx.events, 'after')
  const leaving = new AbortController()
  const readers = []
  for (const signal of [new AbortController().signal, ...Array.from({ length: 50 }, () => leaving.signal)]) {
    const { events } = await readEvents(ctx, curator, {}, signal)
    readers.push(events.next())
  }
  await eventually(() => expect(read).toHaveBeenCalledTimes(51))
  const arrivals = ctx.events.arrivals(tenantId)
  leaving.abort()
  const ends = await Promise.all(readers.slice(1))
  expect(ends.every(({ done }) => done === true)).toBe(true)
  expect(read).toHaveBeenCalledTimes(51)
  expect(ctx.events.arrivals(tenantId)).toBe(arrivals)
})

test('a reader without an id begins now; one whose id is of no event begins with a gap', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  for (let n = 0; n < 3; n++) await submitCandidate(ctx, app, candidate())
  await eventsOf(bed, ctx)
  const signal = AbortSignal.abort()
  const start = async (lastEventId?: number) => {
    const { after, hasGap } = await readEvents(ctx, curator, { lastEventId }, signal)
    return { after, hasGap }
  }
  expect(await start()).toEqual({ after: 3, hasGap: false })
  expect(await start(4)).toEqual({ after: 3, hasGap: true })
  expect(await start(Number.POSITIVE_INFINITY)).toEqual({ after: 3, hasGap: true })
  await ctx.events.sweep(new Date(Date.now() + 8 * 24 * 60 * 60 * 1000))
  expect(await start(2)).toEqual({ after: 2, hasGap: false })
  expect(await start(1)).toEqual({ after: 2, hasGap: true })
})

test('an app is told of what it may see, and that its candidates were approved', async () => {
  const bed = await newTestBed()
  const { ctx, curator, app } = bed
  const { candidateId } = await submitCandidate(ctx, app, candidate())
  await approveCandidate(ctx, curator, candidateId, { tags: ['internal'] })
  await eventsOf(bed, ctx)
  const { candidateId: seen } = await submitCandidate(ctx, app, candidate())
  const approval = await approveCandidate(ctx, curator, seen, {})
  const all = await eventsOf(bed, ctx)
  const readAs = async (caller: TestBed['app']) => {
    const { events } = await readEvents(ctx, caller, { lastEventId: 0 }, new AbortController().signal)
    const { value } = await events.next()
    return (value ?? []).map(({ at: _, id: __, kbId: ___, tenantId: ____, ...event }) => event)
  }
  expect(await readAs(curator)).toEqual(all.map(({ kind, data }) => ({ kind, ...data })))
  const { status: _, ...neuron } = approval
  expect(await readAs(app)).toEqual([
    { kind: 'candidate.created', candidateId, status: 'pending' },
    { kind: 'candidate.approved', candidateId, status: 'approved' },
    { kind: 'candidate.created', candidateId: seen, status: 'pending' },
    { kind: 'candidate.approved', ...approval },
    { kind: 'neuron.created', ...neuron },
  ])
})

test('what has to change is told to the sender and to curators alone, and stored in no event', async () => {
  const bed = await newTestBed()
  const { ctx, curator, app, reader } = bed
  const { seqId = '' } = await submitCandidate(ctx, curator, candidate({ confidence: 1 }))
  const { candidateId } = await submitCandidate(ctx, app, correction(seqId, 'One.\n\nTwo.', { title: 'VIP' }))
  const other = { ...app, id: 'key:other' }
  const asked = { reason: 'Which secret?', lines: '3' }
  await requestChanges(ctx, curator, candidateId, asked)
  await requestChanges(ctx, curator, candidateId, { reason: 'All of it.' })
  const events = (await eventsOf(bed, ctx)).filter(({ kind }) => kind === 'candidate.changes-requested')
  const told = async (listener: EventListener) =>
    (await new EventView(ctx, listener).tell(events)).map(({ candidateId, reason, lines }) => [
      ...[candidateId, reason, lines],
    ])
  const whole = [
    [candidateId, 'Which secret?', '3'],
    [candidateId, 'All of it.', undefined],
  ]
  expect([await told(curator), await told(app)]).toEqual([whole, whole])
  const bare = [candidateId, undefined, undefined]
  const receiver = { role: 'app', id: '', name: '', tenantId: app.tenantId } as const
  expect([await told(other), await told(receiver), await told(reader)]).toEqual([[bare, bare], [bare, bare], []])
  expect(JSON.stringify(await ctx.events.after(app.tenantId, 0, 99))).not.toContain('secret')
})

test('no tenant is told of another, and a reader of one knowledge base of no other', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const make = async (tenant: string, slug: string) => {
    await createKnowledgeBase(ctx, { tenant, slug })
    const tenantId = (await ctx.tenants.find(tenant))?.id ?? ''
    const caller = { ...curator, tenantId }
    await submitCandidate(ctx, caller, candidate({ knowledgeBaseId: slug }))
    return caller
  }
  await make('acme', 'wiki')
  const stranger = await make('globex', 'handbook')
  await submitCandidate(ctx, curator, candidate())
  await eventually(async () => {
    const { last } = await ctx.events.range(curator.tenantId)
    expect([last, (await ctx.events.range(stranger.tenantId)).last]).toEqual([2, 1])
  })
  const read = async (caller: TestBed['curator'], kb?: string) => {
    const query = { lastEventId: 0, ...(kb === undefined ? {} : { kb }) }
    const { events } = await readEvents(ctx, caller, query, new AbortController().signal)
    return ((await events.next()).value ?? []).map(({ kbId, tenantId }) => [tenantId, kbId])
  }
  const wiki = (await ctx.kb(curator.tenantId, 'wiki')).identity.id
  expect(new Set((await read(curator)).map(([, kbId]) => kbId))).toEqual(new Set([wiki, bed.kbId]))
  expect(await read(curator, 'wiki')).toEqual([[curator.tenantId, wiki]])
  const theirs = (await ctx.kb(stranger.tenantId, 'handbook')).identity.id
  expect(await read(stranger)).toEqual([[stranger.tenantId, theirs]])
  const signal = new AbortController().signal
  for (const kb of ['none', theirs]) {
    await expect(readEvents(ctx, curator, { kb }, signal)).rejects.toMatchObject({ code: 'not_found' })
  }
})
