import { expect, test } from 'vitest'
import { createAnswerer } from '../../src/chat/create-answerer.ts'
import { extractAnswerer } from '../chat/support/extract-answerer.ts'
import { fakeModel, says } from '../chat/support/fake-model.ts'
import { ask, question } from '../chat/support/passages.ts'

const languageModel = { model: 'small', apiKey: 'sk-hunter2' }

test('without a language model, answers are extracts', async () => {
  const { answer } = await ask(
    createAnswerer(extractAnswerer, undefined, () => {}),
    question(),
  )
  expect(answer).toMatchObject({ answeredBy: 'extract' })
})

test('a language model answers, asked with its key', async () => {
  const { url, requests } = await fakeModel(says('The lead. [handbook_00000001]'))
  const { answer } = await ask(
    createAnswerer(extractAnswerer, { ...languageModel, url, timeoutMs: 20_000 }, () => {}),
    question(),
  )
  expect(answer).toMatchObject({ answeredBy: 'small', text: 'The lead. [handbook_00000001]' })
  expect(requests[0]?.headers.authorization).toBe('Bearer sk-hunter2')
})

test('why it fails is told without its key', async () => {
  const { url } = await fakeModel((response) => {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'Incorrect API key provided: sk-hunter2.' } }))
  })
  const told: string[] = []
  const { answer } = await ask(
    createAnswerer(extractAnswerer, { ...languageModel, url, timeoutMs: 20_000 }, (message) => void told.push(message)),
    question(),
  )
  expect(answer).toMatchObject({ answeredBy: 'extract', notice: expect.any(String) })
  expect(told).toEqual([expect.stringContaining('Incorrect API key provided: ….')])
  expect(JSON.stringify([told, answer])).not.toContain('hunter2')
})
