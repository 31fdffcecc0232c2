import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startProduct } from '../e2e/support.ts'
import { tempDir } from '../support/temp.ts'

const folder = import.meta.dirname
const bin = (name: string) => join(folder, 'node_modules/.bin', name)
const names = ['list_knowledge_bases', 'search', 'fetch', 'retrieve', 'read_neuron', 'links', 'ask']
const proposing = ['propose', 'my_candidates', 'revise_proposal', 'withdraw_proposal', 'feedback']
const Adapter = z.object({ tools: z.array(z.string()), found: z.unknown() })

async function withPage() {
  const product = await startProduct()
  const candidate = { kb: 'handbook', kind: 'external-feed', title: 'VIPs', content: 'Page the lead.', confidence: 1 }
  await product.request('POST', '/api/v1/queue/candidates', { as: product.tokens.app, body: candidate })
  return product
}

test('the adapters of Vercel and LangChain list the tools and call one', async () => {
  const { url, tokens } = await withPage()
  const script = join(folder, 'consumer/mcp-adapters.mjs')
  const { stdout } = await promisify(execFile)(process.execPath, [script, url, tokens.app])
  const adapters = z.object({ vercel: Adapter, langchain: Adapter }).parse(JSON.parse(stdout))
  for (const { tools, found } of Object.values(adapters)) {
    expect(tools).toEqual([...names, ...proposing])
    expect(JSON.stringify(found)).toContain('handbook_00000001')
  }
})

test('mcp-remote carries messages for clients that start programs', async () => {
  const { url, tokens } = await withPage()
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin('mcp-remote'), `${url}/mcp`, '--header', `Authorization: Bearer ${tokens.reader}`],
      env: { HOME: tempDir() },
      stderr: 'ignore',
    }),
  )
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names)
  const { structuredContent } = await client.callTool({ name: 'search', arguments: { query: 'lead' } })
  expect(structuredContent).toMatchObject({ total: 1 })
})

test('the inspector lists the tools', async () => {
  const { url, tokens } = await startProduct()
  const args = ['--cli', `${url}/mcp`, '--transport', 'http', '--method', 'tools/list']
  const header = ['--header', `Authorization: Bearer ${tokens.app}`]
  const { stdout } = await promisify(execFile)(process.execPath, [bin('mcp-inspector'), ...args, ...header])
  const { tools } = z.object({ tools: z.array(z.object({ name: z.string() })) }).parse(JSON.parse(stdout))
  expect(tools.map(({ name }) => name)).toEqual([...names, ...proposing])
})
