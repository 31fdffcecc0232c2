import { describe, expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { EmbeddingModel } from '../../src/models/embeddings.ts'
import { kbSearch } from '../../src/search/kb/kb-search.ts'
import {
  answers,
  type EmbeddingsReply,
  fakeEmbeddings,
  refuses,
  silentEmbeddings,
  vectorsBy,
} from '../models/support/fake-embeddings.ts'
import { project } from '../models/support/project.ts'
import { outsideWriter } from './git/outside-writer.ts'
import { type Product, startProduct } from './support.ts'

/** Words that mean the same have one direction. */
const synonyms: Readonly<Record<string, string>> = { vacation: 'leave', holidays: 'leave', automobile: 'car' }

const encode = (text: string) => project(text, synonyms)

const things = ['coffee', 'parking', 'rota', 'desk', 'ticket', 'roof', 'garden', 'ladder', 'printer', 'badge']
const places = ['cellar', 'attic', 'yard', 'kitchen']
const fillers = things.flatMap((thing) => places.map((place) => `The ${thing} stands in the ${place}.`))
const texts = [...fillers, 'Annual leave lasts thirty days.', 'The car is washed on Mondays.']

function fileOf(number: number, text: string, more = ''): [string, string] {
  const seqId = `meaning_${String(number).padStart(8, '0')}`
  return [`neurons/p${number}.md`, `---\nseqId: ${seqId}\ntitle: Page ${number}\n${more}---\n${text}\n`]
}

async function newProduct(reply: EmbeddingsReply = vectorsBy(encode), questionTimeoutMs = 20_000) {
  const server = await fakeEmbeddings(reply)
  const failures: string[] = []
  const failed = (message: string) => failures.push(message)
  const model = { url: server.url, model: 'fake-1', apiKey: undefined }
  const product = await startProduct({ embeddingModel: new EmbeddingModel(model, { failed, questionTimeoutMs }) })
  return { product, server, failures }
}

/** A knowledge base of some pages, of a tenant of its own. */
async function newKb(product: Product, tenant: string, files: readonly [string, string][]) {
  const { id: kbId } = await createKnowledgeBase(product.ctx, { tenant, slug: 'meaning' })
  const writer = await outsideWriter(product.ctx, kbId)
  await writer.commit(new Map(files))
  const as = await product.newKey(tenant, 'app')
  const { id = '' } = (await product.ctx.tenants.find(tenant)) ?? {}
  const search = async () => kbSearch(await product.ctx.kb(id, 'meaning'), product.ctx)
  const embed = async () => {
    await (await search()).follow()
    await (await search()).embedder?.run()
  }
  const retrieve = async (query: string, audience = 'tool') => {
    const body = { query, audience, topK: 5, maxChars: 16_000 }
    return product.request('POST', '/api/v1/knowledge-bases/meaning/retrieve', { as, body })
  }
  const seqIds = async (query: string) =>
    ((await retrieve(query)).body.chunks as { seqId: string }[]).map(({ seqId }) => seqId)
  return { writer, as, embed, retrieve, seqIds, search }
}

const pages = texts.map((text, index) => fileOf(index + 1, text))
const leave = 'meaning_00000041'

describe('retrieve with an embeddings model', () => {
  test('finds by meaning, says so, and asks about each text once', async () => {
    const { product, server } = await newProduct()
    const kb = await newKb(product, 'one', pages)
    await kb.embed()
    const { body } = await kb.retrieve('vacation')
    expect(body).toMatchObject({ ranking: 'words+meaning', hitCount: 1, chunks: [{ seqId: leave, rank: 1 }] })
    expect((await kb.retrieve('car')).body).toMatchObject({ chunks: [{ seqId: 'meaning_00000042' }] })
    const asked = server.requests.flatMap(({ body: { input } }) => input).filter((text) => text.startsWith('Page'))
    expect(asked).toHaveLength(texts.length)
    // A page moves, another changes.
    await kb.writer.commit(
      new Map([[pages[40]?.[0] ?? '', null], ['neurons/moved.md', pages[40]?.[1] ?? ''], fileOf(1, 'New.')]),
    )
    await kb.embed()
    expect(await kb.seqIds('vacation')).toEqual([leave])
    const again = server.requests.flatMap(({ body: { input } }) => input).filter((text) => text.startsWith('Page'))
    expect(again.slice(texts.length)).toEqual(['Page 1\nNew.'])
    const metrics = (await product.request('GET', '/metrics')).text
    expect(metrics).toMatch(/^ganglion_embedded_chunks 42$/m)
    expect(metrics).toMatch(/^ganglion_unembedded_texts 0$/m)
  })

  test('search answers by meaning where no page has a word of the query, and only there', async () => {
    const { product, server } = await newProduct()
    const kb = await newKb(product, 'one', pages)
    await kb.embed()
    const search = async (q: string) => {
      const path = `/api/v1/search?kb=meaning&limit=3&q=${encodeURIComponent(q)}`
      return (await product.request('GET', path, { as: kb.as })).body
    }
    const found = { total: 1, matched: 'some', ranking: 'words+meaning' }
    const hit = { seqId: leave, highlight: 'Annual leave lasts thirty days.', rank: 1 }
    expect(await search('vacation')).toMatchObject({ ...found, hits: [hit] })
    expect(await search('leave')).toMatchObject({ total: 1, matched: 'all', ranking: 'words' })
    expect(await search('zebra')).toMatchObject({ total: 0, hits: [], ranking: 'words' })
    const asked = server.requests.length
    for (const q of ['"vacation"', 'vacation -car', 'vacatio*']) {
      expect((await search(q)).ranking).toBe('words')
    }
    expect(
      await product.request('GET', '/api/v1/search?kb=meaning&q=vacation&interactive=true', { as: kb.as }),
    ).toMatchObject({
      body: { total: 0, ranking: 'words' },
    })
    expect(server.requests.length).toBe(asked)
  })

  test('a question is asked about once, and none where nothing was embedded', async () => {
    const { product, server } = await newProduct()
    const kb = await newKb(product, 'one', pages)
    server.reply = refuses(500)
    expect((await kb.retrieve('car')).body).toMatchObject({ ranking: 'words', hitCount: 1 })
    expect(server.requests.flatMap(({ body }) => body.input)).not.toContain('car')
    const other = await newProduct()
    const second = await newKb(other.product, 'one', pages)
    await second.embed()
    for (let time = 0; time < 3; time++) await second.retrieve('vacation')
    expect(other.server.requests.filter(({ body: { input } }) => input.includes('vacation'))).toHaveLength(1)
  })

  test.each<[string, EmbeddingsReply, string]>([
    ['is down', refuses(503), 'words-model-down'],
    ['asks for patience', refuses(429), 'words-model-down'],
    ['is silent', silentEmbeddings, 'words-model-down'],
    ['answers with another length', vectorsBy(() => [1, 2, 3]), 'words'],
    ['answers with nothing of use', vectorsBy(() => [0]), 'words-model-down'],
    ['answers with something else', answers('<html>'), 'words-model-down'],
  ])('words answer at once where the model %s', async (_, reply, ranking) => {
    const { product, server, failures } = await newProduct(undefined, 300)
    const kb = await newKb(product, 'one', pages)
    await kb.embed()
    server.reply = reply
    const { status, body } = await kb.retrieve('the washed car')
    expect(status).toBe(200)
    expect(body).toMatchObject({ ranking, chunks: [{ seqId: 'meaning_00000042' }] })
    expect(failures.join()).not.toContain('sk-')
  })

  test('one text that the model does not take leaves the others their vectors', async () => {
    const { product, server } = await newProduct((input, response) => {
      const isBad = input.some((text) => text.includes('roof'))
      return (isBad ? refuses(400) : vectorsBy(encode))(input, response)
    })
    const kb = await newKb(product, 'one', pages)
    await kb.embed()
    expect((await kb.search()).embedder?.progress).toMatchObject({ embedded: texts.length - 4, lacking: 0 })
    const asked = server.requests.length
    await kb.embed()
    expect(server.requests).toHaveLength(asked)
    expect(await kb.seqIds('vacation')).toEqual([leave])
  })

  test('half of a batch is kept, and the other half asked for again', async () => {
    const { product, server } = await newProduct((input, response) => {
      const data = input.map((text, index) => ({ index, embedding: encode(text) }))
      answers({ data: data.slice(0, Math.ceil(data.length / 2)) })(input, response)
    })
    const kb = await newKb(product, 'one', pages)
    await kb.embed()
    expect((await kb.search()).embedder?.progress).toMatchObject({ embedded: texts.length, lacking: 0 })
    expect(server.requests.length).toBeLessThan(20)
  })

  test('keeps what was answered before the model failed, and lets it be for a while', async () => {
    let answered = 0
    const { product, server, failures } = await newProduct((input, response) => {
      answered++
      return (answered > 1 ? refuses(401) : vectorsBy(encode))(input, response)
    })
    const kb = await newKb(product, 'one', pages)
    await kb.embed()
    expect((await kb.search()).embedder?.progress).toMatchObject({ embedded: 32, lacking: 10 })
    expect(failures).toHaveLength(1)
    await kb.embed()
    // It is not asked again before its pause is over.
    expect(server.requests).toHaveLength(2)
  })

  test('a large import keeps no reader waiting for the model', async () => {
    const { product } = await newProduct(silentEmbeddings)
    const kb = await newKb(product, 'one', pages)
    expect((await kb.retrieve('car')).body).toMatchObject({ ranking: 'words', chunks: [{ seqId: 'meaning_00000042' }] })
  })
})

test('twins that differ in hidden pages only answer alike by meaning, too', async () => {
  const { product } = await newProduct()
  const hide = 'audience: [curator]\n'
  const transcripts: string[][] = []
  for (const twin of [0, 1, 2]) {
    const hidden = Array.from({ length: 30 }, (_, n) =>
      fileOf(n + 100, twin === 1 ? `The vacation of car ${n}.` : `Machine ${n} is oiled.`, hide),
    )
    const kb = await newKb(product, `twin-${twin}`, [...hidden.slice(0, 15), ...pages, ...hidden.slice(15)])
    if (twin === 2) await kb.writer.commit(new Map(hidden.map(([path]) => [path, null])))
    await kb.embed()
    const lines: string[] = []
    for (const query of ['vacation', 'automobile', 'where is the printer', 'the ladder in the yard', 'zebra']) {
      for (const audience of ['tool', 'public'])
        lines.push((await kb.retrieve(query, audience)).text.replace(/"documentId":"[^"]+"/g, ''))
    }
    transcripts.push(lines)
  }
  expect(transcripts[0]?.join()).toContain('words+meaning')
  expect(transcripts[1]).toEqual(transcripts[0])
  expect(transcripts[2]).toEqual(transcripts[0])
})
