import { expect, test, vi } from 'vitest'
import { GanglionError } from '../../src/contract/errors.ts'
import type { UndoInput } from '../../src/contract/undo.ts'
import { operator } from '../../src/kb/create-kb.ts'
import { importDirectory } from '../../src/operate/import/import-directory.ts'
import { listNeurons } from '../../src/pages/list-neurons.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { openPage } from '../../src/pages/write/open-page.ts'
import { writePage } from '../../src/pages/write/write-page.ts'
import type { PageChanges } from '../../src/pages/write/written-page.ts'
import { dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { listQueue } from '../../src/queue/lists/list-queue.ts'
import { approveBundle } from '../../src/queue/push-bundle.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { proposeUndo } from '../../src/review/propose-undo.ts'
import { reviewCandidate } from '../../src/review/review-candidate.ts'
import { candidateIdFor } from '../../src/rules/candidates/candidate-id.ts'
import type { CompiledPage } from '../../src/sources/compile/compiled.ts'
import { commitSource } from '../../src/sources/ingest/commit-source.ts'
import type { Source } from '../../src/state/sources/source.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { put } from '../kb/support/import-support.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { fc, runs } from '../support/properties.ts'
import { tempDir } from '../support/temp.ts'
import { threads } from '../support/threads.ts'

type By = 'ada' | 'bot'

/** A knowledge base in which each write takes a second, and both `ada` and `bot` write. */
async function newDesk() {
  let time = Date.parse('2026-03-01T00:00:00Z')
  const now = () => {
    time += 1000
    return new Date(time)
  }
  const bed = await newTestBed({ threads, now })
  const { ctx, curator, caller } = bed
  const writer = (by: By) => ({ ...caller('app'), id: `key:${by}`, name: by })
  const taken = async (by: By, input: Parameters<typeof submitCandidate>[2], removes = false) => {
    const { candidateId } = await submitCandidate(ctx, writer(by), input, { removes })
    const { seqId } = await approveCandidate(ctx, curator, candidateId, {})
    return seqId ?? ''
  }
  const content = async (seqId: string) => (await readNeuron(ctx, curator, { kb: 'handbook', seqId })).content
  return {
    ...bed,
    content,
    clock: () => now().toISOString(),
    add: (by: By, title: string, text: string) => taken(by, candidate({ title, content: text })),
    change: async (by: By, seqId: string, text: string, title?: string) => {
      const now = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
      const metadata = JSON.stringify({ targetNeuron: seqId, baseVersion: now.version })
      return taken(by, correction(seqId, text, { title: title ?? now.title, metadata }))
    },
    rewrite: async (by: By, seqId: string, changes: PageChanges, path?: string) => {
      const { commit: base } = await openPage(ctx, curator, { kb: 'handbook', seqId, at: undefined })
      const options = { kb: 'handbook', candidateId: candidateIdFor(bed.kbId), publish: true }
      await writePage(
        ctx,
        { ...writer(by), role: 'curator' },
        { target: { seqId, base }, changes, ...(path && { path }) },
        options,
      )
    },
    remove: async (by: By, seqId: string) => taken(by, correction(seqId, 'gone'), true),
    undo: (since: string, more: Partial<UndoInput> = {}) =>
      proposeUndo(ctx, curator, 'handbook', { by: 'key', writer: 'bot', since, dryRun: false, ...more }),
    approveAll: async () => {
      const { entries } = await listQueue(ctx, curator, { status: 'pending', bundles: true, limit: 10 })
      for (const { id, bundle, seen } of entries) {
        if (bundle) await approveBundle(ctx, curator, { candidateId: id, seen: bundle.seen })
        else await approveCandidate(ctx, curator, id, { seen })
      }
      return entries.length
    },
    pages: async () => {
      const { neurons } = await listNeurons(ctx, curator, 'handbook', { limit: 100 })
      const { projection } = await ctx.kb(curator.tenantId, 'handbook')
      const aliases = (seqId: string) =>
        projection.read.all`SELECT exact FROM names WHERE seq_id = ${seqId} AND kind = 'alias'`.map(
          ({ exact }) => exact,
        )
      return Promise.all(
        neurons.map(async ({ seqId, title, path, tags }) => ({
          seqId,
          title,
          path,
          tags,
          content: await content(seqId),
          aliases: aliases(seqId),
        })),
      )
    },
  }
}

test('undo takes back what a key added, changed, renamed and removed, as one entry of the queue', async () => {
  const desk = await newDesk()
  const { ctx, curator, add, change, remove, undo, approveAll, pages, clock } = desk
  const kept = await add('ada', 'Kept', 'one\n')
  const renamed = await add('ada', 'Renamed', 'two\n')
  const lost = await add('bot', 'Lost', 'see [[Renamed]]\n')
  const before = await pages()
  const since = clock()
  await change('bot', renamed, 'two\n', 'Other')
  await add('bot', 'Spam', 'see [[Other]]\n')
  await change('bot', kept, 'ONE, see [[Other]]\n')
  await remove('bot', lost)
  const tried = await undo(since, { dryRun: true })
  expect(tried.reversals.map(({ candidateId }) => candidateId)).toEqual([null, null, null, null])
  expect([tried.queueUrl, tried.message]).toEqual([null, 'In the queue, reversals of 4 Neurons would wait.'])
  expect((await listQueue(ctx, curator, { status: 'pending', bundles: false, limit: 10 })).entries).toEqual([])
  const answer = await undo(since)
  expect(answer.reversals.map(({ title, action, conflicts }) => [title, action, conflicts]).sort()).toEqual([
    ['Kept', 'change', false],
    ['Lost', 'restore', false],
    ['Renamed', 'change', false],
    ['Spam', 'remove', false],
  ])
  const again = await undo(since)
  expect(again).toEqual(answer)
  const { bundle } = await reviewCandidate(ctx, curator, answer.reversals[0]?.candidateId ?? '', {})
  expect(bundle?.says).toEqual(['Restores 1 page', 'Changes 2 pages', 'Removes 1 page'])
  expect(await approveAll()).toBe(1)
  expect(await pages()).toEqual(before)
  expect(await undo(since)).toMatchObject({ reversals: [], kept: [], queueUrl: null })
})

test('more than fit into one commit are taken back in parts, and a request that was interrupted is completed by the same', async () => {
  const desk = await newDesk()
  const { ctx, curator, add, clock, approveAll, pages } = desk
  const before = await pages()
  const since = clock()
  for (let n = 0; n < 5; n++) await add('bot', `Spam ${n}`, 'spam\n')
  const input = { by: 'key', writer: 'bot', since, dryRun: false } as const
  const undo = (more = {}) => proposeUndo(ctx, curator, 'handbook', { ...input, ...more }, { atOnce: 2 })
  expect((await undo({ dryRun: true })).message).toBe('In the queue, reversals of 5 Neurons would wait.')

  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const write = kb.write.bind(kb)
  let writes = 0
  const failing = vi.spyOn(kb, 'write').mockImplementation(async (work) => {
    if (++writes === 3) throw new GanglionError('queue_full')
    return write(work)
  })
  const cut = await undo()
  expect(cut.reversals).toHaveLength(4)
  expect(cut.message).toContain('In the queue, reversals of 4 Neurons wait. 1 more Neuron is left')
  failing.mockRestore()

  const answer = await undo()
  expect(answer.message).toBe('In the queue, reversals of 5 Neurons wait.')
  expect(answer.reversals.slice(0, 4)).toEqual(cut.reversals)
  expect(new Set(answer.reversals.map(({ candidateId }) => candidateId)).size).toBe(5)
  expect(await undo()).toEqual(answer)
  const told = nativeGit(desk.gitDir, ['log', '-3', '--format=%s', 'refs/ganglion/queue'])
  expect(told.split('\n')).toEqual([
    'Propose "Spam 4" (part 3 of 3)',
    'Propose 2 changes of Neurons (part 2 of 3)',
    'Propose 2 changes of Neurons (part 1 of 3)',
  ])
  const [third] = (await listQueue(ctx, curator, { text: 'Spam 4', status: 'pending', limit: 1 })).entries
  expect(third?.reason).toMatch(/^takes back what the key bot wrote since .* \(part 3 of 3\)$/)
  const commits = nativeGit(desk.gitDir, ['rev-list', '--count', 'main'])
  expect(await approveAll()).toBe(3)
  expect(Number(nativeGit(desk.gitDir, ['rev-list', '--count', 'main']))).toBe(Number(commits) + 3)
  expect(await pages()).toEqual(before)
})

test('an undo is undone as the changes of any other writer', async () => {
  const { add, change, remove, undo, approveAll, pages, clock } = await newDesk()
  const kept = await add('ada', 'Kept', 'one\n')
  const lost = await add('ada', 'Lost', 'see [[Kept]]\n')
  const start = clock()
  await change('bot', kept, 'ONE\n', 'Renamed')
  await remove('bot', lost)
  await add('bot', 'New', 'see [[Renamed]]\n')
  const changed = await pages()
  const since = clock()
  expect((await undo(start)).reversals).toHaveLength(3)
  expect(await approveAll()).toBe(1)
  const { reversals } = await undo(since, { by: 'connector', writer: 'undo' })
  expect(reversals.map(({ title, action }) => [title, action]).sort()).toEqual([
    ['Lost', 'remove'],
    ['New', 'restore'],
    ['Renamed', 'change'],
  ])
  expect(await approveAll()).toBe(1)
  expect(await pages()).toEqual(changed)
})

test('501 pages are taken back by one request', async () => {
  const { ctx, curator } = await newTestBed({ threads })
  const vault = tempDir()
  for (let n = 0; n < 501; n++) put(vault, `note-${n}.md`, `# Note ${n}\n\nText ${n}.\n`)
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  await importDirectory(kb, vault, { actor: operator, now: ctx.now })
  const input = { by: 'connector', writer: 'import', since: '1970-01-01T00:00:00Z', dryRun: false } as const
  const { reversals, message } = await proposeUndo(ctx, curator, 'handbook', input)
  expect([reversals.length, message]).toEqual([501, 'In the queue, reversals of 501 Neurons wait.'])
  const { entries } = await listQueue(ctx, curator, { status: 'pending', bundles: true, limit: 10 })
  expect(entries.map(({ bundle }) => bundle?.members.length ?? 1).sort()).toEqual([1, 500])
})

test('an approved undo removes its pages; a removal of the same page that somebody else proposed is not approved', async () => {
  const { ctx, curator, app, add, undo, clock } = await newDesk()
  const since = clock()
  const spam = await add('bot', 'Spam', 'spam\n')
  await add('bot', 'More', 'spam\n')
  const other = await submitCandidate(ctx, app, correction(spam, 'gone'), { removes: true })
  const { reversals } = await undo(since)
  const [{ candidateId } = { candidateId: null }] = reversals
  const { bundle } = await reviewCandidate(ctx, curator, candidateId ?? '', {})
  await approveBundle(ctx, curator, { candidateId: candidateId ?? '', seen: bundle?.seen ?? '' })
  const approved = await listQueue(ctx, curator, { status: 'approved', bundles: false, limit: 10 })
  const ids = approved.entries.map(({ id }) => id)
  expect(reversals.filter(({ candidateId }) => !ids.includes(candidateId ?? ''))).toEqual([])
  expect(ids).not.toContain(other.candidateId)
})

test('a key undoes no more than it may propose', async () => {
  const { ctx, curator, add, undo, clock } = await newDesk()
  const since = clock()
  const spam = await add('bot', 'Spam', 'spam\n')
  const limits = { pending: null, approved: null, paths: ['neurons/drafts'], tags: [] }
  const record = {
    tenantId: curator.tenantId,
    name: 'Drafts',
    role: 'curator' as const,
    connectors: [],
    expiresAt: null,
    limits,
  }
  const { key } = await ctx.apiKeys.create(record, new Date())
  const input = { by: 'key', writer: 'bot', since, dryRun: false } as const
  const limited = proposeUndo(ctx, { ...curator, id: `key:${key.id}` }, 'handbook', input)
  await expect(limited).rejects.toMatchObject({ code: 'insufficient_role' })
  expect((await undo(since)).reversals).toMatchObject([{ seqId: spam, action: 'remove' }])
})

test('what others changed since stays, also in between; where it conflicts, it is named, and nothing is approved', async () => {
  const { ctx, curator, add, change, remove, undo, approveAll, content, clock } = await newDesk()
  const between = await add('ada', 'Between', 'a\n\nb\n\nc\n')
  const clash = await add('ada', 'Clash', 'one\n')
  const gone = await add('ada', 'Gone', 'one\n')
  const since = clock()
  const grown = await add('bot', 'Grown', 'one\n')
  await change('bot', between, 'A\n\nb\n\nc\n')
  await change('ada', between, 'A\n\nADA\n\nc\n')
  await change('bot', between, 'A\n\nADA\n\nC\n')
  for (const seqId of [clash, gone]) await change('bot', seqId, 'ONE\n')
  for (const seqId of [clash, grown]) await change('ada', seqId, 'ada\n')
  await remove('ada', gone)
  const { reversals, kept } = await undo(since)
  const stays = 'What ada changed since stays.'
  const conflicts = 'What ada changed since conflicts with taking this back: solve that, or dismiss this.'
  expect(reversals.map(({ title, action, warnings }) => [title, action, ...warnings]).sort()).toEqual([
    ['Between', 'change', stays],
    ['Clash', 'change', conflicts],
    ['Grown', 'remove', conflicts],
  ])
  expect(kept).toEqual([{ seqId: gone, reason: 'ada removed it since.' }])
  const inTheWay = reversals.filter(({ conflicts }) => conflicts).map(({ candidateId }) => candidateId)
  const refusal = await approveAll().catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'merge_conflict', details: { candidates: expect.arrayContaining(inTheWay) } })
  expect(Object(refusal).details.candidates).toHaveLength(2)
  expect(await content(between)).toBe('A\n\nADA\n\nC\n')
  for (const id of inTheWay) await dismissCandidate(ctx, curator, id ?? '', {})
  expect(await approveAll()).toBe(1)
  expect(await content(between)).toBe('a\n\nADA\n\nc\n')
  expect([await content(clash), await content(grown)]).toEqual(['ada\n', 'ada\n'])
})

