import { expect, test } from 'vitest'
import { resultsOf } from '../../src/answer-tests/main-run.ts'
import { readCandidateEffects } from '../../src/answer-tests/read-effects.ts'
import { readTestReport } from '../../src/answer-tests/read-test-report.ts'
import { changesOf } from '../../src/answer-tests/test-effects.ts'
import { readTestFiles } from '../../src/answer-tests/test-files.ts'
import { treeOfCommit } from '../../src/git/objects/object.ts'
import type { ReadableKb } from '../../src/kb/readable-kb.ts'
import { commitToMain } from '../../src/kb/writing/commits.ts'
import { proposePush } from '../../src/push/push-proposals.ts'
import { dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { readSentCandidate } from '../../src/queue/lists/list-candidates.ts'
import { previewedKb } from '../../src/queue/preview/previewed-kb.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { bareId, type Caller } from '../../src/rules/access/caller.ts'
import { kbSearch } from '../../src/search/kb/kb-search.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction } from '../kb/support/test-bed.ts'
import { linkedBed, proposals, propose } from '../queue/preview/proposals.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { eventually } from '../support/eventually.ts'
import { fc, runs } from '../support/properties.ts'
import { testedBed } from './tested-bed.ts'

/** A candidate once its tests were run: a first look waits for two seconds only. */
async function tested(...[ctx, curator, candidateId]: Parameters<typeof readCandidateEffects>) {
  for (;;) {
    const { detail: read } = await readCandidateEffects(ctx, curator, candidateId)
    if (read.effects?.state !== 'running') return read
  }
}

test('a candidate shows which tests its approval breaks, mends and changes', async () => {
  const { ctx, curator, app, vip, commit } = await testedBed()
  await commit({
    'tests/answers.yaml': `- question: Who is paged for a VIP ticket?
  contains: [the lead]
- question: Who is paged for a VIP ticket?
  contains: [the warden]
- question: Who is paged for a VIP ticket?
  retrieves: [${vip}]
- question: Which submarine crosses Antarctica?
  refuses: true
`,
  })
  const text = 'When a VIP customer raises a ticket, page the warden.'
  const { candidateId } = await submitCandidate(ctx, app, correction(vip, text))
  const { effects } = await tested(ctx, curator, candidateId)
  const top = (passage: string) => [{ seqId: vip, title: 'VIP escalation policy', passage }]
  const change = {
    ...{ file: 'tests/answers.yaml', question: 'Who is paged for a VIP ticket?', audience: 'tool' },
    ...{ before: top('When a VIP customer raises a ticket, page the lead.'), after: top(text) },
  }
  expect(effects).toEqual({
    ...{ state: 'tested', tests: 4 },
    broken: [
      { ...change, line: 1, failures: [expect.stringMatching(/does not contain "the lead"; it says: .*warden/)] },
    ],
    mended: [{ ...change, line: 3, failures: [] }],
    changed: [{ ...change, line: 5, failures: [] }],
  })
  const tried = await readTestReport(ctx, curator, 'handbook', { candidate: candidateId })
  expect(tried).toMatchObject({ candidateId, passed: 3, failed: 1 })
  await approveCandidate(ctx, curator, candidateId, {})
  expect((await tested(ctx, curator, candidateId)).effects).toBeUndefined()
  expect((await readTestReport(ctx, curator, 'handbook')).results).toEqual(tried.results)
})

test('what is tested comes into no index', async () => {
  const { ctx, curator, app, vip, kb, commit } = await testedBed()
  await commit({ 'tests/answers.yaml': '- question: Who is paged for a VIP ticket?\n  contains: [the lead]\n' })
  const indexed = () =>
    eventually(async () => {
      await kbSearch(kb, ctx).follow()
      return kbSearch(kb, ctx).currentState ?? expect.fail()
    })
  const before = await indexed()
  const { candidateId } = await submitCandidate(ctx, app, correction(vip, 'Page the warden.'))
  expect((await tested(ctx, curator, candidateId)).effects?.broken).toHaveLength(1)
  expect(await indexed()).toBe(before)
})

test.each(['new', 'changed'])(
  'the tree of a %s page is that of its preview, whose results main keeps',
  async (kind) => {
    const { ctx, curator, app, vip, kb } = await testedBed()
    const text = 'When a VIP customer raises a ticket, page the warden.'
    const { candidateId } = await submitCandidate(
      ctx,
      app,
      kind === 'new' ? candidate({ title: 'Wardens', content: text }) : correction(vip, text),
    )
    const treeOf = async (read: Pick<ReadableKb, 'repository' | 'heads'>) =>
      treeOfCommit((await read.repository.read(read.heads().main ?? '')).data)
    const preview = await treeOf(await previewedKb(ctx, curator, kb, [candidateId]))
    await approveCandidate(ctx, curator, candidateId, {})
    await kb.sync()
    expect(await treeOf(kb)).toBe(preview)
  },
)

test('a candidate that cannot be approved has no results, and one without tests no effects', async () => {
  const { ctx, curator, app, vip, commit, take } = await testedBed()
  const { candidateId } = await submitCandidate(ctx, app, correction(vip, 'Page nobody.'))
  expect((await tested(ctx, curator, candidateId)).effects).toBeUndefined()
  await commit({ 'tests/answers.yaml': '- question: Who?\n  refuses: true\n' })
  expect((await tested(ctx, curator, candidateId)).effects).toMatchObject({ state: 'tested', tests: 1 })
  await take(correction(vip, 'Page everybody.'))
  expect((await tested(ctx, curator, candidateId)).effects).toMatchObject({
    ...{ state: 'failed', reason: expect.stringContaining('conflict') },
    ...{ broken: [], mended: [], changed: [] },
  })
})

test('effects are those that approvals have, and results kept from a preview those of another run', async () => {
  const bed = await linkedBed()
  const { ctx, curator } = bed
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const questions = ['Who is the lead of the night desk?', 'ticket rota pager', 'What of a storm?', 'vip policy']
  await kb.write((staging) =>
    commitToMain(kb, staging, {
      files: new Map([
        [
          'tests/answers.yaml',
          questions
            .map((question, at) => {
              const search = at % 2 === 0 ? '' : ', search: {q: rota, first: handbook_00000002}'
              return `- {question: "${question}", refuses: false${search}}\n`
            })
            .join(''),
        ],
      ]),
      subject: 'Add tests',
      decided: { operator: { id: 'cli', name: 'Operator' } },
      at: new Date(),
    }),
  )
  let changed = 0
  await fc.assert(
    fc.asyncProperty(proposals, async ([first]) => {
      const [id] = first === undefined ? [] : await propose(bed, first)
      if (id === undefined) return
      const before = await readTestReport(ctx, curator, 'handbook')
      const { effects } = await tested(ctx, curator, id)
      const isApproved = await approveCandidate(ctx, curator, id, {}).then(
        () => true,
        () => false,
      )
      expect(effects?.state).toBe(isApproved ? 'tested' : 'failed')
      if (!isApproved) return dismissCandidate(ctx, curator, id, {}).then(() => undefined)
      const after = await readTestReport(ctx, curator, 'handbook')
      const { projection, repository } = kb
      expect(after.results).toEqual(await resultsOf(ctx, kb, await readTestFiles(projection.read, repository)))
      const changes = changesOf(before.results, after.results)
      expect(effects).toEqual({ state: 'tested', tests: questions.length, ...changes })
      changed += Object.values(changes).flat().length
    }),
    { numRuns: runs(25, 6), endOnFailure: true },
  )
  expect(changed).toBeGreaterThan(0)
})

test('what the policy approves waits in the zone of kb.yaml if it breaks a test', async () => {
  const { ctx, curator, app, vip, kb, commit } = await testedBed()
  await commit({ 'tests/answers.yaml': '- question: Who is paged for a VIP ticket?\n  contains: [the lead]\n' })
  const settings = async (onBreak: string) => {
    const text = await kb.repository.readText((await kb.repository.blobAt(kb.heads().main ?? '', 'kb.yaml')) ?? '')
    await commit({ 'kb.yaml': text.replace(/onBreak: \w+/, `onBreak: ${onBreak}`) })
  }
  const send = (text: string) => submitCandidate(ctx, app, correction(vip, text, { confidence: 1 }))
  const harmless = await send('When a VIP customer raises a ticket, page the lead at once.')
  expect(harmless).toMatchObject({ status: 'approved', seqId: vip })

  for (const zone of ['yellow', 'red'] as const) {
    await settings(zone)
    const { status, candidateId } = await send(`When a VIP customer raises a ticket, page nobody: ${zone}.`)
    expect(status).toBe('pending')
    const { zone: shown, effects } = await tested(ctx, curator, candidateId)
    expect([shown, effects?.broken.length]).toEqual([zone, 1])
    const { warnings } = await readCandidate(ctx, curator, candidateId)
    expect(warnings).toContain('It breaks the answer test "Who is paged for a VIP ticket?".')
    const { verdict } = await readSentCandidate(ctx, app, candidateId)
    expect(verdict).toEqual({ zone, reason: 'it breaks an answer test' })
    await dismissCandidate(ctx, curator, candidateId, {})
  }
  await settings('allow')
  expect(await send('When a VIP customer raises a ticket, page nobody.')).toMatchObject({ status: 'approved' })
  expect(await readTestReport(ctx, curator, 'handbook')).toMatchObject({ failed: 1 })
})

test('no candidate that the policy approves breaks a test, however many come at once', async () => {
  const { ctx, curator, app, vip, commit } = await testedBed()
  await commit({ 'tests/answers.yaml': '- question: Who is paged for a VIP ticket?\n  contains: [the lead]\n' })
  const sent = await Promise.all(
    Array.from({ length: 12 }, (_, number) =>
      submitCandidate(
        ctx,
        app,
        number % 2 === 0
          ? candidate({ title: `Page ${number}`, content: `Text ${number} of the handbook.`, confidence: 1 })
          : correction(vip, `When a VIP customer raises a ticket, page nobody: ${number}.`, { confidence: 1 }),
      ),
    ),
  )
  expect(sent.map(({ status }) => status)).toEqual(sent.map((_, at) => (at % 2 === 0 ? 'approved' : 'pending')))
  expect(await readTestReport(ctx, curator, 'handbook')).toMatchObject({ passed: 1, failed: 0 })
  const again = await submitCandidate(ctx, app, candidate({ title: 'One more', confidence: 1 }))
  expect(again.status).toBe('approved')
})

test('what is revised while the policy has it tested waits for a curator', async () => {
  const { ctx, curator, app, kb, gitDir, commit } = await testedBed()
  await commit({ 'tests/answers.yaml': '- question: Who is paged for a VIP ticket?\n  contains: [the lead]\n' })
  const native = new NativeWriter(gitDir)
  const path = 'neurons/nobody.md'
  const revise = async (id: string) => {
    const main = native.git('rev-parse', 'refs/heads/main')
    const page = `---\ncandidate: ${id}\n---\nWhen a VIP customer raises a ticket, page nobody.\n`
    native.commit('refs/heads/work', new Map([[path, page]]), { parents: [main] })
    const [after, to] = [`work:${path}`, 'work'].map((name) => native.git('rev-parse', `refs/heads/${name}`))
    const origin = { door: 'for', by: bareId(curator) } as const
    const changes = [{ path, after: after ?? '' }]
    const range = { from: main, to: to ?? '' }
    const proposer = { id: `git:${bareId(curator)}`, name: curator.name }
    return proposePush(kb, { changes, range, proposer, origin }, ctx.now)
  }
  let revised: Awaited<ReturnType<typeof revise>> | undefined
  const effects: typeof ctx.tests.effects = async (of, ids) => {
    const found = await ctx.tests.effects(of, ids)
    revised ??= await revise(ids[0] ?? '')
    return found ?? Promise.reject(new Error('There are no tests.'))
  }
  const sent = await submitCandidate(
    { ...ctx, tests: { ...ctx.tests, effects } },
    app,
    candidate({ title: 'Nobody', confidence: 1 }),
  )
  expect(revised).toMatchObject([{ candidateId: sent.candidateId, state: 'updated' }])
  expect(sent.status).toBe('pending')
  expect(await readTestReport(ctx, curator, 'handbook')).toMatchObject({ passed: 1, failed: 0 })
  const { verdict } = await readSentCandidate(ctx, app, sent.candidateId)
  expect(verdict.reason).toBe('it was revised before its answer tests were run')
})

test('what one agent sends holds up no other, and no look of a curator', async () => {
  const { ctx, app, vip, kb, commit } = await testedBed()
  await commit({ 'tests/answers.yaml': '- question: Who is paged for a VIP ticket?\n  contains: [the lead]\n' })
  const order: string[] = []
  const send = async (caller: Caller, title: string) => {
    await submitCandidate(ctx, caller, candidate({ title, content: `About ${title}.`, confidence: 1 }))
    order.push(caller.name)
  }
  const { candidateId } = await submitCandidate(ctx, app, correction(vip, 'Page the warden.'))
  const flood = Array.from({ length: 16 }, (_, at) => send({ ...app, name: 'flood' }, `Page ${at}`))
  const look = ctx.tests.effects(kb, [candidateId])?.then(() => order.push('look'))
  await Promise.all([...flood, look, send({ ...app, id: 'key:other', name: 'other' }, 'Another')])
  expect(order.indexOf('other')).toBeLessThan(4)
  expect(order.indexOf('look')).toBeLessThan(8)
})

test('of very many looks at once those that nobody would find are not run', async () => {
  const { ctx, app, vip, kb, commit } = await testedBed()
  await commit({ 'tests/answers.yaml': '- question: Who is paged for a VIP ticket?\n  contains: [the lead]\n' })
  const { candidateId } = await submitCandidate(ctx, app, correction(vip, 'Page the warden.'))
  const looks = Array.from({ length: 202 }, (_, at) => ctx.tests.effects(kb, Array(at + 1).fill(candidateId)))
  const states = (await Promise.all(looks)).map((effects) => effects?.state)
  expect(states.slice(0, 3)).toEqual(['failed', 'failed', 'tested'])
})
