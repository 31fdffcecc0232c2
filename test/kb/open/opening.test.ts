import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { loadKb } from '../../../src/app/load-kb.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import type { KbIdentity } from '../../../src/kb/kb-identity.ts'
import { mostOpenWith, OpenKbs } from '../../../src/kb/open/open-kbs.ts'
import { Projection } from '../../../src/kb/projection/projection.ts'
import { commitToMain } from '../../../src/kb/writing/commits.ts'
import { readFile } from '../../../src/pages/attachments/read-file.ts'
import { findNames } from '../../../src/pages/graph/find-names.ts'
import { listKnowledgeBases } from '../../../src/pages/list-knowledge-bases.ts'
import { listNeurons } from '../../../src/pages/list-neurons.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { listCandidates } from '../../../src/queue/lists/list-candidates.ts'
import { listQueue } from '../../../src/queue/lists/list-queue.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { searchEverywhere, searchTenant } from '../../../src/search/kb/search-pages.ts'
import { inUse } from '../../../src/system/concurrency/present-work.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { followMainOnly, holdUp } from '../support/half-opened.ts'
import { NativeWriter } from '../support/native-writer.ts'
import { candidate, newTestBed, type TestBed } from '../support/test-bed.ts'

const everything = { kb: 'handbook', limit: 50 }

/** Two Neurons, one of which only the policy has approved and names a file, a hidden one, and a waiting candidate. */
async function filledBed() {
  const bed = await newTestBed()
  const { ctx, curator, app, gitDir } = bed
  const approved = async (title: string, changes: Parameters<typeof candidate>[0] = {}) => {
    const { candidateId } = await submitCandidate(ctx, app, candidate({ title, ...changes }))
    return (await approveCandidate(ctx, curator, candidateId, {})).seqId
  }
  new NativeWriter(gitDir).commit('refs/heads/main', new Map([['neurons/secret.png', 'secret']]))
  const open = await approved('Open page')
  const hidden = await approved('Hidden page', { metadata: JSON.stringify({ tags: ['internal'] }) })
  const byPolicy = await submitCandidate(
    ctx,
    app,
    candidate({ kind: 'user-correction', title: 'Greedy page', content: '![[secret.png]]', confidence: 1 }),
  )
  expect(byPolicy).toMatchObject({ status: 'approved' })
  const waiting = await submitCandidate(ctx, app, candidate({ title: 'Waiting page' }))
  return { bed, open, hidden, greedy: String(byPolicy.seqId), waiting: waiting.candidateId }
}

test('a first opening follows main, then the candidates', async () => {
  const { bed, open } = await filledBed()
  const { ctx, curator } = bed
  const heads = (await ctx.kb(curator.tenantId, 'handbook')).heads()
  await ctx.close()
  rmSync(join(bed.dataDir, 'index'), { recursive: true })
  const steps: unknown[] = []
  const commit = Projection.prototype.commit
  const spy = vi.spyOn(Projection.prototype, 'commit').mockImplementation(function (this: Projection) {
    steps.push(this.heads(this.write))
    commit.call(this)
  })
  onTestFinished(() => spy.mockRestore())
  const reopened = await bed.reopen()
  expect(await readNeuron(reopened, bed.reader, { kb: 'handbook', seqId: open })).toMatchObject({ title: 'Open page' })
  expect((await listCandidates(reopened, curator, everything)).candidates).toHaveLength(4)
  const { main, queue } = heads
  expect(steps).toEqual([
    { main, queue: undefined },
    { main, queue },
  ])
})

