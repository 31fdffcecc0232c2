import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeSetUpLink } from '../../src/people/follow-links.ts'
import { startLoadBalancer } from '../cluster/support/load-balancer.ts'
import { mcpClient, textOf } from '../http/support/mcp-client.ts'
import { freePort } from '../support/free-port.ts'
import { tempDir } from '../support/temp.ts'
import { runUserGit, userEnvironment } from '../support/user-git.ts'
import { submitted } from './support/candidates.ts'
import { stageForFile } from './support/stage.ts'
import { visitorIn } from './support/visitor.ts'

// The same path as of the console's own pages.
const prefix = '/kb'
const port = await freePort()
const origin = `http://127.0.0.1:${port}`
const publicUrl = origin + prefix
const stage = stageForFile(undefined, { publicUrl })

/** Starts the nginx of `deploy` in front of the stage, with another location than `/`. */
async function startNginx(location: string, pass: string): Promise<void> {
  const node = Number(new URL(stage().url).port)
  const change = (text: string) => {
    return text.replace('location / {', location).replace('proxy_pass http://ganglion;', pass)
  }
  await startLoadBalancer('nginx', [node, node, node], change, port)
}

const kept = { location: `location ${prefix}/ {`, pass: 'proxy_pass http://ganglion;' }
const removed = { ...kept, pass: `proxy_pass http://ganglion/; proxy_set_header X-Forwarded-Prefix ${prefix};` }

test.each([
  { name: 'passes on', ...kept },
  { name: 'removes', ...removed },
])('the console works below a path that a proxy $name', async ({ location, pass, name }) => {
  await startNginx(location, pass)
  const { ctx, browser } = stage()
  await submitted(stage(), [
    { title: `Otter ${name}`, content: 'Otters [[Start here]].\n\n`<a href="/queue">` is text.' },
    { title: `Badger ${name}`, content: 'Badgers dig.' },
  ])
  for (const { id } of await ctx.users.administrators()) await ctx.users.setDisabled(id, new Date())
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const { page, alarms } = await visitorIn(context, origin)
  page.on('response', (answer) => {
    if (answer.status() >= 400) alarms.push(`${answer.status()} ${answer.url()}`)
  })
  const isAt = (path: string) => page.waitForURL((url) => url.pathname.startsWith(prefix + path))

  await page.goto(String(await makeSetUpLink(ctx).then((token) => ctx.urls.setUp(token ?? ''))))
  await page.getByLabel('E-mail').fill(`${name.replace(' ', '-')}@example.com`)
  await page.getByLabel('Your name').fill('Ada')
  await page.getByLabel('Password').fill('kolibri tanzt leise')
  const events = page.waitForResponse(`${publicUrl}/api/v1/events`)
  await page.getByRole('button', { name: 'Make my account' }).click()
  await isAt('/')
  expect((await events).status()).toBe(200)
  expect(new Set((await context.cookies()).map(({ path }) => path))).toEqual(new Set([prefix]))
  expect((await context.request.get(`${publicUrl}/form-token`)).status()).toBe(200)

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Jump to' }).fill('seqid')
  await page.getByRole('option', { name: 'SeqId' }).first().waitFor()
  await page.keyboard.press('Enter')
  await isAt('/kb/handbook/neurons/')
  await page.goto(`${publicUrl}/kb/handbook/search`)
  await page.locator('main input[name=q]').fill('curator')
  await page.locator('.hits a').first().click()
  await isAt('/kb/handbook/neurons/')

  await page.goto(`${publicUrl}/queue?text=${encodeURIComponent(name)}&sort=oldest`)
  await page.locator('[data-entry] a', { hasText: 'Otter' }).click()
  await isAt('/queue/')
  expect(await page.locator('main').innerText()).toContain('<a href="/queue">')
  await page.locator('form[data-decide] button', { hasText: 'Approve' }).first().click()
  await page.getByText(`Approved`).first().waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/kb\/queue/)

  await page.goto(`${publicUrl}/kb/handbook/new?title=Stoat`)
  await page.locator('.cm-content').first().pressSequentially('[[seq')
  await page.locator('.cm-tooltip [role="option"]').first().waitFor()

  await page.goto(`${publicUrl}/kb/handbook/sources`)
  const file = { name: `${name}.md`, mimeType: 'text/markdown', buffer: Buffer.from(`# Of ${name}\n\nText.`) }
  await page.setInputFiles('#upload input[type=file]', file)
  await page.locator('.uploads').getByText('Uploaded.').waitFor()
  await page.locator('.uploads li a').click()
  await isAt('/kb/handbook/sources/')

  await page.goto(`${publicUrl}/kb/handbook/chat`)
  await page.locator('#ask textarea').fill('What is a seqId?')
  await page.locator('#ask button[type=submit]').click()
  await isAt('/kb/handbook/chat/')
  await page.locator('.turn a[href*="/neurons/"]').first().click()
  await isAt('/kb/handbook/neurons/')

  await page.goto(publicUrl)
  await page.getByRole('link', { name: 'API reference' }).click()
  const operation = page.locator('#operations-Neurons-listKnowledgeBases')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()

  const get = async (url: string) => {
    const answer = await context.request.get(url, { headers: { accept: 'text/html,*/*' } })
    return { status: answer.status(), text: await answer.text(), type: answer.headers()['content-type'] ?? '' }
  }
  expect(await strayAddresses(publicUrl, get)).toEqual([])
  await page.goto(publicUrl)
  await page.locator('.account > button').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await isAt('/sign-in')
  expect(alarms).toEqual([])
  await context.close()
})

