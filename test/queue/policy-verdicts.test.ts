import { expect, test } from 'vitest'
import type { TestEffects } from '../../src/contract/answer-tests.ts'
import { GanglionError } from '../../src/contract/errors.ts'
import type { Context } from '../../src/kb/context.ts'
import { findCandidate } from '../../src/kb/projection/candidate-index.ts'
import { recordCandidate } from '../../src/kb/writing/commits.ts'
import { parseCandidate } from '../../src/markdown/file/candidate-file.ts'
import { verify } from '../../src/operate/verify/verify.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { listCandidates, readSentCandidate } from '../../src/queue/lists/list-candidates.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { testedBed } from '../answer-tests/tested-bed.ts'
import { candidate, correction } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'

const tests = '- question: Who is paged for a VIP ticket?\n  contains: [the lead]\n'

/** A knowledge base whose answer tests run until they are let go. */
async function heldBed() {
  const bed = await testedBed()
  await bed.commit({ 'tests/answers.yaml': tests })
  const { effects } = bed.ctx.tests
  const held = Promise.withResolvers<void>()
  let asked = 0
  bed.ctx.tests.effects = (...of) => {
    asked++
    return held.promise.then(() => effects(...of) ?? Promise.reject(new Error('There are no tests.')))
  }
  const told = async (candidateId: string) => {
    const events = await bed.ctx.events.after(bed.app.tenantId, 0, 1000)
    return events
      .filter(({ kind, data }) => kind.startsWith('candidate.') && data.candidateId === candidateId)
      .map(({ kind, data }) => [kind, data.status])
  }
  const all = async () => {
    const { candidates } = await listCandidates(bed.ctx, bed.curator, { limit: 100 })
    return candidates.map(({ candidateId }) => candidateId)
  }
  return { ...bed, letGo: held.resolve, asked: () => asked, told, all }
}

test('answer tests hold no answer for long: the candidate is the answer, and the verdict an event', async () => {
  const { ctx, app, vip, letGo, told } = await heldBed()
  const sent = [
    candidate({ title: 'Bicycles', content: 'A page about bicycles.', confidence: 1 }),
    correction(vip, 'When a VIP customer raises a ticket, page nobody.', { confidence: 1 }),
  ]
  const submit = () =>
    Promise.all(sent.map((input, at) => submitCandidate(ctx, app, input, { idempotencyKey: `key ${at}` })))
  const receipts = await submit()
  const waiting = { status: 'pending', warnings: [expect.objectContaining({ code: 'verdict_pending' })] }
  expect(receipts).toEqual([expect.objectContaining(waiting), expect.objectContaining(waiting)])
  letGo()
  const [harmless = '', breaking = ''] = receipts.map(({ candidateId }) => candidateId)
  await eventually(async () => {
    expect(await told(harmless)).toEqual([
      ['candidate.created', 'pending'],
      ['candidate.approved', 'approved'],
    ])
    expect(await told(breaking)).toEqual([
      ['candidate.created', 'pending'],
      ['candidate.held', 'pending'],
    ])
  })
  const verdict = { zone: 'yellow', reason: 'it breaks an answer test' }
  expect(await readSentCandidate(ctx, app, breaking)).toMatchObject({ status: 'pending', verdict })
  expect(await submit()).toEqual(receipts)
})

test('an error while answer tests are run makes no second candidate, and is tried again', async () => {
  const { ctx, app, curator, all } = await heldBed()
  let fails = true
  const none: TestEffects = { state: 'tested', tests: 1, broken: [], mended: [], changed: [] }
  ctx.tests.effects = () =>
    fails ? Promise.reject(new GanglionError('unavailable', 'Main changes faster.')) : Promise.resolve(none)
  const before = await all()
  const submit = () =>
    submitCandidate(ctx, app, candidate({ title: 'Once', confidence: 1 }), { idempotencyKey: 'once' })
  const receipt = await submit()
  expect(receipt.status).toBe('pending')
  expect(await submit()).toEqual(receipt)
  expect((await all()).filter((id) => !before.includes(id))).toEqual([receipt.candidateId])
  fails = false
  await eventually(async () => expect((await readCandidate(ctx, curator, receipt.candidateId)).status).toBe('approved'))
})

test('a verdict that a process did not live to give is given after the next start', async () => {
  const { ctx, app, curator, reopen } = await heldBed()
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Later', confidence: 1 }))
  const again = await reopen({ watch: { onError: () => {} } })
  await eventually(async () => expect((await readCandidate(again, curator, candidateId)).status).toBe('approved'))
})

/** Submits eight equal texts for a new page and for a correction, while the answer tests are held. */
async function submitEqual({ ctx, app, vip }: Awaited<ReturnType<typeof heldBed>>) {
  const page = candidate({ title: 'Bicycles', content: 'A page about bicycles.', confidence: 1 })
  const fix = correction(vip, 'When a VIP customer raises a ticket, page the lead at once.', { confidence: 1 })
  const sent = [page, fix].map((input) => Array.from({ length: 8 }, () => submitCandidate(ctx, app, input)))
  const [added = [], corrected = []] = await Promise.all(sent.map((all) => Promise.all(all)))
  return { added, corrected, all: [...added, ...corrected] }
}