test('until the candidates are followed, Neurons are read as ever, and whatever candidates decide waits', async () => {
  const { bed, open, hidden, greedy, waiting } = await filledBed()
  const { reader, curator } = bed
  const look = async (ctx: TestBed['ctx']) => ({
    open: await readNeuron(ctx, reader, { kb: 'handbook', seqId: open }),
    hidden: await readNeuron(ctx, reader, { kb: 'handbook', seqId: hidden }).catch(({ code }) => code),
    shown: await readNeuron(ctx, curator, { kb: 'handbook', seqId: hidden }),
    listed: await listNeurons(ctx, reader, 'handbook', { limit: 10 }),
    named: await findNames(ctx, reader, 'handbook', { q: 'page', limit: 10 }),
    found: await searchTenant(ctx, reader, { kb: 'handbook', q: 'page', kind: 'all', limit: 10 }),
  })
  const waits = (ctx: TestBed['ctx']) => [
    listCandidates(ctx, curator, everything),
    readNeuron(ctx, reader, { kb: 'handbook', seqId: greedy }),
    readFile(ctx, reader, 'handbook', 'neurons/secret.png').catch(({ code }) => code),
  ]
  const before = await look(bed.ctx)
  expect(before).toMatchObject({ hidden: 'not_found', listed: { neurons: { length: 2 } }, named: { length: 2 } })
  const answers = await Promise.all(waits(bed.ctx))
  expect(answers).toMatchObject([{ candidates: { length: 4 } }, { title: 'Greedy page' }, 'not_found'])

  const { letGo } = holdUp(await followMainOnly(bed))
  const ctx = await bed.reopen()
  expect(await look(ctx)).toEqual(before)
  const settled = vi.fn()
  const waiters = waits(ctx)
  const approving = approveCandidate(ctx, curator, waiting, {})
  const submitting = submitCandidate(ctx, bed.app, candidate({ title: 'Late page' }))
  for (const waiter of [...waiters, approving, submitting]) waiter.finally(settled).catch(() => {})
  await delay(100)
  expect(await look(ctx)).toEqual(before)
  expect(settled).not.toHaveBeenCalled()

  letGo()
  const { seqId } = await approving
  expect(await submitting).toMatchObject({ status: 'pending' })
  expect((await Promise.all(waiters)).slice(1)).toEqual(answers.slice(1))
  expect(await readNeuron(ctx, reader, { kb: 'handbook', seqId })).toMatchObject({ title: 'Waiting page' })
  const { candidates } = await listCandidates(ctx, curator, everything)
  const status = Object.fromEntries(candidates.map((row) => [row.title, row.status]))
  expect(status).toEqual({
    ...{ 'Open page': 'approved', 'Hidden page': 'approved', 'Greedy page': 'approved', 'Waiting page': 'approved' },
    'Late page': 'pending',
  })
})

test('what reaches main before the candidates are followed is read only with them', async () => {
  const { bed, open } = await filledBed()
  const { letGo } = holdUp(await followMainOnly(bed))
  const ctx = await bed.reopen()
  const read = () => readNeuron(ctx, bed.reader, { kb: 'handbook', seqId: open })
  expect((await read()).version).toBe(1)
  const native = new NativeWriter(bed.gitDir)
  const { path } = await read()
  const text = native.git('cat-file', 'blob', `refs/heads/main:${path}`)
  native.commit('refs/heads/main', new Map([[path, `${text}\nOne line more.\n`]]))
  const reading = read()
  const settled = vi.fn()
  reading.then(settled)
  await delay(100)
  expect(settled).not.toHaveBeenCalled()
  letGo()
  expect(await reading).toMatchObject({ version: 2, content: expect.stringContaining('One line more.') })
})

test('where the queue cannot be followed, Neurons are read, and the queue is listed as soon as it can be', async () => {
  const { bed, open } = await filledBed()
  const native = new NativeWriter(bed.gitDir)
  const queue = native.git('rev-parse', 'refs/ganglion/queue')
  await followMainOnly(bed)
  writeFileSync(
    join(bed.gitDir, 'refs/ganglion/queue'),
    `${'12'.repeat(20)}
`,
  )
  const ctx = await bed.reopen()
  for (let round = 0; round < 3; round++) {
    await expect(listCandidates(ctx, bed.curator, everything)).rejects.toThrow()
    expect(await readNeuron(ctx, bed.reader, { kb: 'handbook', seqId: open })).toMatchObject({ version: 1 })
  }
  native.git('update-ref', 'refs/ganglion/queue', queue)
  expect((await listCandidates(ctx, bed.curator, everything)).candidates).toHaveLength(4)
})