test('a connector or a person is undone as well; a Source or knowledge base that is not there is not found', async () => {
  const { ctx, app, curator, add, undo, clock } = await newDesk()
  const since = clock()
  await add('bot', 'Spam', 'spam\n')
  const of = (by: UndoInput['by'], writer: string) => undo(since, { by, writer })
  expect((await of('connector', 'api')).reversals).toHaveLength(1)
  expect((await of('connector', 'mcp')).reversals).toEqual([])
  expect((await of('person', app.id)).message).toBe(
    `There is nothing to take back: main has nothing that the person ${app.id} wrote since ${since}.`,
  )
  await expect(of('source', crypto.randomUUID())).rejects.toMatchObject({ code: 'not_found' })
  await expect(
    proposeUndo(ctx, curator, 'none', { by: 'key', writer: 'bot', since, dryRun: false }),
  ).rejects.toMatchObject({
    code: 'not_found',
  })
  expect((await undo(clock())).reversals).toEqual([])
})

test('a person is undone by address, a key by its name, a model by what proposed with it said', async () => {
  const { ctx, app, curator, content, clock, undo, approveAll } = await newDesk()
  const person = await ctx.users.create({ email: 'eva@example.org', name: 'Eva', passwordHash: null }, ctx.now())
  const keyed = async (name: string) => {
    const record = { tenantId: app.tenantId, name, role: 'app' as const, connectors: [], expiresAt: null }
    return (await ctx.apiKeys.create(record, ctx.now())).key.id
  }
  const [agent, twin, other] = [await keyed('Agent'), await keyed('Twin'), await keyed('Twin')]
  const since = clock()
  const writers: [id: string, title: string, model?: string][] = [
    [`user:${person?.id}`, 'Of Eva'],
    [`key:${agent}`, 'Of the agent', 'm-1'],
    [`key:${twin}`, 'Of a twin', 'm-1'],
    [`key:${other}`, 'Of another model', 'm-2'],
  ]
  for (const [id, title, model] of writers) {
    const metadata = model === undefined ? null : JSON.stringify({ model })
    const sent = await submitCandidate(ctx, { ...app, id, name: title }, candidate({ title, metadata }))
    await approveCandidate(ctx, curator, sent.candidateId, {})
  }
  const of = async (by: UndoInput['by'], writer: string) => {
    const { reversals } = await undo(since, { by, writer, dryRun: true })
    return reversals.map(({ title }) => title).sort()
  }
  expect(await of('person', ' Eva@Example.org')).toEqual(['Of Eva'])
  expect(await of('key', 'Agent')).toEqual(['Of the agent'])
  await expect(of('key', 'Twin')).rejects.toMatchObject({ fieldErrors: { writer: [expect.any(String)] } })
  expect(await of('key', twin)).toEqual(['Of a twin'])
  expect(await of('model', 'm-1')).toEqual(['Of a twin', 'Of the agent'])
  expect(await of('model', 'm')).toEqual([])
  const ofAgent = await undo(since, { by: 'key', writer: agent })
  const { entry } = await reviewCandidate(ctx, curator, ofAgent.reversals[0]?.candidateId ?? '', {})
  expect(entry.reason).toContain('takes back what the key Agent wrote since')
  const { reversals } = await undo(since, { by: 'model', writer: 'm-1' })
  await approveAll()
  for (const { seqId } of reversals) await expect(content(seqId)).rejects.toMatchObject({ code: 'not_found' })
})