async function expectOneVersionEach(
  ctx: Context,
  curator: Caller,
  { added, corrected, all }: Awaited<ReturnType<typeof submitEqual>>,
): Promise<void> {
  const read = (of: { candidateId: string }[]) =>
    Promise.all(of.map(({ candidateId }) => readCandidate(ctx, curator, candidateId)))
  await eventually(async () =>
    expect(new Set((await read(all)).map(({ status }) => status))).toEqual(new Set(['approved'])),
  )
  const [pages, fixed] = [await read(added), await read(corrected)].map((of) => new Set(of.map(({ seqId }) => seqId)))
  expect([pages?.size, fixed?.size]).toEqual([1, 1])
  const versionOf = async (ids = new Set<string | undefined>()) =>
    (await readNeuron(ctx, curator, { kb: 'handbook', seqId: String([...ids][0]) })).version
  expect([await versionOf(pages), await versionOf(fixed)]).toEqual([1, 2])
  expect((await verify(ctx)).kbs.flatMap(({ problems }) => problems)).toEqual([])
}

test('equal texts that wait for answer tests at once become one page, or one version', async () => {
  const bed = await heldBed()
  const sent = await submitEqual(bed)
  expect(new Set(sent.all.map(({ status }) => status))).toEqual(new Set(['pending']))
  bed.letGo()
  await expectOneVersionEach(bed.ctx, bed.curator, sent)
})

test('equal texts whose process did not live to approve them become one page, or one version', async () => {
  const bed = await heldBed()
  const sent = await submitEqual(bed)
  await expectOneVersionEach(await bed.reopen({ watch: { onError: () => {} } }), bed.curator, sent)
})

test('a receipt tells of an equal text that was approved while it was tested', async () => {
  const { ctx, app, letGo } = await heldBed()
  letGo()
  const two = candidate({ title: 'Two', content: 'Two leads are on call.', confidence: 1 })
  const sent = Array.from({ length: 2 }, () => submitCandidate(ctx, app, two))
  const warnings = (await Promise.all(sent)).map((receipt) => [receipt.status, receipt.warnings?.[0]?.code])
  expect(warnings).toEqual([
    ['approved', undefined],
    ['approved', 'unchanged'],
  ])
})

test('a page that the sender may not see is not equal when the policy decides', async () => {
  const { ctx, app, curator, letGo, take } = await heldBed()
  const text = { title: 'Secret', content: 'A page about the secret of the house.' }
  const sent = await submitCandidate(ctx, app, candidate({ ...text, confidence: 1 }))
  const hidden = await take(candidate({ ...text, metadata: '{"tags":["internal"]}' }))
  letGo()
  await eventually(async () => {
    const { status, seqId } = await readCandidate(ctx, curator, sent.candidateId)
    expect([status, seqId === hidden]).toEqual(['approved', false])
  })
})

test('what a curator decides meanwhile stands', async () => {
  const { ctx, app, curator, letGo, asked, take, told } = await heldBed()
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Mine', confidence: 1 }))
  await dismissCandidate(ctx, curator, candidateId, { reason: 'No.' })
  expect(asked()).toBe(1)
  letGo()
  const later = await submitCandidate(ctx, app, candidate({ title: 'Other', content: 'Of pumps.', confidence: 1 }))
  await eventually(async () => expect((await readCandidate(ctx, curator, later.candidateId)).status).toBe('approved'))
  expect((await readCandidate(ctx, curator, candidateId)).status).toBe('dismissed')
  await take(candidate({ title: 'Last', content: 'Of saddles.' }))
  await eventually(async () =>
    expect(await told(candidateId)).toEqual([
      ['candidate.created', 'pending'],
      ['candidate.dismissed', 'dismissed'],
    ]),
  )
})

test('a text that takes the place of the tested one is tested itself', async () => {
  const { ctx, app, curator, vip } = await testedBed().then(async (bed) => {
    await bed.commit({ 'tests/answers.yaml': tests })
    return bed
  })
  const kb = await ctx.kb(app.tenantId, 'handbook')
  const { effects } = ctx.tests
  let isChanged = false
  ctx.tests.effects = async (of, ids) => {
    const found = (await effects(of, ids)) ?? Promise.reject(new Error('There are no tests.'))
    if (!isChanged) {
      await kb.write(async (staging) => {
        const record = parseCandidate(
          await staging.readText(findCandidate(kb.projection.write, ids[0] ?? '')?.blob ?? ''),
        )
        const content = 'When a VIP customer raises a ticket, page nobody.'
        await recordCandidate(kb, staging, { ...record, content }, 'Propose')
      })
    }
    isChanged = true
    return found
  }
  const harmless = 'When a VIP customer raises a ticket, page the lead at once.'
  const { candidateId } = await submitCandidate(ctx, app, correction(vip, harmless, { confidence: 1 }))
  const read = () => readCandidate(ctx, curator, candidateId)
  await eventually(async () => expect(await read()).toMatchObject({ status: 'pending', zone: 'yellow' }))
})
