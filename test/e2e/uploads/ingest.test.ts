import { mkdirSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { verify } from '../../../src/operate/verify/verify.ts'
import { ingestSteps, rereadSources } from '../../../src/sources/ingest/ingest-steps.ts'
import { startIngest } from '../../../src/sources/ingest/job-runner.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { writePdf } from '../../sources/extract/support/pdf-writer.ts'
import { eventually } from '../../support/eventually.ts'
import { soundProduct } from '../git/git-support.ts'
import { type Product, startProduct } from '../support.ts'
import { removeBlobs } from './stored-blobs.ts'

type Source = { id: string; status: string; errorMessage: string | null; seq: number }

async function ingesting(): Promise<Product> {
  const product = await soundProduct()
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const stop = await startIngest(product.ctx, ingestSteps(product.ctx, undefined), { onError })
  onTestFinished(async () => {
    await stop()
    expect(errors).toEqual([])
  })
  return product
}

async function upload(
  product: Product,
  filename: string,
  content: string | Uint8Array<ArrayBuffer>,
  { metadata = {}, query = '' } = {},
): Promise<Source> {
  const form = new FormData()
  form.append('metadata', JSON.stringify(metadata))
  form.append('file', new Blob([content]), filename)
  const response = await fetch(`${product.url}/api/v1/knowledge-bases/handbook/documents/upload${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${product.tokens.app}` },
    body: form,
  })
  expect(response.status).toBe(201)
  return (await response.json()) as Source
}

async function settled(product: Product, id: string): Promise<Source> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const { body } = await product.request('GET', `/api/v1/documents/${id}`, { as: product.tokens.curator })
    const source = body as Source
    if (source.status === 'success' || source.status === 'failed') return source
    await delay(100)
  }
  throw new Error('It was never ingested.')
}

async function search(product: Product, q: string, kind = 'all') {
  const path = `/api/v1/knowledge-bases/handbook/search?q=${encodeURIComponent(q)}&kind=${kind}`
  const { body } = await product.request('GET', path, { as: product.tokens.app })
  return body.documents as { kind: string; title: string; seqId: string | null; id: string; filename: string }[]
}

const animals = ['aardvark', 'badger', 'caracal', 'dingo', 'emu', 'fossa', 'gazelle', 'hyena', 'ibex']
const section = (title: string, text: string) => `## ${title}\n\n${`${text} `.repeat(60)}\n\n`
const handbook = `# Zookeeper handbook\n\nHow we keep animals.\n\n${section('Feeding the wombat', 'The wombat eats at dusk, and only from the blue bowl that stands by the gate.')}${section('Night rounds', 'Every keeper walks the whole ground once in the night, and writes down what was seen.')}`

test('front matter of an upload that hides its pages hides the Source and its text too', async () => {
  const product = await ingesting()
  const found = async (as: string, word: string) => {
    const paths = ['wiki', 'source'].map((kind) => `/api/v1/knowledge-bases/handbook/search?q=${word}&kind=${kind}`)
    const answers = await Promise.all(paths.map((path) => product.request('GET', path, { as })))
    return answers.map(({ body }) => (body.documents as unknown[]).length)
  }
  const heads = [
    'tags: [internal]',
    `tags: [${'a, '.repeat(60)}internal/pay]`,
    'audience: [curator]',
    'tags: [internal',
  ]
  for (const [at, head] of heads.entries()) {
    const word = `${animals[at]}zebra`
    const text = `---\n${head}\n---\n# Of the ${word}\n\nThe ${word} eats at dusk.\n`
    const { id } = await upload(product, `${word}.md`, text)
    expect((await settled(product, id)).status).toBe('success')
    const isWaiting = head === 'tags: [internal'
    expect(await found(product.tokens.curator, word), head).toEqual([isWaiting ? 0 : 1, 1])
    expect(await found(product.tokens.reader, word), head).toEqual([0, 0])
  }
})