test('a person is undone over the keys that they made, also revoked ones, by API and git', async () => {
  const { ctx, app, curator, clock, undo, approveAll, content } = await newDesk()
  const person = await ctx.users.create({ email: 'eva@example.org', name: 'Eva', passwordHash: null }, ctx.now())
  const keyed = async (name: string, userId?: string) => {
    const record = { tenantId: app.tenantId, name, role: 'app' as const, connectors: [], expiresAt: null, userId }
    return (await ctx.apiKeys.create(record, ctx.now())).key.id
  }
  const [made, revoked, foreign] = [
    await keyed('Made', person?.id),
    await keyed('Old', person?.id),
    await keyed('Other'),
  ]
  await ctx.apiKeys.revoke(revoked, ctx.now(), app.tenantId)
  const since = clock()
  const writers = {
    'Of Eva': `user:${person?.id}`,
    'By key': `key:${made}`,
    'By git': `git:${made}`,
    Revoked: `key:${revoked}`,
  }
  for (const [title, id] of Object.entries({ ...writers, Foreign: `key:${foreign}` })) {
    const sent = await submitCandidate(ctx, { ...app, id, name: title }, candidate({ title, content: `Of ${title}.` }))
    await approveCandidate(ctx, curator, sent.candidateId, {})
  }
  const of = async (by: UndoInput['by'], writer: string) =>
    (await undo(since, { by, writer, dryRun: true })).reversals.map(({ title }) => title).sort()
  expect(await of('key', made)).toEqual(['By git', 'By key'])
  expect(await of('key', foreign)).toEqual(['Foreign'])
  expect(await of('person', 'eva@example.org')).toEqual(Object.keys(writers).sort())
  const { reversals } = await undo(since, { by: 'person', writer: 'eva@example.org' })
  await approveAll()
  for (const { seqId } of reversals) await expect(content(seqId)).rejects.toMatchObject({ code: 'not_found' })
})

