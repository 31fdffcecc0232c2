import { expect, test } from 'vitest'
import { chat } from '../../src/chat/answer-question.ts'
import { ExtractPool } from '../../src/chat/extract/extract-pool.ts'
import { deleteChat, listChats, readChat } from '../../src/chat/past-chats.ts'
import type { ChatQuestion } from '../../src/contract/chat.ts'
import { ValidationError } from '../../src/contract/errors.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

const never = new AbortController().signal
const notFound = expect.objectContaining({ code: 'not_found' })

async function ask(
  { ctx }: TestBed,
  caller: Caller,
  message: string,
  more: { sessionId?: string; audience?: 'curator' | 'tool' | 'public' } = {},
): Promise<string> {
  const question: ChatQuestion = {
    ...{ message, history: [], knowledgeBaseId: 'handbook', sessionId: undefined, audience: 'curator' },
    ...more,
  }
  const answering = chat(ctx, ctx.threads.of(ExtractPool), caller, question, never)
  for (;;) {
    const step = await answering.next()
    if (step.done === true) return step.value.sessionId ?? ''
  }
}

async function newBed(options?: { now: () => Date }) {
  const bed = await newTestBed(options)
  const { candidateId } = await submitCandidate(bed.ctx, bed.curator, candidate())
  const { seqId } = await approveCandidate(bed.ctx, bed.curator, candidateId, {})
  return { ...bed, seqId }
}

test('the conversations of one owner are listed by when they were used, with their first question', async () => {
  const bed = await newBed()
  const first = await ask(bed, bed.curator, 'Who is paged for a VIP ticket?')
  const second = await ask(bed, bed.curator, 'What is a unicorn?')
  await ask(bed, bed.reader, 'Mine alone?')
  await ask(bed, bed.curator, 'And then?', { sessionId: first })
  const { chats, next } = await listChats(bed.ctx, bed.curator, 'handbook', {})
  expect(chats.map(({ id, question, turns }) => ({ id, question, turns }))).toEqual([
    { id: first, question: 'Who is paged for a VIP ticket?', turns: 2 },
    { id: second, question: 'What is a unicorn?', turns: 1 },
  ])
  expect(next).toBeUndefined()
})

test('lists and conversations are paged', async () => {
  const bed = await newBed()
  const id = await ask(bed, bed.curator, 'q1')
  for (let number = 2; number <= 22; number++) await ask(bed, bed.curator, `q${number}`, { sessionId: id })
  const asked = { kb: 'handbook', id }
  const last = await readChat(bed.ctx, bed.curator, asked)
  expect(last.turns.map(({ question }) => question)).toEqual(Array.from({ length: 20 }, (_, at) => `q${at + 3}`))
  const before = await readChat(bed.ctx, bed.curator, { ...asked, ...(last.earlier && { before: last.earlier }) })
  expect(before.turns.map(({ question }) => question)).toEqual(['q1', 'q2'])
  expect(before.earlier).toBeUndefined()
  for (let number = 0; number < 21; number++) await ask(bed, bed.curator, `other ${number}`)
  const page = await listChats(bed.ctx, bed.curator, 'handbook', {})
  expect(page.chats).toHaveLength(20)
  const rest = await listChats(bed.ctx, bed.curator, 'handbook', { cursor: page.next })
  expect(rest.chats.map(({ question }) => question)).toEqual(['other 0', 'q1'])
})

test('conversations of one moment are each on one page', async () => {
  const at = new Date()
  const bed = await newBed({ now: () => at })
  const asked = Array.from({ length: 41 }, (_, number) => `q${number}`)
  for (const question of asked) await ask(bed, bed.curator, question)
  const listed: string[] = []
  for (let cursor: string | undefined, pages = 1; pages <= 3; pages++) {
    const { chats, next } = await listChats(bed.ctx, bed.curator, 'handbook', { cursor })
    listed.push(...chats.map(({ question }) => question))
    cursor = next
    expect(cursor === undefined).toBe(pages === 3)
  }
  expect(listed.toSorted()).toEqual(asked.toSorted())
})

test('a place that no page gave is refused', async () => {
  const bed = await newBed()
  const list = listChats(bed.ctx, bed.curator, 'handbook', { cursor: 'aGVsbG8' })
  await expect(list).rejects.toBeInstanceOf(ValidationError)
})

test("another's conversation is not there: not to read, not to delete", async () => {
  const bed = await newBed()
  const asked = { kb: 'handbook', id: await ask(bed, bed.curator, 'Who is paged?') }
  const other: Caller = { ...bed.curator, id: 'key:another' }
  await expect(readChat(bed.ctx, other, asked)).rejects.toEqual(notFound)
  await expect(deleteChat(bed.ctx, other, 'handbook', asked.id)).rejects.toEqual(notFound)
  expect((await readChat(bed.ctx, bed.curator, asked)).turns).toHaveLength(1)
})

test('a conversation that is deleted is gone, and cannot be gone on with', async () => {
  const bed = await newBed()
  const id = await ask(bed, bed.curator, 'Who is paged?')
  await deleteChat(bed.ctx, bed.curator, 'handbook', id)
  expect((await listChats(bed.ctx, bed.curator, 'handbook', {})).chats).toEqual([])
  await expect(ask(bed, bed.curator, 'And then?', { sessionId: id })).rejects.toEqual(notFound)
})

test.each([
  ['an answer that cites', 'Who is paged for a VIP ticket?', true],
  ['a refusal that shows', 'Which colour has the VIP ticket of the unicorn?', false],
])('%s what was hidden since is left out', async (_, message, isCited) => {
  const bed = await newBed()
  const id = await ask(bed, bed.reader, message)
  const read = async () => (await readChat(bed.ctx, bed.reader, { kb: 'handbook', id })).turns
  const citations = isCited ? [{ seqId: bed.seqId }] : []
  expect(await read()).toMatchObject([{ answer: expect.stringContaining('page the lead'), citations }])
  const hide = correction(bed.seqId, 'Hidden.', {
    metadata: JSON.stringify({ targetNeuron: bed.seqId, tags: ['internal'] }),
  })
  const { candidateId } = await submitCandidate(bed.ctx, bed.curator, hide)
  await approveCandidate(bed.ctx, bed.curator, candidateId, {})
  expect(await read()).toMatchObject([{ question: message, answer: null, citations: [] }])
})

test('who is no curator any more has no conversation of one', async () => {
  const bed = await newBed()
  const asCurator = await ask(bed, bed.curator, 'Who is paged?')
  const asTool = await ask(bed, bed.curator, 'Who is paged?', { audience: 'tool' })
  const reader: Caller = { ...bed.curator, role: 'reader' }
  const { chats } = await listChats(bed.ctx, reader, 'handbook', {})
  expect(chats.map(({ id }) => id)).toEqual([asTool])
  await expect(readChat(bed.ctx, reader, { kb: 'handbook', id: asCurator })).rejects.toEqual(notFound)
})
