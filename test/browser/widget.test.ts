import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { nodeProxy } from '../../packages/widget/src/proxy.ts'
import { createApiKey } from '../../src/people/manage-api-keys.ts'
import { indexReady } from '../support/index-ready.ts'
import { violationsOf } from './support/axe.ts'
import { json, otherSite, scripted } from './support/other-site.ts'
import { stageForFile } from './support/stage.ts'

/** Embedding as the upstream product documents it, with another URL of the script. */
const upstream = `<script type="module"
  src="/v1/trail-chat.js"></script>

<trail-chat
  api="/api/chat-proxy"
  theme="auto"
  height="600px"></trail-chat>`
const chat = (attributes = '') =>
  `<script src="/v1/trail-chat.js" async></script><ganglion-chat api="/api" ${attributes}></ganglion-chat>`

const stage = stageForFile()
let key = ''
beforeAll(async () => {
  const { ctx, tenantId } = stage()
  await indexReady(stage(), 'candidate')
  const by = { id: 'operator', name: 'Somebody', tenantId, isAdmin: true }
  key = (await createApiKey(ctx, by, { name: 'site', role: 'app', connectors: [], expiresAt: null })).token
})

type Visit = { page: Page; alarms: string[] }

async function visit(
  origin: string,
  options: Parameters<ReturnType<typeof stage>['browser']['newContext']>[0] = {},
): Promise<Visit> {
  const context = await stage().browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options })
  const page = await context.newPage()
  const alarms: string[] = []
  page.on('pageerror', (error) => alarms.push(error.message))
  page.on('dialog', (dialog) => void dialog.dismiss().then(() => alarms.push('a script ran')))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to|Trusted/.test(message.text())) alarms.push(message.text())
  })
  await page.goto(origin)
  await page.locator('textarea').waitFor({ state: 'attached' })
  return { page, alarms }
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByRole('textbox').first().fill(question)
  await page.keyboard.press('Enter')
}

const lastArticle = (page: Page) => page.getByRole('article').last()

test("the upstream's snippet answers, cites and takes votes through a proxy, under a strict policy", async () => {
  const { ctx, url } = stage()
  const proxy = nodeProxy({ url, key, kb: 'handbook' })
  const paths = ['chat', 'feedback', 'retrieve'].map((name) => [`/api/chat-proxy/${name}`, proxy] as const)
  const script = `globalThis.told = []; for (const name of ['trail-chat:ready', 'trail-chat:answer', 'ganglion-chat:ready', 'ganglion-chat:answer'])
    addEventListener(name, ({ type, detail }) => told.push([type, detail.question, detail.citations?.length > 0]))`
  const origin = await otherSite({ html: upstream, script }, Object.fromEntries(paths))
  const { page, alarms } = await visit(origin)
  await ask(page, 'What is a candidate?')
  await page.getByText('Sources').waitFor()
  expect(await page.evaluate('told')).toEqual([
    ['trail-chat:ready', undefined, false],
    ['ganglion-chat:ready', undefined, false],
    ['trail-chat:answer', 'What is a candidate?', true],
    ['ganglion-chat:answer', 'What is a candidate?', true],
  ])
  expect(await lastArticle(page).innerText()).not.toMatch(/handbook_\d{8}/)
  await page.locator('summary').first().click()
  await expect.poll(() => page.locator('.passage').first().innerText()).toMatch(/candidate/i)
  expect(await page.getByRole('status').innerText()).toBe('The answer is here.')
  expect(await violationsOf(page)).toEqual([])

  await page.getByRole('button', { name: 'Not helpful' }).click()
  const form = page.getByRole('form', { name: 'Not helpful' })
  expect(await violationsOf(page)).toEqual([])
  await form.getByLabel('Kind of problem').selectOption('missing-info')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByLabel('What is wrong').fill('Who decides?')
  await form.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Thank you. A curator will read it.').first().waitFor()
  const mine = async () => {
    const headers = { authorization: `Bearer ${key}` }
    return (await fetch(`${url}/api/v1/me/candidates?kb=handbook`, { headers })).json()
  }
  const vote = { kind: 'reader-feedback', status: 'pending', title: 'Feedback: What is a candidate?' }
  expect(await mine()).toMatchObject({ candidates: [{ ...vote, version: 1 }] })
  const helpful = (pressed: boolean) => page.getByRole('button', { name: 'Helpful', exact: true, pressed })
  await helpful(false).click()
  await helpful(true).waitFor()
  expect(await violationsOf(page)).toEqual([])
  expect(await mine()).toMatchObject({ candidates: [{ ...vote, version: 2 }] })
  await helpful(true).click()
  await helpful(false).waitFor()
  expect([await page.locator('.thanks').count(), await mine()]).toMatchObject([
    0,
    { candidates: [{ ...vote, status: 'dismissed', version: 2 }] },
  ])

  await ask(page, 'Who approves it?')
  await page.getByRole('article').nth(1).getByText('Sources').waitFor()
  const sessions = await ctx.database.db.selectFrom('chat_sessions').select(['audience']).execute()
  expect(sessions).toEqual([{ audience: 'public' }])
  await page.reload()
  await page.getByRole('article').nth(1).waitFor()
  await page.getByRole('button', { name: 'New conversation' }).click()
  expect([await page.getByRole('article').count(), alarms]).toEqual([0, []])
  await page.context().close()
})

