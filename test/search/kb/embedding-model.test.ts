import { expect, test } from 'vitest'
import { EmbeddingModel } from '../../../src/models/embeddings.ts'
import { fakeEmbeddings, vectorsBy } from '../../models/support/fake-embeddings.ts'
import { project } from '../../models/support/project.ts'

test('texts and questions are asked about behind their prefixes, and the vectors are known by that of the texts', async () => {
  const server = await fakeEmbeddings(vectorsBy((text) => project(text, {})))
  const endpoint = { url: server.url, model: 'e5', apiKey: undefined }
  const options = { failed: () => {}, questionTimeoutMs: 20_000 }
  const plain = new EmbeddingModel(endpoint, options)
  const prefixed = new EmbeddingModel({ ...endpoint, textPrefix: 'passage: ', questionPrefix: 'query: ' }, options)
  for (const model of [plain, prefixed]) {
    await model.embed(['one', 'two'], new AbortController().signal)
    await model.question('three')
  }
  expect(server.requests.map(({ body: { input } }) => input)).toEqual([
    ['one', 'two'],
    ['three'],
    ['passage: one', 'passage: two'],
    ['query: three'],
  ])
  expect([plain.name, prefixed.name]).toEqual(['e5', 'e5 "passage: "'])
})
