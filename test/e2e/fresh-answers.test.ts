import { expect, test } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { outsideWriter } from './git/outside-writer.ts'
import { startProduct, stateOf } from './support.ts'

const seqId = (number: number) => `handbook_${String(number).padStart(8, '0')}`
const page = (number: number, text: string, fields = '') => `---\nseqId: ${seqId(number)}\n${fields}---\n${text}\n`

/** A product whose pages another git writes, and what keys read of the first of them. */
async function productWithPage() {
  const product = await startProduct()
  const { request, tokens, ctx, kbId } = product
  const writer = await outsideWriter(ctx, kbId)
  const write = (files: Record<string, string>) => writer.commit(new Map(Object.entries(files)))
  await write({ 'neurons/desk.md': page(90, 'Nine to five.') })
  const read = (as: string, tag?: string) => {
    const headers: Record<string, string> = tag === undefined ? {} : { 'if-none-match': tag }
    return request('GET', `/api/v1/neurons/handbook/${seqId(90)}`, { as, headers })
  }
  const tagFor = async (as: string) => (await read(as)).headers.get('etag') ?? ''
  return { ...product, read, tagFor, write, settings: writer.read('kb.yaml'), reader: tokens.reader }
}

test('a Neuron that is the same is not sent again, and one that was edited is, at once', async () => {
  const { read, tagFor, write, reader } = await productWithPage()
  const first = await tagFor(reader)
  expect(await read(reader, first)).toMatchObject({ status: 304, text: '' })
  await write({ 'neurons/desk.md': page(90, 'Ten to four.') })
  const edited = await read(reader, first)
  expect(edited).toMatchObject({ status: 200, body: { content: 'Ten to four.', version: 2 } })
  const second = edited.headers.get('etag') ?? ''
  expect(second).not.toBe(first)
  await write({ 'neurons/rota.md': page(91, 'See [[desk]].', 'title: Rota\n') })
  expect((await read(reader, second)).body).toMatchObject({ backlinks: [{ seqId: seqId(91), title: 'Rota' }] })
  await write({ 'neurons/rota.md': page(91, 'See [[desk]].', 'title: Roster\n') })
  expect((await read(reader)).body).toMatchObject({ backlinks: [{ title: 'Roster' }] })
})

test('a Neuron that is hidden is gone at once, whatever tag is sent, and a curator still has it', async () => {
  const { read, tagFor, write, settings, reader, tokens } = await productWithPage()
  const tag = await tagFor(reader)
  expect((await read(tokens.curator, tag)).status).toBe(304)
  await write({ 'neurons/desk.md': page(90, 'Nine to five.', 'tags: [internal]\n') })
  const missing = await read(reader)
  expect(missing.status).toBe(404)
  for (const known of [tag, '*']) expect(await read(reader, known)).toMatchObject({ status: 404, text: missing.text })
  expect((await read(tokens.curator, tag)).status).toBe(200)
  await write({ 'neurons/desk.md': page(90, 'Nine to five.') })
  expect((await read(reader)).status).toBe(200)
  await write({ 'kb.yaml': `${settings.replace(/^defaultAudience:.*$/m, '')}\ndefaultAudience: [curator]\n` })
  expect((await read(reader, tag)).status).toBe(404)
})

test('who may not see a text that a curator sees has another tag', async () => {
  const { tagFor, write, reader, tokens } = await productWithPage()
  await write({ 'neurons/desk.md': page(90, 'Nine to five. %%Not for all.%%') })
  const [curators, readers] = [await tagFor(tokens.curator), await tagFor(reader)]
  expect(curators).not.toBe(readers)
  await write({ 'neurons/desk.md': page(90, 'Nine to five. %%Not for anybody else.%%') })
  expect(await tagFor(tokens.curator)).not.toBe(curators)
})

