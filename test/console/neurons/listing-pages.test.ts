import { parseHTML } from 'linkedom'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { graphPage } from '../../../src/console/neurons/graph-page.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { neuronText, seq } from '../../kb/support/written-neurons.ts'
import type { Browser } from '../support.ts'
import { hostile, type Written, writtenConsole } from './support.ts'

let console: Written
let reader: Browser
let curator: Browser

beforeAll(async () => {
  const many = Array.from({ length: 205 }, (_, n) => n + 100)
  console = await writtenConsole({
    'a.md': neuronText(1, { title: hostile, tags: ['policy', hostile] }, '[[B]] [[Gap & <b>]]\n'),
    'team/b.md': neuronText(2, { title: 'B', tags: ['policy'] }),
    'hidden/h.md': neuronText(3, { title: 'Hidden', tags: ['internal', 'secret'] }, '[[B]] [[Hidden gap]]'),
    'lonely.md': neuronText(4, { title: 'Lonely' }),
    'team/plan.png': 'not really png',
    'team/plan.html': '<script>alert(1)</script>',
    'team/p.md': neuronText(5, { title: 'P' }, '![[plan.png]] [[plan.html]]\n'),
    ...Object.fromEntries(many.map((n) => [`many/${n}.md`, neuronText(n, { title: `Many ${n}` })])),
  })
  reader = await console.browser('reader')
  curator = await console.browser('curator')
})
afterAll(() => console.close())

test('the tree shows folders and pages, and goes on page by page', async () => {
  const page = await reader.get('/kb/handbook/tree')
  expect(page.texts('.tree li')).toEqual([`${hostile} a.md`, 'Lonely lonely.md', 'many folder', 'team folder'])
  expect(page.document.querySelectorAll('main img')).toHaveLength(0)
  const folder = await reader.get(page.document.querySelector('.tree .folder a')?.getAttribute('href') ?? '')
  expect([folder.texts('h1'), folder.texts('.tree li').length]).toEqual([['many'], 200])
  const next = folder.document.querySelector('a[rel=next]')?.getAttribute('href') ?? ''
  expect((await reader.get(next)).texts('.tree a')).toEqual([300, 301, 302, 303, 304].map((n) => `Many ${n}`))
  expect((await reader.get('/kb/handbook/tree?folder=hidden')).status).toBe(404)
  expect((await curator.get('/kb/handbook/tree')).texts('.folder a')).toContain('hidden')
})

test('the sidebar shows the page itself, even beyond the first pages of its folder', async () => {
  const near = await reader.get(`/kb/handbook/neurons/${seq(110)}`)
  expect([near.texts('.rail-tree [aria-current]'), near.texts('.rail-tree .page').length]).toEqual([['Many 110'], 42])
  const beyond = await reader.get(`/kb/handbook/neurons/${seq(300)}`)
  expect([beyond.texts('.rail-tree [aria-current]'), beyond.texts('.rail-tree .page').length]).toEqual([
    ['Many 300'],
    43,
  ])
})

test('tags have counts of what is seen, and lead to their pages', async () => {
  const page = await reader.get('/kb/handbook/tags')
  expect(page.texts('.tags a')).toEqual([`${hostile} 1 page`, 'policy 2 pages'])
  const tagged = await reader.get(page.document.querySelectorAll('.tags a')[1]?.getAttribute('href') ?? '')
  expect([tagged.texts('h1'), tagged.texts('.tree a')]).toEqual([['Pages tagged policy'], [hostile, 'B']])
  expect((await reader.get('/kb/handbook/tags?q=zzz')).texts('.empty')).toEqual(['No tag holds this.'])
  expect((await reader.get('/kb/handbook/tags?tag=secret')).texts('.empty')).toEqual(['No page has this tag.'])
  expect((await curator.get('/kb/handbook/tags?q=SEC')).texts('.tags a')).toEqual(['secret 1 page'])
  expect((await reader.get('/kb/handbook/tags?page=0')).status).toBe(400)
})

test('a large graph does not wait for its loose ends', async () => {
  const tenant = { id: '1', slug: 'acme', role: 'reader' } as const
  const user = { id: '2', email: 'ada@example.com', name: 'Ada' }
  const session = { id: '3', user, tenant, role: tenant.role, filters: [], tenants: [tenant] }
  const visit = { session, path: '/kb/handbook/graph', formToken: 'x', styleNonce: () => 'n' }
  const graph = { nodes: [], edges: [], truncated: true }
  const kb = { slug: 'handbook', title: 'Handbook' }
  const { document } = parseHTML(String(graphPage(visit, kb, { graph, ends: undefined })))
  expect(document.querySelector('main p > a')?.getAttribute('href')).toBe('/kb/handbook/graph?ends=1#ends')
  expect((await reader.get('/kb/handbook/graph?ends=1')).texts('#ends h2')).toHaveLength(2)
})

