import type { Client } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { ingestSteps } from '../../src/sources/ingest/ingest-steps.ts'
import { startIngest } from '../../src/sources/ingest/job-runner.ts'
import { mcpClient, textOf } from '../http/support/mcp-client.ts'
import { eventually } from '../support/eventually.ts'
import { type Product, startProduct } from './support.ts'

const proposal = {
  kb: 'handbook',
  action: 'new',
  title: 'VIP policy',
  content: 'When a VIP customer raises a ticket, page the lead.',
}

async function call(client: Client, name: string, args: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: args })
  return { text: textOf(result), isError: result.isError === true, ...Object(result.structuredContent) }
}

/** Proposes a Neuron through the protocol and approves it; gives its seqId. */
async function addNeuron({ url, tokens, request }: Product, changes: Record<string, unknown> = {}): Promise<string> {
  const client = await mcpClient(url, tokens.app)
  const { candidateId } = await call(client, 'propose', { ...proposal, ...changes })
  const approval = await request('POST', `/api/v1/queue/candidates/${candidateId}/approve`, { as: tokens.curator })
  expect(approval.status).toBe(200)
  return String(approval.body.seqId)
}

test('an agent proposes a Neuron, and once it is approved finds, retrieves, reads and is told of it', async () => {
  const product = await startProduct()
  const { url, tokens, request, kbId } = product
  const agent = await mcpClient(url, tokens.app)
  expect(await call(agent, 'list_knowledge_bases', {})).toMatchObject({
    knowledgeBases: [{ id: kbId, slug: 'handbook', prefix: 'handbook' }],
  })
  expect(await call(agent, 'retrieve', { kb: 'handbook', query: 'Who is paged?' })).toMatchObject({ hitCount: 0 })

  const onBehalfOf = { id: 'u-17', name: 'Ann' }
  const { candidateId, status } = await call(agent, 'propose', { ...proposal, onBehalfOf })
  expect(status).toBe('pending')
  const queued = await request('GET', `/api/v1/queue/candidates/${candidateId}`, { as: tokens.curator })
  expect(queued.body).toMatchObject({ title: proposal.title, connector: 'mcp', onBehalfOf })
  await request('POST', `/api/v1/queue/candidates/${candidateId}/approve`, { as: tokens.curator })

  const reader = await mcpClient(url, tokens.reader)
  const found = await call(reader, 'search', { kb: kbId, query: 'vip' })
  expect(found).toMatchObject({ total: 1, results: [{ title: 'VIP policy' }] })
  const [result] = 'results' in found && Array.isArray(found.results) ? found.results : []
  expect(await call(reader, 'fetch', { id: Object(result).id })).toMatchObject({
    metadata: { seqId: 'handbook_00000001' },
  })
  const retrieved = await call(reader, 'retrieve', { kb: 'handbook', query: 'Who is paged for a VIP ticket?' })
  expect(retrieved).toMatchObject({ hitCount: 1, text: expect.stringContaining('page the lead') })
  expect(retrieved.text).toContain('handbook_00000001')
  const read = await call(reader, 'read_neuron', { kb: 'handbook', seqId: 'handbook_00000001' })
  expect(read.text).toBe(`# VIP policy\n\n[handbook_00000001], version 1\n\n${proposal.content}`)
  const answer = await call(reader, 'ask', { kb: 'handbook', message: 'Who is paged for a VIP ticket?' })
  expect(answer).toMatchObject({ citations: [{ seqId: 'handbook_00000001' }] })
  expect(answer.text).toContain('[handbook_00000001]')
})

test('a Source is fetched from its own knowledge base', async () => {
  const { ctx, url, tokens, request } = await startProduct()
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'annex' })
  onTestFinished(await startIngest(ctx, ingestSteps(ctx, undefined), { onError: () => {} }))
  const form = new FormData()
  form.set('file', new Blob(['# Otters\n\nOtters swim in rivers.']), 'otters.md')
  const upload = '/api/v1/knowledge-bases/handbook/documents/upload'
  const { id } = (await request('POST', upload, { as: tokens.app, body: form })).body
  const agent = await mcpClient(url, tokens.app)
  await eventually(async () =>
    expect(await call(agent, 'fetch', { id: `handbook/${id}` })).toMatchObject({
      title: 'otters.md',
      text: expect.stringContaining('Otters swim in rivers.'),
      metadata: { kb: 'handbook', fileType: 'md' },
    }),
  )
  expect((await call(agent, 'fetch', { id: `annex/${id}` })).text).toContain('not_found')
})

test('what an audience may not see is not there for its agents', async () => {
  const product = await startProduct()
  const { url, tokens } = product
  const seqId = await addNeuron(product, { tags: ['internal'] })
  const missing = { isError: true, text: '{"error":"not_found","message":"There is nothing here."}' }
  for (const token of [tokens.reader, tokens.app]) {
    const agent = await mcpClient(url, token)
    expect(await call(agent, 'search', { kb: 'handbook', query: 'vip' })).toMatchObject({ total: 0, results: [] })
    expect(await call(agent, 'retrieve', { kb: 'handbook', query: 'vip' })).toMatchObject({ hitCount: 0 })
    expect(await call(agent, 'read_neuron', { kb: 'handbook', seqId })).toEqual(missing)
    const { citations = [] } = await call(agent, 'ask', { kb: 'handbook', message: 'Who is paged for a VIP?' })
    expect(citations).toEqual([])
  }
  const curator = await mcpClient(url, tokens.curator)
  expect(await call(curator, 'search', { kb: 'handbook', query: 'vip' })).toMatchObject({ total: 1 })
})

test('another tenant’s knowledge base answers like one that is not there', async () => {
  const product = await startProduct()
  const { url, ctx, newKey, kbId } = product
  const seqId = await addNeuron(product)
  await createKnowledgeBase(ctx, { tenant: 'other', slug: 'own' })
  const stranger = await mcpClient(url, await newKey('other', 'curator'))
  expect(await call(stranger, 'list_knowledge_bases', {})).toMatchObject({ knowledgeBases: [{ slug: 'own' }] })
  for (const kb of ['handbook', kbId, 'nothing']) {
    const { kb: _kb, ...submission } = proposal
    for (const [tool, args] of Object.entries({
      search: { query: 'vip' },
      retrieve: { query: 'vip' },
      read_neuron: { seqId },
      propose: submission,
      ask: { message: 'vip' },
    })) {
      expect([tool, await call(stranger, tool, { kb, ...args })]).toEqual([
        tool,
        { isError: true, text: '{"error":"not_found","message":"There is nothing here."}' },
      ])
    }
  }
})

test('a key that was revoked is let in no more', async () => {
  const { url, newKey, ctx } = await startProduct()
  const agent = await mcpClient(url, await newKey('acme', 'reader'))
  await agent.listTools()
  const [key] = (await ctx.apiKeys.list()).slice(-1)
  await ctx.apiKeys.revoke(key?.id ?? '', new Date(), key?.tenantId ?? '')
  await expect(agent.listTools()).rejects.toThrow()
})
