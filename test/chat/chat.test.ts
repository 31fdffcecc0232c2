import { expect, test } from 'vitest'
import { chat } from '../../src/chat/answer-question.ts'
import type { Answer, Answerer, Question, Turn } from '../../src/chat/answerer.ts'
import { ChatInput } from '../../src/contract/chat.ts'
import { GanglionError } from '../../src/contract/errors.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

/** Answers with what it was given, and keeps what it was asked. */
function echo(answer: Partial<Answer> = {}): Answerer & { asked: Question[] } {
  const asked: Question[] = []
  return {
    asked,
    async *answer(question) {
      asked.push(question)
      const cited = [...new Set(question.passages.map(({ seqId }) => seqId))]
      yield 'Found: '
      yield cited.join(' ')
      return { text: `Found: ${cited.join(' ')}`, cited, answeredBy: 'echo', ...answer }
    },
  }
}

async function ask(
  { ctx, app }: TestBed,
  input: Record<string, unknown>,
  {
    answerer = echo(),
    caller = app,
    signal = new AbortController().signal,
  }: { answerer?: Answerer; caller?: Caller; signal?: AbortSignal } = {},
) {
  const question = 'messages' in input ? input : { message: 'Who is paged?', ...input }
  const answering = chat(ctx, answerer, caller, ChatInput.parse(question), signal)
  const deltas: string[] = []
  for (;;) {
    const { done, value } = await answering.next()
    if (done) return { ...value, deltas }
    deltas.push(value)
  }
}

/** Two Neurons on one subject, of which one is for curators only. */
async function handbook(): Promise<TestBed> {
  const bed = await newTestBed()
  const neurons = [
    candidate({ content: 'When a VIP customer raises a ticket, the lead is paged.', confidence: 1 }),
    candidate({
      title: 'Paged by the board',
      content: 'The chairman is paged as well.',
      metadata: '{"tags":["internal"]}',
      confidence: 1,
    }),
  ]
  for (const neuron of neurons) await submitCandidate(bed.ctx, bed.app, neuron)
  return bed
}

const kb = { kb: 'handbook' }
const notFound = new GanglionError('not_found')

test('an answer names its session, its turn and the Neurons that it cites', async () => {
  const bed = await handbook()
  const answerer = echo()
  const answer = await ask(bed, kb, { answerer })
  expect(answer).toEqual({
    deltas: ['Found: ', 'handbook_00000001'],
    answer: 'Found: handbook_00000001',
    sessionId: expect.any(String),
    turnId: expect.any(String),
    citations: [
      {
        documentId: answerer.asked[0]?.passages[0]?.documentId,
        path: expect.stringMatching(/^neurons\/.*\/vip-escalation-policy-[0-9a-f]{6}\.md$/),
        filename: expect.stringMatching(/^vip-escalation-policy-[0-9a-f]{6}\.md$/),
        seqId: 'handbook_00000001',
        title: 'VIP escalation policy',
        url: '/api/v1/neurons/handbook/handbook_00000001',
        commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      },
    ],
    answeredBy: 'echo',
    grounded: 'partly',
  })
  expect(answerer.asked).toMatchObject([
    { message: 'Who is paged?', history: [], tone: 'plain and friendly', audience: 'tool', language: 'en' },
  ])
})

test('a session goes on with what was said in it, also where the knowledge base is left out', async () => {
  const bed = await handbook()
  const answerer = echo()
  const { sessionId } = await ask(bed, kb, { answerer })
  const second = await ask(bed, { ...kb, sessionId, message: 'And at night?' }, { answerer })
  const third = await ask(bed, { sessionId, message: 'And on Sundays?' }, { answerer })
  expect([second.sessionId, third.sessionId]).toEqual([sessionId, sessionId])
  expect(answerer.asked.map(({ history }) => history.map(({ question }) => question))).toEqual([
    [],
    ['Who is paged?'],
    ['Who is paged?', 'And at night?'],
  ])
  // The follow-up alone says nothing that could be found.
  expect(answerer.asked[1]?.passages.map(({ seqId }) => seqId)).toEqual(['handbook_00000001'])
})

