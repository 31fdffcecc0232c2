import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { neuronText } from '../../kb/support/written-neurons.ts'
import { eventually } from '../../support/eventually.ts'
import { type Browser, type Console, startConsole, visit } from '../support.ts'

const hostile = `<img src=x onerror=alert(1)>"'`

let started: Console
let curator: Browser
let reader: Browser
let admin: Browser
beforeAll(async () => {
  started = await startConsole()
  const { ctx, kbId, tenantId } = started
  curator = await started.browser('curator')
  reader = await started.browser('reader')
  admin = await started.browser('admin')
  const app = { id: 'key:app', name: hostile, tenantId, role: 'app' as const, connectors: [] }
  const native = new NativeWriter(ctx.directory.repository(kbId))
  const kbYaml = native.git('show', 'main:kb.yaml').replace(/^title: .*$/m, `title: ${JSON.stringify(hostile)}`)
  native.commit(
    'refs/heads/main',
    new Map([
      ['kb.yaml', kbYaml],
      ['neurons/a.md', neuronText(1, { title: hostile }, '[[Nowhere]]\n')],
      ['neurons/b.md', neuronText(2, { title: 'Hidden', tags: ['internal'] })],
    ]),
  )
  await ctx.kb(tenantId, 'handbook')
  for (let number = 0; number < 3; number++) await submitCandidate(ctx, app, candidate({ title: hostile }))
  const red = { title: 'Hidden thing', metadata: JSON.stringify({ actionZone: 'red', tags: ['internal'] }) }
  await submitCandidate(ctx, app, candidate(red))
  await addSource(ctx, { kbId, status: 'failed', filename: hostile })
})
afterAll(() => started.close())

const hrefs = (page: Awaited<ReturnType<Browser['get']>>, selector: string) =>
  [...page.document.querySelectorAll(selector)].map((link) => link.getAttribute('href'))

test('a curator sees what waits in each knowledge base, with links to it', async () => {
  const home = await eventually(async () => {
    const page = await curator.get('/')
    expect(page.texts('.work tbody td')).toEqual(['Red zone: 1No zone: 3', '2', '1', '1'])
    return page
  })
  expect(home.texts('h1')).toEqual(['Knowledge bases'])
  expect(home.texts('.work tbody th')).toEqual([hostile])
  expect(hrefs(home, '.work tbody a')).toEqual([
    '/kb/handbook',
    '/queue?kb=handbook&zone=red',
    '/queue?kb=handbook&zone=none',
    '/kb/handbook/findings',
    '/kb/handbook/sources?status=failed',
  ])
  expect(home.document.querySelector('img, script:not([src])')).toBeNull()
  expect(home.texts('.event > p:first-child')).toContain(`The app uploaded ${hostile} just now`)
})

test('a reader sees how many pages there are for it, and nothing of the queue', async () => {
  const home = await reader.get('/')
  expect(home.texts('.card h2, .card p')).toEqual([hostile, '1 page', 'Search Ask Browse'])
  expect(home.texts('main').join()).not.toMatch(/waiting|broken links|queue|hidden/i)
  const kb = await reader.get('/kb/handbook')
  expect(kb.texts('.figures div')).toEqual(['Pages1 page'])
  expect(kb.texts('.cards strong')).toEqual(['Browse the pages', 'Tags', 'Search', 'Ask', 'Sources'])
  expect(kb.texts('[aria-labelledby=clone] p')[0]).toMatch(/^What you may see of it is a git repository\./)
  expect(kb.texts('main').join()).not.toMatch(/waiting|broken links|queue|hidden|proposed/i)
})