test('the pages of a Source are undone in all its editions, and by the model that had a part in them', async () => {
  const { ctx, kbId, curator, pages, clock, undo, approveAll } = await newDesk()
  const { id, filename } = await addSource(ctx, { kbId })
  const page = (key: string, content: string): CompiledPage => {
    return { key, kind: 'part', title: key, content, tags: [], place: {}, model: 'm-1' }
  }
  const edition = async (...compiled: CompiledPage[]) => {
    const source = { id, filename, sha256: 'ab'.repeat(32), editionOf: id, sourceUrl: null, isWanted: async () => true }
    await commitSource(ctx, await ctx.kb(curator.tenantId, 'handbook'), source, compiled)
    await approveAll()
  }
  await edition(page('one', 'first'), page('two', 'second'))
  const before = await pages()
  const since = clock()
  await edition(page('one', 'FIRST'), page('three', 'third'))
  expect((await pages()).map(({ title }) => title).sort()).toEqual(['one', 'three'])
  expect((await undo(since, { by: 'model', writer: 'm-1', dryRun: true })).reversals).toHaveLength(2)
  const { reversals } = await undo(since, { by: 'source', writer: id })
  expect(reversals.map(({ title, action }) => [title, action]).sort()).toEqual([
    ['one', 'change'],
    ['three', 'remove'],
    ['two', 'restore'],
  ])
  await approveAll()
  expect(await pages()).toEqual(before)
  expect((await undo(since, { by: 'source', writer: id })).reversals).toEqual([])
})