test('the graph is drawn by a script, and its lists say what matters of it', async () => {
  const page = await reader.get('/kb/handbook/graph')
  expect(page.texts('main h2')).toEqual(['Best connected', 'Pages without links 207', 'Gaps 1'])
  expect(page.texts('ol li').slice(0, 2)).toEqual([`${hostile} 1 link`, 'B 1 link'])
  expect(page.texts('#ends section:last-of-type li')).toEqual(['Gap & <b> wanted by 1 page'])
  expect(page.body).not.toMatch(/Hidden|secret/)
  expect((await curator.get('/kb/handbook/graph')).texts('#ends section:last-of-type li a').sort()).toEqual([
    'create',
    'create',
  ])
  const data = page.document.querySelector('[data-graph]')?.getAttribute('data-graph') ?? ''
  const { nodes, links } = JSON.parse((await reader.get(data)).body)
  expect([nodes.length, links]).toEqual([209, [[0, 1]]])
  expect(nodes[1]).toEqual({ seqId: seq(2), title: 'B' })
})

test('files are shown where that is safe and else saved, and only those that a page opens', async () => {
  const image = await reader.get('/kb/handbook/files/neurons/team/plan.png')
  expect([image.status, image.headers['content-type'], image.headers['x-content-type-options']]).toEqual([
    ...[200, 'image/png', 'nosniff'],
  ])
  expect(image.headers['content-disposition']).toMatch(/^inline/)
  expect(image.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/)
  const page = await reader.get('/kb/handbook/files/neurons/team/plan.html')
  expect(page.headers['content-disposition']).toMatch(/^attachment; filename=plan.html/)
  expect(page.headers['content-type']).toBe('application/octet-stream')
  for (const path of ['kb.yaml', 'neurons/a.md', '../kb.yaml', 'neurons%2Fteam%2Fabsent.png'])
    expect((await reader.get(`/kb/handbook/files/${path}`)).status, path).toBe(404)
})

test('an empty knowledge base says what to do next', async () => {
  const empty = await writtenConsole({ 'x.md': neuronText(1, { title: 'X', tags: ['internal'] }) })
  const visitor = await empty.browser('reader')
  expect((await visitor.get('/kb/handbook/tree')).texts('.empty')[0]).toMatch(/no pages yet/)
  expect((await visitor.get('/kb/handbook/tags')).texts('.empty')).toEqual(['No page has a tag yet.'])
  expect((await visitor.get('/kb/handbook/graph')).texts('.empty')[0]).toMatch(/no pages yet/)
  expect((await visitor.get('/kb/absent/tree')).status).toBe(404)
  await empty.close()
})

test('pages past their date are listed by owner, and a curator says that one is still true', async () => {
  const head = 'owner: ann@example.com\nverified: { by: Ann, at: 2025-01-01, until: 2025-02-01 }\n'
  const text = neuronText(900, { title: 'Old' }, 'Text.\n').replace('title:', `${head}title:`)
  console.write({ 'old.md': text })
  const list = async (query = '') => (await curator.get(`/kb/handbook/stale${query}`)).texts('.tree a')
  expect([await list(), await list('?owner=ann%40example.com'), await list('?owner=bob')]).toEqual([
    ['Old'],
    ['Old'],
    [],
  ])
  const path = `/kb/handbook/neurons/${seq(900)}`
  expect((await reader.get(path)).texts('.warning')[0]).toContain('This page is past its date, 2025-02-01. Nobody')
  expect((await reader.get(path)).document.querySelector('form[action$="/still-true"]')).toBeNull()
  expect((await reader.get(path)).texts('.warning')[0]).not.toContain('Still true')
  expect((await curator.get(path)).texts('.warning')[0]).toContain('Change it, or choose “Still true”.')
  const action =
    (await curator.get(path)).document.querySelector('form[action$="/still-true"]')?.getAttribute('action') ?? ''
  expect((await curator.post(action, {})).headers.location).toContain('done=verified')
  expect((await curator.get(path)).texts('.page-facts')[0]).toContain('says Some curator')
  expect(await list()).toEqual([])
})

test('curators see the day on which kb.yaml had a page looked at again; readers, that it is one of two reasons', async () => {
  const native = new NativeWriter(console.ctx.directory.repository(console.kbId))
  const settings = `${native.git('show', 'main:kb.yaml')}\nverify:\n  - { tags: [rule], days: 30 }\n`
  native.commit('refs/heads/main', new Map([['kb.yaml', settings]]))
  const head = 'verified: { at: 2025-01-01 }\n'
  console.write({ 'rule.md': neuronText(901, { title: 'Rule', tags: ['rule'] }).replace('title:', `${head}title:`) })
  const why = async (by: Browser) => (await by.get(`/kb/handbook/neurons/${seq(901)}`)).texts('.warning')[0]
  expect(await why(curator)).toMatch(/^This page is past its date, 2025-01-31\. Nobody has said since/)
  expect(await why(reader)).toMatch(/^This page is past its date, or older than a document that it cites\. Nobody/)
})
