import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { main } from '../cli/support.ts'
import { startProduct } from './support.ts'

const document = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8')

function examples(language: string): string[] {
  return Array.from(document.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms')), ([, text = '']) => text)
}

test('each example of the document for agents is answered', async () => {
  const { url, ctx, tokens } = await startProduct()
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'demo' })
  const headerOf = (token: string) => `"Authorization: Bearer ${token}"`
  const variables = `url=${url} app=${headerOf(tokens.app)} curator=${headerOf(tokens.curator)} json="Content-Type: application/json"`
  const ran = examples('sh').map(async (script) => {
    const command = script.replaceAll(/(?<=\| .*)\bganglion\b/g, `${process.execPath} ${main}`)
    const { stdout } = await promisify(execFile)('bash', ['-euc', `${variables}\n${command}`])
    return JSON.parse(stdout) as unknown
  })
  const all = await Promise.all(ran)
  const answers = all.filter((answer) => Object(answer).reversals === undefined)
  expect([all.length - answers.length, answers.length >= 3]).toEqual([1, true])
  const [metadata, ...others] = answers.toSorted((answer) => (Object(answer).resource === undefined ? 1 : -1))
  expect(metadata).toMatchObject({ resource: `${url}/mcp`, authorization_servers: [url] })
  for (const answer of others) {
    expect(answer).toMatchObject({ jsonrpc: '2.0', result: expect.not.objectContaining({ isError: true }) })
  }
})

test('the settings of clients in the document are JSON', () => {
  const settings = examples('json').map((text) => JSON.parse(text) as unknown)
  expect(settings).toEqual([{ mcpServers: { ganglion: expect.objectContaining({ command: 'ganglion' }) } }])
})
