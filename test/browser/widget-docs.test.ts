import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { englishTexts } from '../../packages/widget/src/chat-texts.ts'
import { createApiKey } from '../../src/people/manage-api-keys.ts'
import { indexReady } from '../support/index-ready.ts'
import { tempDir } from '../support/temp.ts'
import { otherSite } from './support/other-site.ts'
import { stageForFile } from './support/stage.ts'

const document = readFileSync('packages/widget/README.md', 'utf8')
const examples = (language: string) =>
  Array.from(document.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')), ([, code = '']) => code)

const stage = stageForFile()
let environment: Record<string, string> = {}
beforeAll(async () => {
  const { ctx, url, tenantId } = stage()
  await indexReady(stage(), 'candidate')
  const by = { id: 'operator', name: 'Somebody', tenantId, isAdmin: true }
  const { token } = await createApiKey(ctx, by, { name: 'site', role: 'app', connectors: [], expiresAt: null })
  environment = { GANGLION_URL: url, GANGLION_KEY: token, GANGLION_KB: 'handbook' }
})

/** Runs a command of this repository's Node until the test ends. @returns what it prints first */
function started(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  return new Promise((done) => {
    child.stdout.once('data', (said) => done(String(said)))
    child.once('exit', () => done(''))
  })
}

/** A folder in which the package is installed. */
async function installed(): Promise<string> {
  const folder = tempDir()
  await started(['packages/widget/bundle-widget.ts', join(folder, 'node_modules/@ganglion/widget')])
  return folder
}

const question = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"message": "What is a candidate?"}',
}

test('the examples of both proxies answer', async () => {
  const folder = await installed()
  const [route = '', server = ''] = examples('js')
  writeFileSync(join(folder, 'route.mjs'), route)
  Object.assign(process.env, environment)
  const { POST } = await import(join(folder, 'route.mjs'))
  const answer = await POST(new Request('https://example.org/api/chat-proxy/chat', question))
  expect(await answer.json()).toMatchObject({ grounded: 'true', sessionId: expect.any(String) })
  writeFileSync(
    join(folder, 'server.mjs'),
    server.replace('.listen(8080)', '.listen(0, "127.0.0.1", function () { console.log(this.address().port) })'),
  )
  const port = await started([join(folder, 'server.mjs')], environment)
  const streamed = await fetch(`http://127.0.0.1:${port.trim()}/api/chat-proxy/chat`, {
    ...question,
    headers: { ...question.headers, accept: 'text/event-stream' },
  })
  expect(await streamed.text()).toMatch(/^event: delta\n[\s\S]*event: done\n/)
  const refused = await Promise.all(
    [
      ['nothing', question],
      ['chat', { method: 'GET' }],
      ['chat', { ...question, headers: { 'content-type': 'text/plain' } }],
      ['chat', { ...question, body: '{' }],
      ['chat', { ...question, body: JSON.stringify({ message: 'x'.repeat(300_000) }) }],
      ['chat', { ...question, body: '{"message": ""}' }],
      ['chat', { ...question, body: 'null' }],
    ].map(async ([name, init]) => (await fetch(`http://127.0.0.1:${port.trim()}/${name}`, init as RequestInit)).status),
  )
  expect(refused).toEqual([404, 415, 415, 400, 413, 400, 400])
})

test('the proxy shows no visitor what is not public, and tells nobody its key', async () => {
  const { fetchProxy } = await import('../../packages/widget/src/proxy.ts')
  const sent: [string, unknown][] = []
  const real = globalThis.fetch
  onTestFinished(() => {
    globalThis.fetch = real
  })
  globalThis.fetch = async (target, init) => {
    sent.push([String(target), JSON.parse(String(init?.body))])
    return Response.json({ error: 'invalid_token', message: 'gng_secret' }, { status: 401 })
  }
  const proxy = fetchProxy({ url: 'https://kb.example.org/', key: 'gng_secret', kb: 'help' })
  const body = JSON.stringify({
    ...{ message: 'm', query: 'q', neurons: ['help_00000001'], sessionId: 's', maxChars: 9e9, topK: 50 },
    ...{ kb: 'other', knowledgeBaseId: 'other', audience: 'curator', messages: [{ role: 'user', content: 'x' }] },
  })
  for (const name of ['chat', 'retrieve']) {
    const refused = await proxy(new Request(`https://example.org/x/${name}?a=/b`, { ...question, body }))
    expect([refused.status, await refused.text()]).toEqual([502, expect.not.stringContaining('gng_')])
  }
  expect(sent).toEqual([
    [
      'https://kb.example.org/api/v1/chat',
      { message: 'm', sessionId: 's', knowledgeBaseId: 'help', audience: 'public' },
    ],
    [
      'https://kb.example.org/api/v1/knowledge-bases/help/retrieve',
      { query: 'q', neurons: ['help_00000001'], maxChars: 4000, topK: 3, audience: 'public' },
    ],
  ])
})

test('the examples for pages do what the document says', async () => {
  const [, , listener = '', french = ''] = examples('js')
  const [, embed = '', german = ''] = examples('html')
  const [css = ''] = examples('css')
  const answer = { answer: 'Yes.', citations: [] }
  const origin = await otherSite(
    { html: `${embed.replace('/ganglion-chat.js', '/v1/trail-chat.js')}${german}`, css },
    {
      '/api/chat-proxy/chat': (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      },
    },
  )
  const page = await stage().browser.newPage()
  const logged: string[] = []
  page.on('console', (message) => void logged.push(message.text()))
  await page.goto(origin)
  await page.evaluate(listener)
  await page.evaluate(`{ ${french} }`)
  await page.getByRole('textbox', { name: 'Ask anything…' }).first().fill('Why?')
  await page.keyboard.press('Enter')
  await page.getByText('Yes.').waitFor()
  expect(logged).toEqual(['Why? 0'])
  await page.getByRole('textbox', { name: 'Ihre Frage' }).waitFor()
  await page
    .getByRole('region', { name: 'Fragen Sie uns' })
    .getByRole('button', { name: 'Fragen', exact: true })
    .waitFor()
  await page.getByRole('region', { name: 'Posez une question' }).getByRole('button', { name: 'Envoyer' }).waitFor()
  const look = `getComputedStyle(document.querySelector('ganglion-chat').shadowRoot.querySelector('.go')).backgroundColor`
  expect(await page.evaluate(look)).toBe('rgb(11, 107, 79)')
  await page.close()
})

test('the document lists every text', () => {
  const listed = Array.from(
    /The keys: ([\s\S]*?)\. The/.exec(document)?.[1]?.matchAll(/`([\w-]+)`/g) ?? [],
    ([, key]) => key,
  )
  expect(listed).toEqual(Object.keys(englishTexts))
})