test('undo of a key takes back the pages of what it uploaded, none that a later edition of others brought', async () => {
  const { ctx, kbId, curator, add, pages, clock, undo, approveAll } = await newDesk()
  const upload = (by: By, filename: string) =>
    addSource(ctx, { kbId, filename, uploader: { id: `key:${by}`, name: by } }, { replace: true })
  const ingest = async ({ id, editionOf, filename }: Source, texts: Record<string, string>) => {
    const compiled = Object.entries(texts).map(([key, content]): CompiledPage => {
      return { key, kind: 'part', title: key, content, tags: [], place: {} }
    })
    const source = { id, filename, sha256: 'ab'.repeat(32), editionOf, sourceUrl: null, isWanted: async () => true }
    await commitSource(ctx, await ctx.kb(curator.tenantId, 'handbook'), source, compiled)
    await ctx.sources.change(id, ['ready'], { status: 'success' })
    await approveAll()
  }
  await ingest(await upload('ada', 'ours.md'), { ours: 'ada', same: 'ada' })
  const before = await pages()
  const since = clock()
  const spam = await upload('bot', 'spam.md')
  await ingest(spam, { spam: 'spam', more: 'spam' })
  await ingest(await upload('bot', 'ours.md'), { ours: 'SPAM', same: 'ada' })
  await add('bot', 'Sent', 'spam')
  await ingest(await upload('bot', 'replaced.md'), { first: 'bot', second: 'bot' })
  await ingest(await upload('ada', 'replaced.md'), { first: 'ada', second: 'bot' })
  // That which failed has replaced nothing.
  await ctx.sources.change((await upload('ada', 'spam.md')).id, ['ready'], { status: 'failed' })
  await ctx.sources.archive(curator.tenantId, spam.id, ctx.now())

  const { entries } = await listQueue(ctx, curator, { status: 'approved', bundles: false, limit: 10 })
  const ofSource = entries.find(({ title }) => title === 'spam')?.id ?? ''
  const { undo: offered } = await reviewCandidate(ctx, curator, ofSource, {})
  expect(offered).toMatchObject({ by: 'source', writer: spam.id })

  const { reversals, kept } = await undo(since)
  expect(reversals.map(({ title, action }) => [title, action]).sort()).toEqual([
    ['Sent', 'remove'],
    ['more', 'remove'],
    ['ours', 'change'],
    ['spam', 'remove'],
  ])
  const theirs = (await pages()).filter(({ title }) => ['first', 'second'].includes(title))
  const reason = 'Somebody else uploaded a later edition of its Source.'
  expect(kept).toEqual(theirs.map(({ seqId }) => ({ seqId, reason })))
  await approveAll()
  expect(await pages()).toEqual(expect.arrayContaining(before))
  expect(await pages()).toHaveLength(before.length + theirs.length)
  expect((await undo(since)).message).toBe(`There is nothing to take back. ${reason}`)
  expect((await undo(since, { writer: 'ada' })).reversals.map(({ title }) => title).sort()).toEqual(['first'])
})