test('the home of a knowledge base leads everywhere in it', async () => {
  const page = await curator.get('/kb/handbook')
  expect(page.texts('h1')).toEqual([hostile])
  expect(page.texts('.figures dt')).toEqual(['Pages', 'Waiting for a decision', 'Broken links', 'Failed Sources'])
  expect(hrefs(page, '.cards a')).toEqual([
    '/kb/handbook/tree',
    ...['tags', 'search', 'chat', 'sources', 'tests', 'new'].map((place) => `/kb/handbook/${place}`),
  ])
  const places = hrefs(page, '.rail .of-kb nav a')
  expect(places.map((href) => href.replace('/kb/handbook', ''))).toEqual([
    ...['', '/tree', '/chat', '/sources', '/findings', '/sites', '/new'],
  ])
  const rail = hrefs(await curator.get('/kb/handbook/findings'), '.rail a')
  for (const place of ['findings', 'questions', 'tests', 'stale']) expect(rail).toContain(`/kb/handbook/${place}`)
  expect(rail).not.toContain('/kb/handbook/graph')
  expect(page.texts('pre')).toEqual(['git clone http://localhost/git/acme/handbook.git'])
  expect((await curator.get(`/kb/${started.kbId}`)).texts('h1')).toEqual([hostile])
})

test('what does not exist, and what is another tenant’s, is not found', async () => {
  await createKnowledgeBase(started.ctx, { tenant: 'umbrella', slug: 'theirs' })
  for (const path of [
    '/kb/nowhere',
    '/kb/theirs',
    '/activity?kb=theirs',
    '/kb/theirs/findings',
    '/kb/theirs/settings',
  ]) {
    const page = await admin.get(path)
    expect([path, page.status, ...page.texts('h1')]).toEqual([path, 404, 'There is nothing here'])
  }
  const stranger = await started.browser('admin', { tenant: 'umbrella', email: 'eve@example.com' })
  expect((await stranger.get('/')).body).not.toContain('handbook')
})

test('the part that changes as things happen comes without its page', async () => {
  const part = await curator.get('/', { 'hx-request': 'true' })
  expect(part.document.querySelector('main, header')).toBeNull()
  expect(part.body).toContain('class="work"')
})

test('of many knowledge bases, a hundred stand on a page', async () => {
  for (let number = 0; number < 101; number++) {
    const id = `01990000-0000-7000-8000-${String(number).padStart(12, '0')}`
    await started.ctx.knowledgeBases.create(
      {
        id,
        tenantId: (await started.ctx.tenants.ensure('many', new Date())).id,
        slug: `kb-${number}`,
        prefix: `k${number}`,
      },
      new Date(),
    )
  }
  const visitor = await started.browser('curator', { tenant: 'many', email: 'many@example.com' })
  const first = await visitor.get('/')
  expect(first.texts('.work tbody tr')).toHaveLength(100)
  // None of them has a repository.
  expect(first.texts('.work tbody tr')[0]).toContain('Cannot be read')
  const second = await visitor.get('/?page=2')
  expect(second.texts('.work tbody tr')).toHaveLength(1)
  expect(hrefs(second, 'nav[aria-label="Pages of the list"] a')).toEqual(['/?page=1'])
})

test('the description of the API tries requests out with the rights of who is signed in', async () => {
  const { app } = started
  const script = await visit(app, { method: 'GET', url: '/docs/static/swagger-initializer.js' })
  expect(script.body).toContain('/form-token')
  expect(script.body).toContain('requestInterceptor')
  const { body: token, headers } = await curator.get('/form-token')
  expect(headers).toMatchObject({ 'content-type': expect.stringContaining('text/plain'), 'cache-control': 'no-store' })
  const { cookie = '' } = curator.headers
  const input = { knowledgeBaseId: 'handbook', kind: 'external-feed', title: 'Tried', content: 'Out.' }
  const tried = (more: Record<string, string>) =>
    app.inject({
      method: 'POST',
      url: '/api/v1/queue/candidates',
      headers: { cookie, 'sec-fetch-site': 'same-origin', ...more },
      payload: input,
    })
  expect((await tried({ 'x-csrf-token': token })).statusCode).toBe(201)
  expect((await tried({})).statusCode).toBe(403)
  expect((await visit(app, { method: 'GET', url: '/form-token' })).status).toBe(302)
})