test('programs and git work below a path', async () => {
  await startNginx(kept.location, kept.pass)
  const { ctx, tenantId } = stage()
  const { token } = await ctx.apiKeys.create(
    { tenantId, name: 'ci', role: 'curator', connectors: [], expiresAt: null },
    new Date(),
  )
  const headers = { authorization: `Bearer ${token}` }
  const description = await fetch(`${publicUrl}/openapi.json`)
  expect(await description.json()).toMatchObject({ servers: [{ url: prefix }] })
  const index = await (await fetch(`${publicUrl}/api/v1/knowledge-bases/handbook/llms.txt`, { headers })).text()
  const [, address = ''] = /\((http:[^)]*\/neurons\/[^)]*)\)/.exec(index) ?? []
  expect((await fetch(address, { headers })).status).toBe(200)
  expect(index).toContain(`POST ${publicUrl}/api/v1/knowledge-bases/handbook/retrieve`)

  const agent = await mcpClient(publicUrl, token)
  expect(textOf(await agent.callTool({ name: 'list_knowledge_bases', arguments: {} }))).toContain('handbook')
  await agent.close()

  const env = userEnvironment('ada')
  const clone = join(tempDir(), 'clone')
  const remote = ctx.urls.clone('acme', 'handbook').replace('://', `://x:${token}@`)
  expect(await runUserGit('/', ['clone', '-q', remote, clone], env)).toMatchObject({ code: 0 })
  await runUserGit(clone, ['commit', '-q', '--allow-empty', '-m', 'Try'], env)
  expect(await runUserGit(clone, ['push', '-q', 'origin', 'main'], env)).toMatchObject({ code: 0 })
  const forge = await fetch(`${publicUrl}/forge/${tenantId}/events`, { method: 'POST', body: '{}' })
  expect(forge.headers.get('x-request-id')).not.toBeNull()
})

/** Addresses on pages, reached by links from `start`, that lead out of the prefix or to nothing. */
async function strayAddresses(
  start: string,
  get: (url: string) => Promise<{ status: number; text: string; type: string }>,
): Promise<string[]> {
  const strays: string[] = []
  const waiting = [start]
  const seen = new Set(waiting)
  for (let url = waiting.shift(); url !== undefined && seen.size < 400; url = waiting.shift()) {
    const { status, text, type } = await get(url)
    if (status !== 200) strays.push(`${status} ${url}`)
    if (!type.startsWith('text/html')) continue
    for (const [, name = '', value = ''] of text.matchAll(
      /<[a-z][^>]*? (href|src|action|hx-get|data-[a-z-]+)="(\/[^"]*)"/g,
    )) {
      const address = value.replaceAll('&amp;', '&')
      if (!address.startsWith(`${prefix}/`)) strays.push(`${name}="${address}" on ${url}`)
      const { href } = new URL(address.replace(/[?#].*/, ''), url)
      if ((name !== 'href' && name !== 'src') || seen.has(href)) continue
      seen.add(href)
      waiting.push(href)
    }
  }
  if (seen.size < 100) strays.push(`only ${seen.size} addresses`)
  return strays
}
