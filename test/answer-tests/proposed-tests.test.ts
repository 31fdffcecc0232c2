import { expect, test } from 'vitest'
import { dismissProposedTest, listProposedTests } from '../../src/answer-tests/proposed-tests.ts'
import { submitFeedback } from '../../src/chat/submit-feedback.ts'
import type { FeedbackInput } from '../../src/contract/chat.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { candidate, correction } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { testedBed } from './tested-bed.ts'

const question = 'Who is paged for a VIP ticket?'

async function corrected() {
  const bed = await testedBed()
  const { ctx, curator, app, take } = bed
  const warden = await take(candidate({ title: 'Warden', content: 'The warden answers at night.' }))
  const vote = (feedback: Partial<FeedbackInput>, caller = curator) =>
    submitFeedback(ctx, caller, 'handbook', { vote: 'down', question, answer: 'A.', reason: 'Old page.', ...feedback })
  const proposed = async () => (await listProposedTests(ctx, curator, 'handbook')).proposed
  return { ...bed, app, warden, vote, proposed }
}

test('a page that a curator names is what the proposed test wants to see cited; the latest one counts', async () => {
  const { vip, warden, hidden, vote, proposed, app } = await corrected()
  const sameWith = { question: 'who is paged for a VIP ticket' }
  await vote({ vote: 'flag', shouldCite: vip })
  await vote({ ...sameWith, shouldCite: warden }, app)
  await vote({ vote: 'up', shouldCite: hidden })
  await vote(sameWith)
  const asTool = { question, audience: 'tool', top: 5 }
  expect(await proposed()).toMatchObject([
    {
      feedback: [
        { vote: 'flag', shouldCite: vip },
        { vote: 'down', shouldCite: warden },
        expect.not.objectContaining({ shouldCite: expect.anything() }),
        expect.not.objectContaining({ shouldCite: expect.anything() }),
      ],
      test: { ...asTool, cites: [warden] },
    },
  ])
  for (const shouldCite of [vip, warden, vip]) await vote({ shouldCite })
  expect((await proposed()).map((one) => one.test)).toEqual([{ ...asTool, cites: [vip] }])
  await vote({ shouldCite: hidden })
  expect((await proposed()).map((one) => one.test)).toEqual([{ ...asTool, audience: 'curator', cites: [hidden] }])
})

test('a page that is gone is not asked for, and what was named before counts again', async () => {
  const { ctx, curator, vip, warden, vote, proposed } = await corrected()
  await vote({ shouldCite: vip })
  await vote({ shouldCite: warden })
  const remove = async (seqId: string) => {
    const { candidateId } = await submitCandidate(ctx, curator, correction(seqId, 'Gone.'), { removes: true })
    await approveCandidate(ctx, curator, candidateId, {})
  }
  await remove(warden)
  expect((await proposed()).map((one) => one.test)).toMatchObject([{ cites: [vip] }])
  await remove(vip)
  expect((await proposed()).map((one) => one.test)).toEqual([{ question, audience: 'tool', top: 5, refuses: false }])
  await expect(vote({ shouldCite: vip })).rejects.toMatchObject({
    fieldErrors: { shouldCite: ['names no Neuron that you see'] },
  })
})

test('nobody names a page that they do not see, and such a vote is not recorded', async () => {
  const { hidden, vip, vote, proposed, app } = await corrected()
  for (const shouldCite of [hidden, 'handbook_00009999'])
    await expect(vote({ shouldCite }, app)).rejects.toMatchObject({
      fieldErrors: { shouldCite: ['names no Neuron that you see'] },
    })
  expect(await proposed()).toEqual([])
  await vote({ shouldCite: vip }, app)
  expect(await proposed()).toHaveLength(1)
})

test('a question that is tested otherwise is proposed with its page until a test cites that', async () => {
  const { ctx, curator, vip, warden, vote, proposed, add, report } = await corrected()
  await add({ question, cites: [vip] })
  await vote({})
  expect(await proposed()).toEqual([])
  await vote({ shouldCite: vip })
  expect(await proposed()).toEqual([])
  await vote({ shouldCite: warden })
  const [one] = await proposed()
  expect(one?.feedback).toHaveLength(3)
  const added = await add(one?.test)
  expect(added.test).toMatchObject({ question, cites: [warden] })
  expect(await report()).toMatchObject({ passed: 1, failed: 1, proposed: [] })

  await vote({ question: 'Why?', shouldCite: warden })
  const { candidates } = await dismissProposedTest(ctx, curator, 'handbook', { question: 'why' })
  expect([candidates.length, await proposed()]).toEqual([1, []])
})

test('of many votes the latest are listed, and the list tells that there are more', async () => {
  const { ctx, curator, vip, vote, proposed } = await corrected()
  const listed = () => listProposedTests(ctx, curator, 'handbook')
  for (let n = 0; n < 49; n++) await vote({ question: `Older ${n}?` })
  expect(await listed()).not.toHaveProperty('moreProposed')
  for (let n = 0; n < 51; n++) await vote({ vote: n === 0 ? 'flag' : 'down', question: `Question ${n}?` })
  await vote({ shouldCite: vip })
  const questions = (await proposed()).map((one) => one.question)
  expect(questions).toHaveLength(50)
  expect(questions.slice(-2)).toEqual(['Question 50?', question])
  expect(await listed()).toMatchObject({ moreProposed: true })
})

test('a dismissal takes every vote on its question, however many came since', async () => {
  const { ctx, curator, vote, proposed } = await corrected()
  const first = await Promise.all(Array.from({ length: 3 }, () => vote({ vote: 'down' })))
  for (let n = 0; n < 52; n++) await vote({ question: `Question ${n}?` })
  expect((await proposed()).map((one) => one.question)).not.toContain(question)
  const { candidates } = await dismissProposedTest(ctx, curator, 'handbook', { question })
  expect(candidates.toSorted()).toEqual(first.map(({ candidateId }) => candidateId).toSorted())
})

test('refused questions that tests ask leave room for the others', async () => {
  const { ctx, kb, proposed, add } = await corrected()
  const refuse = (n: number, refused: number) =>
    ctx.askedQuestions.note(kb.identity.id, `question ${n}`, { refused }, ctx.now())
  for (let n = 0; n < 55; n++) await refuse(n, 2)
  for (let n = 0; n < 52; n++) await add({ question: `Question ${n}?`, refuses: true })
  for (let n = 0; n < 52; n++) await refuse(n, 9)
  expect((await proposed()).map((one) => one.question)).toEqual(['question 52', 'question 53', 'question 54'])
})

test('one sender with many votes leaves room for those of others', async () => {
  const { app, reader, vip, vote, proposed } = await corrected()
  await vote({ shouldCite: vip })
  await vote({ question: 'First of the reader?' }, reader)
  await vote({ question: 'Second of the reader?' }, reader)
  for (let n = 0; n < 55; n++) await vote({ question: `Question ${n}?` }, app)
  const questions = (await proposed()).map((one) => one.question)
  const ofApp = Array.from({ length: 47 }, (_, n) => `Question ${n + 8}?`)
  expect(questions).toEqual([question, 'First of the reader?', 'Second of the reader?', ...ofApp])
})