test('a hidden Source is shown to the key that uploaded it, whoever has read before', async () => {
  const { read, write, request, tokens, newKey } = await productWithPage()
  const other = await newKey('acme', 'app')
  const form = new FormData()
  form.append('metadata', JSON.stringify({ tags: ['internal'] }))
  form.append('file', new Blob(['Hours']), 'hours.md')
  const upload = '/api/v1/knowledge-bases/handbook/documents/upload'
  const { body } = await request('POST', upload, { as: tokens.app, body: form })
  await write({ 'neurons/desk.md': page(90, 'Nine to five.', `sources: [{ id: ${body.id}, filename: hours.md }]\n`) })
  const sources = async (as: string) => (await read(as)).body.sources
  const shown = [{ id: body.id, filename: 'hours.md' }]
  for (const _ of [1, 2]) {
    expect(await sources(other)).toBeUndefined()
    expect(await sources(tokens.app)).toEqual(shown)
    expect(await sources(tokens.curator)).toEqual(shown)
  }
})

test('a key that another process revokes reads nothing more', async () => {
  const { read, tagFor, ctx, dataDir, reader } = await productWithPage()
  const tag = await tagFor(reader)
  const other = await openContext({ dataDir, ...stateOf(ctx) })
  const key = (await ctx.apiKeys.list()).find(({ role }) => role === 'reader')
  await other.apiKeys.revoke(key?.id ?? '', new Date(), key?.tenantId ?? '')
  expect((await read(reader, tag)).status).toBe(401)
  await other.close()
})

test('listings have tags as well, which change with what is listed', async () => {
  const { request, write, reader } = await productWithPage()
  for (const path of ['/knowledge-bases', '/knowledge-bases/handbook/neurons', '/knowledge-bases/handbook/graph']) {
    const get = (tag: string) => request('GET', `/api/v1${path}`, { as: reader, headers: { 'if-none-match': tag } })
    const tag = (await get('""')).headers.get('etag') ?? ''
    expect((await get(tag)).status).toBe(304)
    await write({ 'neurons/desk.md': page(90, 'Nine to five.', `title: Desk of ${path}\n`) })
    expect((await get(tag)).status).toBe(path === '/knowledge-bases' ? 304 : 200)
  }
})

test('a search that was asked before finds what is true now, for each who asks', async () => {
  const { request, write, settings, reader, tokens } = await productWithPage()
  const found = async (as: string, q: string, route = '/knowledge-bases/handbook/search?') => {
    const { body } = await request('GET', `/api/v1${route}q=${q}`, { as })
    const hits = (body.documents ?? body.hits) as { title: string }[]
    return hits.map(({ title }) => title)
  }
  const roles = [reader, tokens.curator]
  const both = (q: string) => Promise.all(roles.flatMap((as) => [found(as, q), found(as, q)]))
  expect(await both('nine')).toEqual(Array(4).fill(['desk']))
  await write({ 'neurons/desk.md': page(90, 'Nine to five.', 'title: Front desk\n') })
  expect(await both('nine')).toEqual(Array(4).fill(['Front desk']))
  expect(await found(reader, 'nine', '/search?kb=handbook&')).toEqual(['Front desk'])
  await write({ 'neurons/desk.md': page(90, 'Ten to four.') })
  expect([await both('nine'), await both('ten')]).toEqual([Array(4).fill([]), Array(4).fill(['desk'])])
  await write({ 'neurons/desk.md': page(90, 'Ten to four.', 'tags: [internal]\n') })
  expect(await both('ten')).toEqual([[], [], ['desk'], ['desk']])
  await write({ 'neurons/desk.md': page(90, 'Ten to four.') })
  await write({ 'kb.yaml': `${settings}\nsearch:\n  synonyms: [[counter, ten]]\n` })
  expect(await both('counter')).toEqual(Array(4).fill(['desk']))
  await write({ 'kb.yaml': `${settings.replace(/^defaultAudience:.*$/m, '')}\ndefaultAudience: [curator]\n` })
  expect(await both('ten')).toEqual([[], [], ['desk'], ['desk']])
})

test('a search whose answer is the same is not sent again', async () => {
  const { request, write, reader } = await productWithPage()
  const search = (tag = '""') =>
    request('GET', '/api/v1/knowledge-bases/handbook/search?q=nine', { as: reader, headers: { 'if-none-match': tag } })
  const tag = (await search()).headers.get('etag') ?? ''
  expect(await search(tag)).toMatchObject({ status: 304, text: '' })
  await write({ 'neurons/desk.md': page(90, 'Nine to six.') })
  expect(await search(tag)).toMatchObject({ status: 200 })
})