const sentence = 'The lead is paged [demo_00000013].'
const cited = { documentId: 'd', path: 'p.md', filename: 'p.md', seqId: 'demo_00000013', title: 'On call' }
const fine = { answer: sentence, sessionId: 's-1', turnId: 't-1', citations: [cited] }
const events = (...lines: readonly [string, unknown][]) =>
  lines.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

test('a page whose styles break everything leaves the widget as it is', async () => {
  const css = `* { display: inline !important; color: red !important; font: 60px serif !important; letter-spacing: 1em !important; position: static !important }
    button, textarea, p { visibility: hidden !important; width: 1px !important } ganglion-chat { text-transform: uppercase; line-height: 9; white-space: pre; cursor: none }`
  const looks = []
  for (const style of ['', css]) {
    const origin = await otherSite(
      { html: `<div>${chat('theme="light"')}</div>`, css: style },
      { '/api/chat': scripted([json(fine)]) },
    )
    const { page, alarms } = await visit(origin)
    await ask(page, 'Who is paged?')
    await page.getByText('The lead is paged.').waitFor()
    const names = [
      ...['display', 'visibility', 'color', 'font-size', 'letter-spacing', 'text-transform', 'white-space'],
      ...['line-height', 'cursor', 'position'],
    ]
    const lookOf = `(names) => ['.panel', '.go', 'textarea', '.answer p'].map((selector) => {
      const style = getComputedStyle(document.querySelector('ganglion-chat').shadowRoot.querySelector(selector))
      return names.map((name) => style.getPropertyValue(name))
    })`
    looks.push(await page.evaluate(`(${lookOf})(${JSON.stringify(names)})`))
    expect([alarms, await page.locator('.panel').evaluate(({ clientHeight }) => clientHeight)]).toEqual([[], 598])
    await page.context().close()
  }
  expect(looks[1]).toEqual(looks[0])
})

