import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startProduct } from '../e2e/support.ts'

const run = promisify(execFile)
/** The examples, with the packages that they need installed. */
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'examples-'))
  const installed = join(folder, 'node_modules/@ganglion')
  cpSync('examples', folder, { recursive: true, filter: (path) => !path.includes('node_modules') })
  mkdirSync(installed, { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules/@modelcontextprotocol'), join(installed, '../@modelcontextprotocol'))
  await run(process.execPath, ['packages/client/pack.ts', join(installed, 'client')])
  await run(process.execPath, ['packages/widget/bundle-widget.ts', join(installed, 'widget')])
})

afterAll(() => rmSync(folder, { recursive: true }))

async function startWithPage() {
  const product = await startProduct()
  const { tokens, url, request } = product
  const page = {
    kb: 'handbook',
    kind: 'external-feed',
    title: 'VIPs',
    content: 'For a VIP, page the lead.',
    confidence: 1,
  }
  await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body: page })
  const keys = { GANGLION_KEY: tokens.app, GANGLION_CURATOR_KEY: tokens.curator }
  const env = { ...process.env, ...keys, GANGLION_URL: url, GANGLION_KB: 'handbook', PORT: '0' }
  const start = async (script: string, ...args: string[]) =>
    (await run(process.execPath, [join(folder, script), ...args], { env })).stdout.trim().split('\n')
  return { ...product, env, start }
}

test('the page shows the widget, whose proxy answers with the key that the page lacks', async () => {
  const { env } = await startWithPage()
  const child = spawn(process.execPath, [join(folder, 'widget-page/server.js')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  const [said] = await once(child.stdout, 'data')
  const get = async (path: string, init?: RequestInit) => {
    const response = await fetch(String(said).trim() + path, init)
    return [response.status, response.headers.get('content-type'), await response.text()]
  }
  expect(await get('/')).toEqual([200, 'text/html', expect.stringContaining('<ganglion-chat api="/api/chat-proxy"')])
  expect(await get('/ganglion-chat.js')).toEqual([200, 'text/javascript', expect.stringContaining('customElements')])
  expect(await get('/other')).toEqual([404, expect.anything(), expect.anything()])
  await expect(get('/', { method: 'OPTIONS' })).resolves.toHaveLength(3)
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
  const asked = await get('/api/chat-proxy/chat', {
    method: 'POST',
    headers,
    body: '{"message": "Whom do I page for a VIP?"}',
  })
  expect(asked).toEqual([200, 'text/event-stream', expect.stringMatching(/page the lead[\s\S]*event: done\n/)])
})

test('the sync submits each FAQ once, a changed one as a correction, and says what became of them', async () => {
  const { start, tokens, request, env } = await startWithPage()
  const decide = (path: string, body = {}) =>
    request('POST', `/api/v1/queue/candidates/${path}`, { as: tokens.curator, body })
  const pending = async () => {
    const { body } = await request('GET', '/api/v1/me/candidates?status=pending', { as: tokens.app })
    return (body.candidates as { candidateId: string }[]).map(({ candidateId }) => candidateId)
  }
  const [refunds, shipping] = ['How long can I ask for a refund?', 'Where do you ship to?']
  const waiting = [`pending\t-\t${refunds}\t-`, `pending\t-\t${shipping}\t-`]
  expect(await start('faq-sync/sync.js')).toEqual(waiting)
  expect(await start('faq-sync/sync.js')).toEqual(waiting)
  const [second = '', first = '', ...more] = await pending()
  expect(more).toEqual([])
  await decide(`${first}/approve`)
  await decide(`${second}/dismiss`, { reason: 'Said elsewhere.' })
  const decided = [`approved\thandbook_00000002\t${refunds}\t-`, `dismissed\t-\t${shipping}\tSaid elsewhere.`]
  expect(await start('faq-sync/sync.js')).toEqual(decided)
  expect(await pending()).toEqual([])

  appendFileSync(join(folder, 'faq-sync/faqs/refunds.md'), '\nA refund takes a week.\n')
  const follower = spawn(process.execPath, [join(folder, 'faq-sync/sync.js'), '--follow'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void follower.kill())
  const ended = once(follower, 'exit')
  expect(String((await once(follower.stdout, 'data'))[0])).toContain(`pending\t-\t${refunds}`)
  await decide(`${(await pending())[0]}/approve`)
  expect(await ended).toEqual([0, null])
  const { body } = await request('GET', '/api/v1/neurons/handbook/handbook_00000002', { as: tokens.app })
  expect(body).toMatchObject({ version: 2, content: expect.stringContaining('A refund takes a week.') })

  // A dismissed text is sent again once its file has changed: a page that never was approved, and a correction of one that was.
  for (const [title, file] of [
    [shipping, 'shipping'],
    [refunds, 'refunds'],
    [refunds, 'refunds'],
  ]) {
    appendFileSync(join(folder, `faq-sync/faqs/${file}.md`), '\nAsk us first.\n')
    expect(await start('faq-sync/sync.js')).toContain(`pending\t-\t${title}\t-`)
    await decide(`${(await pending())[0]}/dismiss`, { reason: 'No.' })
    expect(await start('faq-sync/sync.js')).toContain(`dismissed\t-\t${title}\tNo.`)
  }
})

test('the agent answers, and proposes what is missing', async () => {
  const { start } = await startWithPage()
  const answer = await start('agent/agent.js', 'Whom do I page for a VIP?')
  expect(answer.join('\n')).toContain('page the lead')
  expect(answer.slice(-2)).toEqual(['  handbook_00000001 VIPs', 'approved\tVIPs\t-'])
  const question = 'What colour is the moon?'
  const [none, verdict, ...proposed] = await start('agent/agent.js', question, 'The moon is grey.')
  expect(none).toMatch(/does not hold/)
  expect(verdict).toMatch(/^The policy would let it wait: /)
  expect(proposed).toEqual([`pending\t${question}\t-`, 'approved\tVIPs\t-'])
  // Run again, with or without more to say, it proposes nothing twice.
  for (const more of [[], ['It is grey at night.']]) {
    const [, ...again] = await start('agent/agent.js', question, 'The moon is grey.', ...more)
    expect(again).toEqual(proposed)
  }
})

test('the agent is asked for a change by the curator, revises its page, and sees it cited', async () => {
  const { start, request, tokens } = await startWithPage()
  const question = 'When is the desk open?'
  const texts = ['The desk is open from nine to five.', 'That holds since May 2026.']
  const [curated, followed] = await Promise.all([
    start('agent/curator.js'),
    start('agent/agent.js', '--follow', question, ...texts),
  ])
  expect(curated).toEqual([`Asked for a change of version 1: ${question}`, `Approved version 2: ${question}`])
  const [none, verdict, asked, ...answered] = followed
  expect([none, verdict, asked]).toEqual([
    expect.stringMatching(/does not hold/),
    expect.stringMatching(/^The policy would let it wait: /),
    'A curator asks: Say since when.',
  ])
  expect(answered.join('\n')).toContain('open from nine to five')
  expect(answered.slice(-3)).toEqual([
    `  handbook_00000002 ${question}`,
    `approved\t${question}\t-`,
    'approved\tVIPs\t-',
  ])
  const { body } = await request('GET', '/api/v1/neurons/handbook/handbook_00000002', { as: tokens.app })
  expect(body).toMatchObject({ version: 1, content: texts.join('\n\n') })
  // An answer that cites the page is all that a second run has to say.
  expect((await start('agent/agent.js', question, ...texts)).slice(-3)).toEqual(answered.slice(-3))
})