test('a question in another language is searched in that of the pages, where somebody translates it', async () => {
  const bed = await handbook()
  const asked: unknown[] = []
  const translating = (words: string | undefined) =>
    Object.assign(echo(), {
      searchWords: async (...question: unknown[]) => {
        asked.push(question.slice(0, 2))
        return words
      },
    })
  const found = async (message: string, words: string | undefined) => {
    const answerer = translating(words)
    await ask(bed, { ...kb, message }, { answerer })
    return answerer.asked[0]?.passages.map(({ seqId }) => seqId)
  }
  expect(await found('Wer wird gerufen, wenn es brennt?', 'who is paged')).toEqual(['handbook_00000001'])
  expect(await found('谁被呼叫？', 'lead paged')).toEqual(['handbook_00000001'])
  expect(await found('谁被呼叫？', undefined)).toEqual([])
  expect(asked).toEqual([
    ['Wer wird gerufen, wenn es brennt?', 'en'],
    ['谁被呼叫？', 'en'],
    ['谁被呼叫？', 'en'],
  ])
  // What the translation does not find, the question itself may.
  expect(await found('Was ist mit dem VIP customer?', 'zebra')).toEqual(['handbook_00000001'])
  expect(await found('Who is paged?', 'zebra')).toEqual(['handbook_00000001'])
  expect(asked).toHaveLength(4)
})

test('ten turns are enough to go on with', async () => {
  const bed = await handbook()
  const answerer = echo()
  const { sessionId } = await ask(bed, { ...kb, message: 'q0' }, { answerer })
  for (let number = 1; number <= 11; number++) await ask(bed, { sessionId, message: `q${number}` }, { answerer })
  const { history = [] } = answerer.asked.at(-1) ?? {}
  expect([history.length, history[0]?.question, history.at(-1)?.question]).toEqual([10, 'q1', 'q10'])
})

test('a client may keep the history itself; that of a session comes first', async () => {
  const bed = await handbook()
  const answerer = echo()
  const messages = [
    { role: 'user', content: 'Hello?' },
    { role: 'assistant', content: 'Hello.' },
    { role: 'user', content: 'Who is paged?' },
  ]
  const { sessionId } = await ask(bed, { ...kb, messages }, { answerer })
  await ask(bed, { ...kb, messages, sessionId }, { answerer })
  expect(answerer.asked[0]).toMatchObject({
    message: 'Who is paged?',
    history: [{ question: 'Hello?', answer: 'Hello.' }],
  })
  expect(answerer.asked[1]?.history).toMatchObject([{ question: 'Who is paged?' }])
})

test('a session is its tenant’s, its knowledge base’s and its audience’s', async () => {
  const bed = await handbook()
  const { ctx, app, curator } = bed
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'other' })
  await createKnowledgeBase(ctx, { tenant: 'foreign', slug: 'handbook' })
  const stranger = { ...app, tenantId: (await ctx.tenants.find('foreign'))?.id ?? '' }
  const { sessionId } = await ask(bed, kb)
  const refused: [Record<string, unknown>, Caller?][] = [
    [{ ...kb, sessionId }, stranger],
    [{ sessionId }, stranger],
    [{ kb: 'other', sessionId }],
    [{ ...kb, sessionId, audience: 'public' }],
    [{ ...kb, sessionId, audience: 'curator' }, curator],
    [{ ...kb, sessionId: '019b9c9a-7a00-7b1c-8d2e-3f4a5b6c7d8e' }],
    [{ sessionId: 'none' }],
  ]
  for (const [question, caller = app] of refused) {
    await expect(ask(bed, question, { caller }), JSON.stringify(question)).rejects.toThrow(notFound)
  }
  const ofCurator = await ask(bed, { ...kb, audience: 'curator' }, { caller: curator })
  await expect(ask(bed, { ...kb, sessionId: ofCurator.sessionId })).rejects.toThrow(notFound)
  expect(await ask(bed, { ...kb, sessionId, audience: 'curator' })).toMatchObject({ sessionId })
})

test('only a curator is given what is for curators', async () => {
  const bed = await handbook()
  const seen = async (caller: Caller, audience: string) =>
    (await ask(bed, { ...kb, audience }, { caller })).citations?.map(({ seqId }) => seqId).sort()
  const both = ['handbook_00000001', 'handbook_00000002']
  expect(await seen(bed.curator, 'curator')).toEqual(both)
  expect(await seen(bed.curator, 'tool')).toEqual(both.slice(0, 1))
  for (const caller of [bed.app, bed.reader]) {
    for (const audience of ['curator', 'tool', 'public']) expect(await seen(caller, audience)).toEqual(both.slice(0, 1))
  }
})

test('what was not retrieved is not cited, and nothing is cited twice', async () => {
  const bed = await handbook()
  const cited = ['handbook_00000002', 'handbook_00000001', 'made_00000001', 'handbook_00000001']
  const { citations } = await ask(bed, kb, { answerer: echo({ cited }) })
  expect(citations?.map(({ seqId }) => seqId)).toEqual(['handbook_00000001'])
})