test('a hostile answer runs, loads and leads to nothing', async () => {
  const hostile = [
    '<script>alert(1)</script> <img src=x onerror=alert(1)> <iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '[a](javascript:alert(1)) [b](java\tscript:alert(1)) [c](&#106;avascript:alert(1)) [d](data:text/html,x) <javascript:alert(1)> [e](/admin) [f][ref]',
    '![pixel](https://evil.example/p.png) [good](https://good.example/?a=1&amp;b=2) **bold** `<b>` &lt;i&gt; | snake_case_word | src/**/*.ts',
    '| a | b |\n|---|---|\n| <b>1</b> | 2 |',
    '[ref]: javascript:alert(1)',
    '> '.repeat(9000),
    '_a'.repeat(4000),
    `\u202e${'['.repeat(3000)}`,
    'word '.repeat(20_000),
  ].join('\n\n')
  const citations = [{ ...cited, title: '<img src=x onerror=alert(1)>', url: 'javascript:alert(1)' }]
  const sent: unknown[] = []
  const origin = await otherSite(
    { html: chat('cite-format="footnote"') },
    {
      '/api/chat': scripted(
        [json({ ...fine, answer: `${sentence}\n\n${hostile}`, citations, notice: '<b>x</b>' })],
        sent,
      ),
    },
  )
  const { page, alarms } = await visit(origin)
  const requested: string[] = []
  page.on('request', (request) => requested.push(new URL(request.url()).pathname))
  await ask(page, '<script>alert(1)</script>')
  await page.getByText('Sources').waitFor()
  await page.getByRole('button', { name: 'Source 1: <img' }).click()
  expect(await page.evaluate("document.querySelector('ganglion-chat').shadowRoot.activeElement.localName")).toBe(
    'summary',
  )
  await page.getByText('The text of this page cannot be shown here.').waitFor()
  const links = await page.locator('article a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  expect(links).toEqual(['https://good.example/?a=1&b=2'])
  expect(await page.locator('article').locator('img, script, iframe, b, [onerror]').count()).toBe(0)
  const text = await lastArticle(page).innerText()
  expect(text).toContain('bold <b> <i> | snake_case_word | src/**/*.ts')
  expect([text.length < 80_000, await page.locator('td').allInnerTexts()]).toEqual([true, ['<b>1</b>', '2']])
  expect([requested, alarms]).toEqual([['/api/chat', '/api/retrieve'], []])
  await page.context().close()
})

test('what goes wrong is said in words, and the question is asked again by a button', async () => {
  const half = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(events(['delta', { text: 'Half an **ans' }])[0])
    setTimeout(() => response.destroy(), 200)
  }
  const slow = async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': \n\n')
    for (const piece of events(['delta', { text: 'It is ' }])) response.write(piece)
    await delay(60_000, undefined, { ref: false })
  }
  const whole = async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const stream = events(['delta', { text: 'The lead' }], ['delta', { text: ' is' }], ['done', fine])
      .join('')
      .replaceAll('\n', '\r\n')
    // Cut within lines and characters.
    for (let at = 0; at < stream.length; at += 7) response.write(stream.slice(at, at + 7))
    response.end()
  }
  const sent: unknown[] = []
  const answers = [
    json({ error: 'rate_limited' }, 429, { 'retry-after': '12' }),
    json({ error: 'rate_limited' }, 429, { 'retry-after': '40000' }),
    json({ error: 'site_disabled' }, 403),
    json({ error: 'foreign_origin' }, 403),
    json({ error: 'trail_upstream' }, 502),
    json({ error: 'x', message: '<b>Too long.</b>' }, 400),
    json({ citations: [] }),
    half,
    slow,
    whole,
    json({ ...fine, answer: 'And more.' }),
  ]
  const script = `globalThis.told = []; addEventListener('trail-chat:error', ({ detail }) => told.push(detail.message))`
  const origin = await otherSite({ html: chat(), script }, { '/api/chat': scripted(answers, sent) })
  const { page, alarms } = await visit(origin)
  await ask(page, 'Who is paged?')
  const again = page.getByRole('button', { name: 'Try again' })
  const said: string[] = []
  for (let count = 0; count < 8; count++) {
    await again.waitFor()
    said.push((await page.locator('.problem span').innerText()).trim())
    if (count === 7) expect(await page.locator('.answer').innerText()).toBe('Half an **ans')
    if (count === 0) expect(await violationsOf(page)).toEqual([])
    await again.click()
    await expect.poll(() => sent.length).toBe(count + 2)
  }
  await page.getByText('It is').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.locator('.problem').getByText('Stopped.').waitFor()
  await page.context().setOffline(true)
  await again.click()
  await page.locator('.problem').getByText('You are offline').waitFor()
  await page.context().setOffline(false)
  await again.click()
  await page.getByText('The lead is paged.').waitFor()
  await page.getByRole('button', { name: 'Copy' }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('The lead is paged.')
  await ask(page, 'And then?')
  await page.getByText('And more.').waitFor()
  expect(said).toEqual([
    'Too many questions in a short time. Try again in 12 seconds.',
    'The questions of today are used up. Try again tomorrow.',
    'This chat is switched off.',
    'This page may not use the chat: its address is not among those of the site.',
    'The question could not be answered.',
    '<b>Too long.</b>',
    'The question could not be answered.',
    'The answer was cut off.',
  ])
  expect(await page.evaluate('told.length')).toBe(9)
  expect(sent.at(-1)).toEqual({ message: 'And then?', sessionId: 's-1' })
  expect([new Set(sent.slice(0, -1).map((body) => JSON.stringify(body))), alarms]).toEqual([
    new Set(['{"message":"Who is paged?"}']),
    [],
  ])
  await page.context().close()
})

