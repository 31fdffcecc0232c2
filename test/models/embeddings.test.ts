import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { Embeddings, EmbeddingsError } from '../../src/models/embeddings.ts'
import { listening } from '../support/listening.ts'
import {
  answers,
  type EmbeddingsReply,
  fakeEmbeddings,
  refuses,
  silentEmbeddings,
  vectorsBy,
} from './support/fake-embeddings.ts'

const key = 'sk-very-secret'

async function newEmbeddings(reply: EmbeddingsReply, limits = { timeoutMs: 20_000, maxRetries: 0 }) {
  const server = await fakeEmbeddings(reply)
  return { server, embeddings: new Embeddings({ url: server.url, model: 'fake-1', apiKey: key }, limits) }
}

const embed = (embeddings: Embeddings, texts: readonly string[], signal = new AbortController().signal) =>
  embeddings.embed(texts, signal)

async function failure(embeddings: Embeddings, texts: readonly string[] = ['a']): Promise<EmbeddingsError> {
  const error = await embed(embeddings, texts).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(EmbeddingsError)
  return error as EmbeddingsError
}

describe('the embeddings client', () => {
  test('asks for all texts in one request, with the model and the key', async () => {
    const { server, embeddings } = await newEmbeddings(vectorsBy((text) => [text.length, 1]))
    const vectors = await embed(embeddings, ['a', 'bcd'])
    expect(vectors).toEqual([Float32Array.of(1, 1), Float32Array.of(3, 1)])
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]?.body).toEqual({ model: 'fake-1', input: ['a', 'bcd'], encoding_format: 'float' })
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`)
  })

  test('puts vectors in the order of their indexes', async () => {
    const data = [
      { index: 1, embedding: [2, 2] },
      { index: 0, embedding: [1, 1] },
    ]
    const { embeddings } = await newEmbeddings(answers({ data }))
    expect(await embed(embeddings, ['a', 'b'])).toEqual([Float32Array.of(1, 1), Float32Array.of(2, 2)])
  })

  test.each<[string, unknown]>([
    ['is missing', []],
    ['has another index', [{ index: 7, embedding: [1, 1] }]],
    ['is no list', [{ index: 1, embedding: 'AACAPw==' }]],
    ['holds null', [{ index: 1, embedding: [1, null] }]],
    ['overflows', [{ index: 1, embedding: [1, 1e300] }]],
    ['is zero', [{ index: 1, embedding: [0, 0] }]],
    ['is empty', [{ index: 1, embedding: [] }]],
  ])('keeps the other vectors where one %s', async (_, rest) => {
    const data = [{ index: 0, embedding: [1, 1] }, ...(rest as object[])]
    const { embeddings } = await newEmbeddings(answers({ data }))
    expect(await embed(embeddings, ['a', 'b'])).toEqual([Float32Array.of(1, 1), undefined])
  })

  test('an answer without any vector of use is a refusal, which does not pause the model', async () => {
    const { server, embeddings } = await newEmbeddings(vectorsBy(() => [0, 0]))
    expect((await failure(embeddings)).reason).toBe('refused')
    server.reply = vectorsBy(() => [1])
    expect(await embed(embeddings, ['a'])).toEqual([Float32Array.of(1)])
  })

  test.each<[string, EmbeddingsReply]>([
    ['no JSON', answers('<html>')],
    ['NaN', answers('{"data": [{"index": 0, "embedding": [NaN]}]}')],
    ['something else', answers({ choices: [] })],
    ['vectors of different lengths', vectorsBy((text) => (text === 'a' ? [1, 2] : [1]))],
    ['an error of the server', refuses(500)],
    ['a wrong key', refuses(401)],
  ])('an answer of %s fails, and pauses the model', async (_, reply) => {
    const { server, embeddings } = await newEmbeddings(reply)
    expect((await failure(embeddings, ['a', 'b'])).reason).toBe('failed')
    expect((await failure(embeddings)).reason).toBe('paused')
    expect(server.requests).toHaveLength(1)
  })

  test.each([400, 413, 422])('a request that is refused by %i does not pause the model', async (status) => {
    const { server, embeddings } = await newEmbeddings(refuses(status))
    expect((await failure(embeddings)).reason).toBe('refused')
    server.reply = vectorsBy(() => [1])
    expect(await embed(embeddings, ['a'])).toHaveLength(1)
  })

  test('tries again where it may help, within its limits', async () => {
    const { server, embeddings } = await newEmbeddings(refuses(429), { timeoutMs: 20_000, maxRetries: 2 })
    expect((await failure(embeddings)).reason).toBe('failed')
    expect(server.requests).toHaveLength(3)
  })

  test('gives a silent server up after the time limit of all attempts', async () => {
    const { embeddings } = await newEmbeddings(silentEmbeddings, { timeoutMs: 50, maxRetries: 2 })
    expect(await failure(embeddings)).toMatchObject({ reason: 'failed', message: expect.stringContaining('in time') })
  })

  test('a caller that leaves says nothing of the model', async () => {
    const { server, embeddings } = await newEmbeddings(silentEmbeddings)
    const leaving = new AbortController()
    setTimeout(() => leaving.abort(new Error('left')), 50)
    await expect(embed(embeddings, ['a'], leaving.signal)).rejects.toThrow('left')
    server.reply = vectorsBy(() => [1])
    expect(await embed(embeddings, ['a'])).toHaveLength(1)
  })

  test('no message holds the key', async () => {
    const { embeddings } = await newEmbeddings(refuses(401, `Incorrect API key: ${key}`))
    const { message } = await failure(embeddings)
    expect(message).toContain('Incorrect API key')
    expect(message).not.toContain(key)
  })

  test('follows no redirect', async () => {
    const { server: other } = await newEmbeddings(vectorsBy(() => [1]))
    const redirecting = createServer((_, response) => {
      response.writeHead(307, { location: `${other.url}/embeddings` }).end()
    })
    const url = await listening(redirecting)
    const embeddings = new Embeddings({ url, model: 'fake-1', apiKey: key }, { timeoutMs: 20_000, maxRetries: 0 })
    expect((await failure(embeddings)).reason).toBe('failed')
    expect(other.requests).toEqual([])
  })
})