test('knowledge bases are listed without being opened, and one that is damaged by its slug', async () => {
  const { ctx, curator, gitDir } = await newTestBed()
  await createKnowledgeBase(ctx, { slug: 'second', tenant: 'acme', title: 'The second' })
  const { knowledgeBases } = await listKnowledgeBases(ctx, curator)
  expect(knowledgeBases).toMatchObject([{ slug: 'handbook' }, { slug: 'second', title: 'The second', language: 'en' }])
  expect((await listCandidates(ctx, curator, { limit: 50 })).candidates).toEqual([])
  expect(ctx.kbs.identities().map(({ slug }) => slug)).toEqual([])
  writeFileSync(join(gitDir, 'refs/heads/main'), '')
  expect(await listKnowledgeBases(ctx, curator)).toEqual({ knowledgeBases })
  const words = { q: 'word', kind: 'all', isTyping: false } as const
  expect(await searchEverywhere(ctx, curator, words)).toMatchObject([{ kb: { slug: 'handbook' }, isUnavailable: true }])
  const third = await createKnowledgeBase(ctx, { slug: 'third', tenant: 'acme' })
  rmSync(join(third.gitDir, 'objects'), { recursive: true })
  expect(await searchEverywhere(ctx, curator, words)).toMatchObject([
    { kb: { slug: 'handbook' } },
    { kb: { slug: 'third' }, isUnavailable: true },
  ])
  const queue = await listQueue(ctx, curator, { kb: 'second', limit: 50 })
  expect(queue.knowledgeBases.map(({ title }) => title)).toEqual(['handbook', 'The second', 'third'])
})

test('where there is room for two, five are used in turn, and one in use is never closed', async () => {
  const { ctx, curator } = await newTestBed()
  for (const slug of ['two', 'three', 'four', 'five']) await createKnowledgeBase(ctx, { slug, tenant: 'acme' })
  const [first, ...others] = await ctx.knowledgeBases.list(curator.tenantId)
  if (first === undefined) throw new Error('There are five.')
  let [most, open] = [0, 0]
  const load = async (identity: KbIdentity) => {
    most = Math.max(most, ++open)
    const loaded = await loadKb(ctx, identity, { onError })
    return { ...loaded, close: () => loaded.close().finally(() => open--) }
  }
  const onError = vi.fn()
  const kbs = new OpenKbs(load, onError, { most: 2, patience: 2_000 })
  onTestFinished(() => kbs.close())
  await inUse(async () => {
    const held = await kbs.open(first)
    const pass = async (identity: KbIdentity) => {
      const kb = await kbs.open(identity)
      await kb.write(async (staging) => {
        const files = new Map([['neurons/note.md', `A note in ${identity.slug}.`]])
        await commitToMain(kb, staging, {
          decided: { operator: { id: 'cli', name: 'Operator' } },
          files,
          subject: 'Write',
          at: new Date(),
        })
      })
      return (await kb.settings()).language
    }
    for (let round = 0; round < 2; round++) {
      for (const identity of others) expect(await inUse(() => pass(identity))).toBe('en')
    }
    expect(await Promise.all(others.map((identity) => inUse(() => pass(identity))))).toHaveLength(4)
    expect(await held.settings()).toMatchObject({ language: 'en' })
    expect(most).toBe(2)
    const [second, third] = others
    if (second === undefined || third === undefined) throw new Error('There are five.')
    await inUse(async () => {
      await kbs.open(second)
      await expect(kbs.open(third)).rejects.toMatchObject({ code: 'unavailable' })
      const waiting = inUse(() => pass(third))
      await delay(50)
      return { waiting }
    }).then(({ waiting }) => waiting)
  })
  expect(most).toBe(2)
  expect(onError).not.toHaveBeenCalled()
  expect(mostOpenWith(1024)).toBe(42)
})
