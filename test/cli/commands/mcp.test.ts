import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import { startProduct } from '../../e2e/support.ts'
import { revisions, textOf } from '../../http/support/mcp-client.ts'
import { finished, startNode } from '../../support/process.ts'
import { ganglion, main } from '../support.ts'

test.each(revisions)('an agent that starts programs uses a server over stdio, %s', async (mode) => {
  const { url, tokens, newKey, ctx } = await startProduct()
  const env = { GANGLION_KEY: await newKey('acme', 'app') }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, 'mcp', '--url', `${url}/`],
    env,
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const proposal = { kb: 'handbook', action: 'new', title: 'Grüße', content: 'Page the lead.' }
  const receipt = await client.callTool({ name: 'propose', arguments: proposal })
  expect(receipt.structuredContent).toMatchObject({ status: 'pending' })
  expect((await client.readResource({ uri: 'ganglion://handbook' })).contents).toHaveLength(1)
  const wrong = await client.callTool({ name: 'search', arguments: { query: 7 } })
  expect([wrong.isError, textOf(wrong)]).toEqual([true, expect.stringContaining('The query must be text.')])
  const [key] = (await ctx.apiKeys.list()).slice(-1)
  await ctx.apiKeys.revoke(key?.id ?? '', new Date(), key?.tenantId ?? '')
  await expect(client.listTools()).rejects.toThrow('The bearer token is missing or invalid.')
  expect(tokens.app).not.toBe(env.GANGLION_KEY)
})

test('answers what it was asked before its input ended, and ends', async () => {
  const { url, tokens } = await startProduct()
  const child = startNode([main, 'mcp'], { env: { GANGLION_URL: url, GANGLION_KEY: tokens.reader } })
  const lines = [1, 2].map((id) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' }))
  child.stdin?.end(`${lines.join('\n')}\n`)
  const { code, stdout } = await finished(child)
  const ids = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: number }).id)
  expect([code, ids.toSorted()]).toEqual([0, [1, 2]])
})

test('says that the server cannot be reached, to each request', async () => {
  const child = startNode([main, 'mcp'], { env: { GANGLION_URL: 'http://127.0.0.1:1', GANGLION_KEY: 'gng_x' } })
  child.stdin?.write('{"jsonrpc":"2.0","id":"a","method":"ping"}\n')
  const [line] = child.stdout === null ? [] : await once(child.stdout, 'data')
  expect(JSON.parse(String(line))).toMatchObject({
    id: 'a',
    error: { message: 'http://127.0.0.1:1 cannot be reached.' },
  })
})

test('needs a key and a server', async () => {
  expect(await ganglion(['mcp'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--url or GANGLION_URL') })
  expect(await ganglion(['mcp', '--url', 'http://127.0.0.1:1'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('GANGLION_KEY must hold an API key'),
  })
})
