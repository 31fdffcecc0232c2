import { describe, expect, test } from 'vitest'
import type { ModelError } from '../../src/chat/answerer.ts'
import { fallbackAnswerer } from '../../src/chat/create-answerer.ts'
import { modelAnswerer } from '../../src/chat/model-answerer.ts'
import { testAnswerer } from './support/conformance.ts'
import { extractAnswerer } from './support/extract-answerer.ts'
import { fails, fakeModel, type Reply, says, saysAndBreaks, silent } from './support/fake-model.ts'
import { ask, question, vip } from './support/passages.ts'

async function withModel(...replies: Reply[]) {
  const server = await fakeModel(...replies)
  const failures: ModelError[] = []
  const model = modelAnswerer({
    url: server.url,
    model: 'fake-1',
    apiKey: undefined,
    timeoutMs: replies[0] === silent ? 200 : 20_000,
    maxRetries: 1,
  })
  return { server, failures, answerer: fallbackAnswerer(model, extractAnswerer, (error) => failures.push(error)) }
}

const extract =
  '**VIP customers**\n\nWhen a VIP customer raises a ticket, page the on-call lead at once. Do not wait for triage. [handbook_00000001]'

describe('with a model that answers', () => {
  testAnswerer(async () => (await withModel(says(...'Page. [handbook_00000001] [made_00000001]'))).answerer)

  test('the answer is the model’s', async () => {
    const { failures, answerer } = await withModel(says('Page the lead. [handbook_00000001]'))
    const { answer } = await ask(answerer, question())
    expect(answer).toEqual({ text: 'Page the lead. [handbook_00000001]', cited: [vip.seqId], answeredBy: 'fake-1' })
    expect(failures).toEqual([])
  })
})

describe('with a model that fails', () => {
  testAnswerer(async () => (await withModel(fails(500))).answerer)

  test.each<[string, Reply, number]>([
    ['an error', fails(500), 2],
    ['too many requests', fails(429), 2],
    ['a wrong key', fails(401), 1],
    ['silence', silent, 1],
    ['an empty answer', says(), 1],
    ['a connection that breaks', (response) => void response.destroy(), 2],
  ])('%s: the answer is an extract and says so', async (_, reply, requests) => {
    const { server, failures, answerer } = await withModel(reply)
    const { deltas, answer } = await ask(answerer, question())
    expect(answer).toEqual({
      text: extract,
      cited: [vip.seqId],
      answeredBy: 'extract',
      notice: 'The language model did not answer; this is an extract.',
    })
    expect(deltas.join('')).toBe(extract)
    expect(server.requests).toHaveLength(requests)
    expect(failures).toHaveLength(1)
  })

  test('a second try that succeeds is no failure', async () => {
    const { failures, answerer } = await withModel(fails(503), says('Page the lead. [handbook_00000001]'))
    expect((await ask(answerer, question())).answer.answeredBy).toBe('fake-1')
    expect(failures).toEqual([])
  })

  test('what it said before it broke off stays, with the extract behind it', async () => {
    const { answerer } = await withModel(saysAndBreaks('Finance decides [handbook_00000011]', ' and\n```\ncode'))
    const { deltas, answer } = await ask(answerer, question())
    const notice = 'The language model broke off; an extract follows what it wrote.'
    expect(answer).toEqual({
      text: `Finance decides [handbook_00000011] and\n\`\`\`\ncode\n\`\`\`\n\n*${notice}*\n\n${extract}`,
      cited: ['handbook_00000011', vip.seqId],
      answeredBy: 'fake-1',
      notice,
    })
    expect(deltas.join('')).toBe(answer.text)
  })

  test('where there is nothing to extract, it says only that the model broke off', async () => {
    const { answerer } = await withModel(saysAndBreaks('I think'))
    const { answer } = await ask(answerer, question({ message: 'Who won the football match?' }))
    expect(answer.text).toBe('I think\n\n*The language model broke off.*')
    expect(answer).toMatchObject({ cited: [], notice: 'The language model broke off.' })
  })

  test('a signal that aborts is no failure of the model', async () => {
    const caller = new AbortController()
    const { failures, answerer } = await withModel(() => caller.abort(new Error('gone')))
    await expect(ask(answerer, question(), caller.signal)).rejects.toThrow('gone')
    expect(failures).toEqual([])
  })
})