test('an attribute that is set during an answer keeps the answer, the question and the focus', async () => {
  const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>()
  const answer = async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(events(['delta', { text: 'The lead' }])[0])
    await rest
    response.end(events(['done', fine]).join(''))
  }
  const origin = await otherSite({ html: chat() }, { '/api/chat': scripted([answer]) })
  const { page, alarms } = await visit(origin)
  const set = (name: string, value: string) =>
    page
      .locator('ganglion-chat')
      .evaluate((element, [name = '', value = '']) => element.setAttribute(name, value), [name, value])
  await ask(page, 'Who is paged?')
  await page.getByText('The lead').waitFor()
  await page.getByRole('textbox').fill('And then?')
  for (const [name, value] of Object.entries({
    placeholder: 'Next',
    height: '300',
    'cite-format': 'off',
    mode: 'launcher',
    api: '/api',
  }))
    await set(name, value)
  sendRest()
  await page.getByText('The lead is paged').waitFor()
  const box = page.getByRole('textbox')
  expect([await box.inputValue(), await box.getAttribute('placeholder')]).toEqual(['And then?', 'Next'])
  expect(await box.evaluate((input) => input.matches(':focus'))).toBe(true)
  expect([await page.getByText('Sources').count(), alarms]).toEqual([0, []])
  await page.context().close()
})

test('by keyboard alone, on 320 px, right to left, dark, in another language, as a launcher', async () => {
  const html = `<div dir="rtl" lang="ar">${chat('mode="launcher" text-ask="اسأل" text-open="افتح" text-up="مفيد" placeholder="سؤالك" theme="dark" height="5000"')}</div>`
  const wide = {
    ...fine,
    answer: `| ${'wide '.repeat(60)} |\n|---|\n| x |\n\n\`\`\`\n${'long'.repeat(100)}\n\`\`\`\n\n${'x'.repeat(500)}`,
  }
  const feedback: unknown[] = []
  const routes = {
    '/api/chat': scripted([json(wide)]),
    '/api/feedback': scripted([json({ candidateId: 'c' }, 201)], feedback),
  }
  const origin = await otherSite({ html }, routes)
  const { page, alarms } = await visit(origin, { viewport: { width: 320, height: 480 }, colorScheme: 'dark' })
  const launcher = page.getByRole('button', { name: 'افتح' })
  expect([await launcher.getAttribute('aria-expanded'), await page.getByRole('textbox').isVisible()]).toEqual([
    'false',
    false,
  ])
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.keyboard.type('سؤال\n')
  await page.getByText('Sources').waitFor()
  expect(await violationsOf(page)).toEqual([])
  const box = await page.locator('.panel').boundingBox()
  expect(box !== null && box.x >= 0 && box.x + box.width <= 320 && box.y >= 0).toBe(true)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  expect(await page.locator('.log').evaluate((log) => log.scrollWidth <= log.clientWidth)).toBe(true)
  const up = page.getByRole('button', { name: 'مفيد' })
  for (let presses = 0; presses < 30 && !(await up.evaluate((button) => button.matches(':focus'))); presses++)
    await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.locator('.thanks').waitFor()
  expect(feedback).toMatchObject([
    { vote: 'up', question: 'سؤال', sessionId: 's-1', turnId: 't-1', pageUrl: `${origin}/` },
  ])
  await page.getByRole('textbox').focus()
  await page.keyboard.press('Escape')
  expect(await page.getByRole('textbox').isVisible()).toBe(false)
  expect([await launcher.evaluate((button) => button.matches(':focus')), alarms]).toEqual([true, []])
  await page.context().close()
})