test('why a model did not answer is handed on', async () => {
  expect(await ask(await handbook(), kb, { answerer: echo({ notice: 'It slept.' }) })).toMatchObject({
    notice: 'It slept.',
  })
})

test('without a knowledge base there is an answer, but no session and no citation', async () => {
  const bed = await handbook()
  const answerer = echo()
  const { deltas, ...answer } = await ask(bed, {}, { answerer })
  expect(answer).toEqual({ answer: deltas.join(''), answeredBy: 'extract', grounded: 'false' })
  expect(answerer.asked).toEqual([])
})

test('an answer of a model is forgotten once any page that it was given is hidden, and so is what was said on top of it', async () => {
  const bed = await handbook()
  const page = { title: 'Nights', content: 'At night the lead is paged after an hour, never before.' }
  const { seqId = '' } = await submitCandidate(bed.ctx, bed.curator, candidate({ ...page, confidence: 1 }))
  const turns: { history: Turn[]; isGiven: boolean }[] = []
  const model: Answerer = {
    async *answer({ history, passages }) {
      turns.push({ history: [...history], isGiven: passages.some((passage) => passage.seqId === seqId) })
      yield 'An hour.'
      return {
        text: 'An hour.',
        cited: passages.flatMap((passage) => (passage.seqId === seqId ? [] : passage.seqId)),
        answeredBy: 'test',
      }
    },
  }
  const { sessionId = '', citations } = await ask(bed, kb, { answerer: model })
  expect(citations?.map((citation) => citation.seqId)).toEqual(['handbook_00000001'])
  await ask(bed, { ...kb, sessionId, message: 'Unrelated zebras?' }, { answerer: model })
  const { candidateId } = await submitCandidate(bed.ctx, bed.curator, correction(seqId, page.content))
  await approveCandidate(bed.ctx, bed.curator, candidateId, { tags: ['internal'] })
  await ask(bed, { ...kb, sessionId }, { answerer: model })
  expect(turns.map(({ history, isGiven }) => [isGiven, ...history.map(({ answer }) => answer)])).toEqual([
    [true],
    [false, 'An hour.'],
    [false, '', ''],
  ])
})

test('a knowledge base that is not there is not found', async () => {
  await expect(ask(await handbook(), { kb: 'none' })).rejects.toThrow(notFound)
})

test('turns that are asked at once are both kept', async () => {
  const bed = await handbook()
  const { sessionId = '' } = await ask(bed, kb)
  const answers = await Promise.all(['a', 'b'].map((message) => ask(bed, { ...kb, sessionId, message })))
  expect(new Set(answers.map(({ turnId }) => turnId)).size).toBe(2)
  const turns = await bed.ctx.chatSessions.lastTurns(sessionId, 10)
  expect(turns.map(({ question }) => question).sort()).toEqual(['Who is paged?', 'a', 'b'])
})

test.each(['before anything is said', 'in the middle', 'at the end'])(
  'a client that goes away %s leaves nothing behind',
  async (moment) => {
    const bed = await handbook()
    const { sessionId = '' } = await ask(bed, kb)
    const gone = new AbortController()
    const reason = new Error('gone')
    const answerer: Answerer = {
      async *answer(_, signal) {
        if (moment === 'before anything is said') gone.abort(reason)
        signal.throwIfAborted()
        yield 'The '
        if (moment === 'in the middle') gone.abort(reason)
        signal.throwIfAborted()
        yield 'lead.'
        gone.abort(reason)
        return { text: 'The lead.', cited: [], answeredBy: 'test' }
      },
    }
    const answer = ask(bed, { ...kb, sessionId }, { answerer, signal: gone.signal })
    await expect(answer).rejects.toBe(reason)
    expect(await bed.ctx.chatSessions.lastTurns(sessionId, 10)).toHaveLength(1)
  },
)

test('nobody is asked for a client that has gone', async () => {
  const bed = await handbook()
  const answerer = echo()
  await expect(ask(bed, kb, { answerer, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone')
  expect(answerer.asked).toEqual([])
})

test('without an audience, a person is served as a curator if they are one, and a key as a tool', async () => {
  const bed = await handbook()
  const person = (role: 'reader' | 'curator') => ({ ...bed.caller(role), id: 'user:1' })
  const cited = async (caller: Caller) =>
    (await ask(bed, { knowledgeBaseId: 'handbook' }, { caller })).citations?.map(({ seqId }) => seqId).sort()
  const both = ['handbook_00000001', 'handbook_00000002']
  expect(await cited(person('curator'))).toEqual(both)
  for (const caller of [person('reader'), bed.curator, bed.app]) expect(await cited(caller)).toEqual(both.slice(0, 1))
})