test('a reversal that would move a page back is none that waits, once somebody has moved the page', async () => {
  const { ctx, gitDir, curator, add, change, undo, clock } = await newDesk()
  const seqId = await add('ada', 'Page', 'one\n')
  const { path } = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
  const since = clock()
  await change('bot', seqId, 'ONE\n')
  const [first] = (await undo(since)).reversals
  expect((await undo(since)).reversals).toEqual([first])
  new NativeWriter(gitDir).commit('refs/heads/main', new Map([['neurons/moved.md', { renamedFrom: path }]]))
  await (await ctx.kb(curator.tenantId, 'handbook')).sync()
  const [second] = (await undo(since)).reversals
  expect(second?.candidateId).not.toBe(first?.candidateId)
  await approveCandidate(ctx, curator, second?.candidateId ?? '', {})
  expect(await readNeuron(ctx, curator, { kb: 'handbook', seqId })).toMatchObject({
    path: 'neurons/moved.md',
    content: 'one\n',
  })
})

type Step = { by: By; does: string; page: number; link: number }

const step: fc.Arbitrary<Step> = fc.record({
  by: fc.constantFrom<By>('ada', 'bot'),
  does: fc.constantFrom('add', 'change', 'change', 'rename', 'remove', 'move', 'tag', 'name'),
  page: fc.nat(20),
  link: fc.nat(20),
})

