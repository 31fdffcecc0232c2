import { expect, test } from 'vitest'
import { mcpClient, textOf } from '../http/support/mcp-client.ts'
import { startProduct } from './support.ts'

const base = '/api/v1/knowledge-bases/handbook'

async function withProposals() {
  const product = await startProduct()
  const { request, tokens } = product
  const submit = async (title: string, content: string, metadata?: object) => {
    const body = { kb: 'handbook', kind: metadata ? 'user-correction' : 'external-feed', title, content }
    const sent = { ...body, ...(metadata && { metadata: JSON.stringify(metadata) }) }
    return String((await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body: sent })).body.candidateId)
  }
  const approve = async (id: string) =>
    (await request('POST', `/api/v1/queue/candidates/${id}/approve`, { as: tokens.curator })).body
  const { seqId } = await approve(await submit('VIP policy', 'Page the lead.'))
  const ids = [
    await submit('VIP policy', 'The whole team is woken. See [[Rota]].', { targetNeuron: seqId }),
    await submit('Rota', 'The on-call engineer is Ada. Ada is woken this week.'),
  ]
  const get = (path: string, as = tokens.curator, headers: Record<string, string> = {}) =>
    request('GET', path, { as, headers })
  return { ...product, ids, submit, approve, seqId, get }
}

test('every door of a curator shows pending candidates as if they were approved, and keeps today as it is', async () => {
  const { request, tokens, ids, seqId, get, url } = await withProposals()
  const preview = ids.join(',')
  const told = { candidates: ids, conflicts: [] }
  const search = await get(`${base}/search?q=woken&preview=${preview}`)
  expect(search.body).toMatchObject({ documents: [{ title: 'VIP policy' }, { title: 'Rota' }], preview: told })
  const tenant = await get(`/api/v1/search?q=woken&preview=${preview}`)
  expect(tenant.body).toMatchObject({ total: 2, preview: told })
  const neuron = await get(`/api/v1/neurons/handbook/${seqId}?preview=${preview}`)
  const rota = 'handbook_00000002'
  expect(neuron.body).toMatchObject({ version: 2, links: [{ target: rota }], unresolved: [], preview: told })
  const linked = await get(`/api/v1/neurons/handbook/${rota}?preview=${preview}`)
  expect(linked.body).toMatchObject({ title: 'Rota', backlinks: [{ seqId }] })
  const list = await get(`${base}/neurons?preview=${preview}`)
  expect(list.body).toMatchObject({ neurons: [{ seqId, version: 2 }, { seqId: rota }], preview: told })
  const graph = await get(`${base}/graph?preview=${preview}`)
  expect(graph.body).toMatchObject({ edges: [{ source: seqId, target: rota }], preview: told })
  const post = (path: string, body: object, as = tokens.curator) => request('POST', path, { as, body })
  const passages = await post(`${base}/retrieve`, { query: 'Who is woken this week?', preview: ids })
  expect(passages.body).toMatchObject({ chunks: [{ title: 'Rota' }, { title: 'VIP policy' }], preview: told })
  const agent = await mcpClient(url, tokens.curator)
  const args = { kb: 'handbook', query: 'Who is woken this week?', preview: ids }
  const { structuredContent } = await agent.callTool({ name: 'retrieve', arguments: args })
  expect(structuredContent).toEqual(passages.body)
  const chat = await post('/api/v1/chat', { kb: 'handbook', message: 'Who is the on-call engineer?', preview: ids })
  expect(chat.body).toMatchObject({ citations: [{ seqId: rota }], preview: told })
  expect(chat.body.sessionId).toBeUndefined()

  expect((await get(`${base}/search?q=woken`)).body).toEqual({ documents: [], matched: 'all' })
  expect((await get(`/api/v1/neurons/handbook/${seqId}`)).body).toMatchObject({ version: 1 })
  expect((await get(`/api/v1/neurons/handbook/${rota}`)).status).toBe(404)
  expect((await post(`${base}/retrieve`, { query: 'woken' })).body).toMatchObject({ hitCount: 0 })
})

test('a preview does not answer with the tag of today, nor today with that of a preview', async () => {
  const { ids, seqId, get } = await withProposals()
  const path = `/api/v1/neurons/handbook/${seqId}`
  const today = await get(path)
  const tag = { 'if-none-match': String(today.headers.get('etag')) }
  expect((await get(path, undefined, tag)).status).toBe(304)
  const previewed = await get(`${path}?preview=${ids[0]}`, undefined, tag)
  expect(previewed).toMatchObject({ status: 200, body: { version: 2 } })
  const tagOfPreview = { 'if-none-match': String(previewed.headers.get('etag')) }
  expect((await get(path, undefined, tagOfPreview)).status).toBe(200)
  expect((await get(`${path}?preview=${ids[0]}`, undefined, tagOfPreview)).status).toBe(304)
})

test('for everybody else, a preview is of nothing; and what is no pending candidate cannot be previewed', async () => {
  const { request, tokens, newKey, ids, approve, get, url } = await withProposals()
  const foreign = await newKey('globex', 'curator')
  const unknown = '00000000-0000-7000-8000-000000000000'
  const paths = [
    ...['search?q=a&', 'neurons?', 'graph?'].map((path) => `${base}/${path}`),
    '/api/v1/search?q=a&',
    '/api/v1/neurons/handbook/handbook_00000001?',
  ]
  for (const path of paths) {
    const nothing = await get(`${path}preview=${unknown}`)
    for (const as of [tokens.reader, tokens.app, foreign]) {
      const answer = await get(`${path}preview=${ids[0]}`, as)
      expect([path, answer.status, answer.body]).toEqual([path, 404, nothing.body])
    }
    expect((await get(`${path}preview=${'0'.repeat(40)}`)).status).toBe(404)
    expect((await get(`${path}preview=x`)).status).toBe(400)
    expect((await get(`${path}preview=${Array(11).fill(ids[0]).join(',')}`)).status).toBe(400)
  }
  const post = (path: string, body: object, as: string) => request('POST', path, { as, body })
  for (const as of [tokens.reader, tokens.app, foreign]) {
    expect((await post(`${base}/retrieve`, { query: 'a', preview: ids }, as)).status).toBe(404)
    expect((await post('/api/v1/chat', { kb: 'handbook', message: 'a', preview: ids }, as)).status).toBe(404)
    const agent = await mcpClient(url, as)
    const args = { kb: 'handbook', query: 'a', preview: ids }
    const refused = await agent.callTool({ name: 'retrieve', arguments: args })
    expect(JSON.parse(textOf(refused))).toMatchObject({ error: 'not_found' })
  }
  await approve(ids[1] ?? '')
  expect(await get(`${base}/search?q=a&preview=${ids.join(',')}`)).toMatchObject({
    status: 409,
    body: { error: 'not_pending' },
  })
})