test('an uploaded text becomes Neurons that are found, and so is the Source', async () => {
  const product = await ingesting()
  const { id, seq } = await upload(product, 'handbook.md', handbook, { metadata: { tags: ['zoo'] } })
  expect(seq).toBe(1)
  expect(await settled(product, id)).toMatchObject({ status: 'success', errorMessage: null })

  const wiki = await search(product, 'wombat dusk', 'wiki')
  expect(wiki[0]).toMatchObject({ kind: 'wiki', title: 'Feeding the wombat' })
  expect(await search(product, 'wombat dusk', 'source')).toMatchObject([
    { kind: 'source', id, filename: 'handbook.md', seqId: null },
  ])
  const { body } = await product.request('GET', `/api/v1/neurons/handbook/${wiki[0]?.seqId}`, {
    as: product.tokens.curator,
  })
  expect(body).toMatchObject({ title: 'Feeding the wombat', tags: expect.arrayContaining(['zoo']) })
  const retrieved = await product.request('POST', '/api/v1/knowledge-bases/handbook/retrieve', {
    as: product.tokens.app,
    body: { query: 'What does the wombat eat from?' },
  })
  expect(retrieved.body.chunks).toContainEqual(expect.objectContaining({ title: 'Feeding the wombat' }))

  const again = await product.request('POST', `/api/v1/documents/${id}/ingest`, { as: product.tokens.app })
  expect(again.status).toBe(202)
  await settled(product, id)
  expect(await search(product, 'wombat dusk', 'wiki')).toEqual(wiki)
})

test('each row of a large table is found, in the Source', async () => {
  const product = await ingesting()
  const rows = Array.from({ length: 6_000 }, (_, row) => `Animal ${row},enclosure${row}q,${row % 90}`)
  const { id } = await upload(product, 'animals.csv', `name,place,weight\n${rows.join('\n')}\n`)
  expect(await settled(product, id)).toMatchObject({ status: 'success' })
  for (const row of [10, 4_990, 5_990]) {
    expect(await search(product, `enclosure${row}q`, 'source')).toMatchObject([{ id, filename: 'animals.csv' }])
  }
})

test('an archived Source is no longer found, its Neurons are', async () => {
  const product = await ingesting()
  const { id } = await upload(product, 'handbook.md', handbook)
  await settled(product, id)
  const { status } = await product.request('DELETE', `/api/v1/documents/${id}`, { as: product.tokens.curator })
  expect(status).toBe(204)
  expect(await search(product, 'wombat dusk', 'source')).toEqual([])
  expect((await search(product, 'wombat dusk', 'wiki')).length).toBeGreaterThan(0)
})

test('what cannot be read fails with a reason, and the rest goes on', async () => {
  const product = await ingesting()
  const broken = await upload(product, 'broken.pdf', '%PDF-1.7\nno more than this')
  const sound = await upload(product, 'note.txt', 'A note on numbats.')
  expect(await settled(product, broken.id)).toMatchObject({
    status: 'failed',
    errorMessage: expect.stringMatching(/\w+/),
  })
  expect(await settled(product, sound.id)).toMatchObject({ status: 'success' })
})

test('a file that is not what its name says is pending, then failed', async () => {
  const product = await ingesting()
  for (const [name, bytes, reason] of [
    ['vip.pdf', '<html><body>Not a PDF</body></html>', 'The file is not a .pdf as its name says.'],
    ['old.doc', 'old', expect.stringContaining('convert the file to .docx')],
  ] as const) {
    const uploaded = await upload(product, name, bytes)
    expect(uploaded).toMatchObject({ status: 'pending', errorMessage: null })
    expect(await settled(product, uploaded.id)).toMatchObject({ status: 'failed', errorMessage: reason })
  }
})

test('the events of an ingest end with its completion', async () => {
  const product = await ingesting()
  const { id } = await upload(product, 'note.html', 'A note on numbats, without any markup.')
  expect(await settled(product, id)).toMatchObject({ status: 'success' })
  const tenantId = (await product.ctx.tenants.find('acme'))?.id ?? ''
  const kinds = (await product.ctx.events.after(tenantId, 0, 100)).map(({ kind }) => kind)
  expect(kinds.slice(-4)).toEqual(['candidate.created', 'candidate.approved', 'neuron.created', 'ingest.completed'])
})