test('undo of all since a time gives what was there, wherever nobody else wrote', async () => {
  const history = fc.record({
    before: fc.array(step, { minLength: 2, maxLength: 5 }),
    since: fc.array(step, { maxLength: 9 }),
    rewriteLinks: fc.boolean(),
    /** Whether the pages of `bot` are made of a Source, and its steps are editions. */
    isSource: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(history, async ({ before, since: later, rewriteLinks, isSource }) => {
      const { ctx, kbId, gitDir, curator, add, change, rewrite, remove, undo, approveAll, pages, clock } =
        await newDesk()
      const native = new NativeWriter(gitDir)
      const settings = native
        .read('refs/heads/main', 'kb.yaml')
        .replace('rewriteLinks: false', `rewriteLinks: ${rewriteLinks}`)
      native.commit('refs/heads/main', new Map([['kb.yaml', settings]]))
      const touched = new Set<string>()
      const { id, filename } = await addSource(ctx, { kbId })
      const writer: Partial<UndoInput> = isSource ? { by: 'source', writer: id } : {}
      const parts = new Map<string, CompiledPage>()
      const edition = async ({ does, page }: Step, title: string, content: string) => {
        const [key, part] = [...parts][page % (parts.size || 1)] ?? []
        const own: CompiledPage = { key: title, kind: 'part', title, content, tags: [], place: {} }
        if (key === undefined || part === undefined || does === 'add') parts.set(title, own)
        else if (does === 'remove') parts.delete(key)
        else if (does === 'tag') parts.set(key, { ...part, tags: [title] })
        else parts.set(key, { ...part, ...(does === 'rename' ? { title } : { content }) })
        const source = {
          id,
          filename,
          sha256: 'ab'.repeat(32),
          editionOf: id,
          sourceUrl: null,
          isWanted: async () => true,
        }
        await commitSource(ctx, await ctx.kb(curator.tenantId, 'handbook'), source, [...parts.values()])
        const { entries } = await listQueue(ctx, curator, { status: 'pending', bundles: false, limit: 50 })
        for (const { id } of entries)
          await approveCandidate(ctx, curator, id, {}).catch(() => dismissCandidate(ctx, curator, id, {}))
      }
      let count = 0
      /** Names that links of ada's go on to lead by. */
      const kept = new Set<string>()
      const play = async (step: Step) => {
        const there = await pages()
        await act(step, there)
        if (step.by === 'bot') return
        for (const { seqId, ...now } of await pages()) {
          const was = there.find((one) => one.seqId === seqId)
          if (was && JSON.stringify({ ...was, ...now }) !== JSON.stringify(was)) touched.add(seqId)
        }
      }
      const act = async (step: Step, there: Awaited<ReturnType<typeof pages>>) => {
        const { by, does, page, link } = step
        count += 1
        const name = `Page ${count}`
        const linked = there[link % (there.length || 1)]?.title ?? 'none'
        if (by === 'ada') kept.add(linked)
        const text = `by ${by}\n\n[[${linked}]] ${name}\n`
        if (isSource && by === 'bot') return edition(step, name, text)
        const one = there[page % (there.length || 1)]
        if (one === undefined || does === 'add') return add(by, name, text)
        if (by === 'ada') touched.add(one.seqId)
        if (does === 'remove') return remove(by, one.seqId)
        if (does === 'rename') return change(by, one.seqId, one.content, name)
        if (does === 'move') return rewrite(by, one.seqId, {}, `neurons/moved/page-${count}.md`)
        if (does === 'tag') return rewrite(by, one.seqId, { tags: [`tag-${count}`] })
        if (does === 'name') return rewrite(by, one.seqId, { aliases: [`Name ${count}`] })
        return change(by, one.seqId, text)
      }
      for (const each of before) await play(each)
      touched.clear()
      const start = await pages()
      const since = clock()
      for (const each of later) await play(each)
      const adas = new Map((await pages()).map(({ seqId, content }) => [seqId, content]))
      const { reversals } = await undo(since, writer)
      const inTheWay = reversals.filter(({ conflicts }) => conflicts)
      for (const { candidateId, seqId } of inTheWay) {
        expect(touched).toContain(seqId)
        await dismissCandidate(ctx, curator, candidateId ?? '', {})
      }
      await approveAll()
      const end = await pages()
      const untouched = (all: typeof end) =>
        all
          .filter(({ seqId }) => !touched.has(seqId))
          .map((page) => ({ ...page, aliases: page.aliases.filter((name) => !kept.has(String(name))) }))
      const added = end.filter(
        ({ seqId, content }) => content.startsWith('by ada') && !start.some((one) => one.seqId === seqId),
      )
      expect(untouched(end).filter(({ seqId }) => !added.some((one) => one.seqId === seqId))).toEqual(untouched(start))
      for (const { seqId } of inTheWay) expect(end.find((one) => one.seqId === seqId)?.content).toBe(adas.get(seqId))
      const again = (await undo(since, writer)).reversals.map(({ seqId }) => seqId)
      expect(again.filter((seqId) => !touched.has(seqId))).toEqual([])
    }),
    { numRuns: runs(15, 4) },
  )
})