test('a phrase from page 7 of a PDF leads to the Neuron, and the Neuron to the page', async () => {
  const product = await ingesting()
  const pages = Array.from({ length: 9 }, (_, index) => {
    const lines = Array.from({ length: 30 }, (_, line) => ({
      text: `On page ${index + 1}, line ${line + 1}, the keepers write down what the animals did that day.`,
      x: 60,
      y: 720 - 20 * line,
    }))
    const heading = {
      text: `Chapter ${'ABCDEFGHI'[index]}: keeping ${animals[index]}`,
      x: 60,
      y: 770,
      size: 24,
      bold: true,
    }
    const phrase = { text: `The ${animals[index]} drinks from the silver trough.`, x: 60, y: 740 }
    return { texts: [heading, phrase, ...lines] }
  })
  const { id, status } = await upload(
    product,
    'Zoo book.pdf',
    new Uint8Array(writePdf(pages, { title: 'The zoo book' })),
  )
  expect(status).toBe('pending')
  expect(await settled(product, id)).toMatchObject({ status: 'success', errorMessage: null })

  const [hit] = await search(product, '"gazelle drinks from the silver trough"', 'wiki')
  const { body } = await product.request('GET', `/api/v1/neurons/handbook/${hit?.seqId}`, { as: product.tokens.app })
  expect(body).toMatchObject({
    title: expect.stringContaining('keeping gazelle'),
    sources: [{ id, filename: 'Zoo book.pdf', page: '7' }],
  })
})

test('a file that replaces one of its name is the next edition: its Neurons change, and the old one is archived', async () => {
  const product = await ingesting()
  const first = await upload(product, 'hours.md', '# Opening hours\n\nThe wombat house closes at five.\n')
  await settled(product, first.id)
  const [hit] = await search(product, 'wombat house', 'wiki')
  const text = '# Opening hours\n\nThe wombat house closes at six.\n'
  const second = await upload(product, 'hours.md', text, { query: '?replace=true' })
  await settled(product, second.id)

  const hits = await search(product, 'wombat house', 'wiki')
  expect(hits.map(({ seqId }) => seqId)).toEqual([hit?.seqId])
  const { body } = await product.request('GET', `/api/v1/neurons/handbook/${hit?.seqId}`, { as: product.tokens.app })
  expect(body).toMatchObject({ version: 2, content: expect.stringContaining('at six'), sources: [{ id: second.id }] })
  expect((await search(product, 'wombat house', 'source')).map(({ id }) => id)).toEqual([second.id])
})

test('a file of the same name in the same place is a document of its own', async () => {
  const product = await ingesting()
  const contents = ['# Wombats\n\nThe wombat digs.\n', '# Numbats\n\nThe numbat digs.\n']
  for (const content of contents) {
    const { id } = await upload(product, 'README.md', content)
    await settled(product, id)
  }
  expect((await search(product, 'digs', 'wiki')).map(({ title }) => title).toSorted()).toEqual(['Numbats', 'Wombats'])
  expect(await search(product, 'digs', 'source')).toHaveLength(2)
})

test('a text that was lost is read again, and the Source is found again', async () => {
  const product = await ingesting()
  const { id } = await upload(product, 'handbook.md', handbook)
  await settled(product, id)
  rmSync(product.ctx.directory.extracts, { recursive: true })
  mkdirSync(product.ctx.directory.extracts)
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const stop = rereadSources(product.ctx, { transcriber: undefined, onError })
  onTestFinished(stop)
  const source = await product.ctx.sources.get(id)
  await eventually(async () => expect(source && (await sourceTexts(product.ctx).find(source))).toBeDefined())
  await eventually(async () => expect(await search(product, 'wombat dusk', 'source')).toHaveLength(1))
  expect(errors).toEqual([])
})

test('bytes that are gone are told of by verify', async () => {
  const product = await startProduct()
  const { id } = await upload(product, 'note.txt', 'A note on numbats.')
  await removeBlobs(product.ctx)
  const { kbs } = await verify(product.ctx)
  expect(kbs.flatMap(({ problems }) => problems)).toMatchObject([
    { kind: 'source', message: expect.stringContaining(id) },
  ])
})
