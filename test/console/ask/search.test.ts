import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseHTML } from 'linkedom'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchFragment } from '../../../src/console/ask/search-page.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

let console: Console
let curator: Browser
let reader: Browser
beforeAll(async () => {
  console = await startConsole()
  await createKnowledgeBase(console.ctx, { tenant: 'acme', slug: 'other' })
  await createKnowledgeBase(console.ctx, { tenant: 'rival', slug: 'theirs' })
  curator = await console.browser('curator')
  reader = await console.browser('reader')
  await approve({
    title: 'VIP <i>escalation</i>',
    content: 'Page the lead & <b>nobody</b> else.',
    metadata: tags('policy'),
  })
  await approve({ title: 'Escalation of tickets', content: 'Tickets are escalated by the desk.' })
  await approve({ title: 'Dragonfly', content: 'The secret lead.', metadata: tags('internal') })
  await approve({ title: 'Pagers', content: 'Pagers are charged by the lead.', knowledgeBaseId: 'other' })
  for (let number = 1; number <= 25; number++) await approve({ title: `Chapter ${number}`, content: 'A zebra.' })
})
afterAll(() => console.close())

function tags(...names: string[]): string {
  return JSON.stringify({ tags: names })
}

function callerOf() {
  const { tenantId } = console
  return { id: 'key:test', name: 'Test', tenantId, role: 'curator', connectors: [] } as const
}

async function approve(changes: Parameters<typeof candidate>[0]): Promise<void> {
  const caller = callerOf()
  const { candidateId } = await submitCandidate(console.ctx, caller, candidate(changes))
  await approveCandidate(console.ctx, caller, candidateId, {})
}

const path = '/kb/handbook/search'

test('what is found leads to its page, with the words marked and everything else as text', async () => {
  const page = await reader.get(`${path}?q=lead`)
  expect(page.status).toBe(200)
  expect(page.texts('#search-count')).toEqual(['1 found for “lead”.'])
  const link = page.document.querySelector('.hits a')
  expect(link?.textContent).toBe('VIP <i>escalation</i>')
  expect(link?.getAttribute('href')).toMatch(/^\/kb\/handbook\/neurons\/handbook_\d{8}\?for=lead$/)
  expect(page.texts('.hits mark')).toEqual(['lead'])
  expect(page.texts('.hits p').at(-1)).toBe('Page the lead & nobody else.')
  expect(page.document.querySelectorAll('.hits i, .hits b')).toHaveLength(0)
})

test('a curator finds what is internal, a reader does not', async () => {
  expect((await curator.get(`${path}?q=lead`)).texts('.hits h2')).toContain('Dragonfly')
  const page = await reader.get(`${path}?q=dragonfly`)
  expect(page.texts('#search-count')).toEqual(['Nothing found for “dragonfly”.'])
  expect((await reader.get(`${path}?q=dragonflies+lead`)).body).not.toContain('Did you mean')
})

test('a slip of the keyboard gets a suggestion, made of what the person may see', async () => {
  const page = await reader.get(`${path}?q=escalatoin+tickets&kind=wiki`)
  const link = page.document.querySelector('#results a')
  expect([link?.textContent, link?.getAttribute('href')]).toEqual([
    'escalation tickets',
    `${path}?q=escalation+tickets&kind=wiki`,
  ])
  expect((await curator.get(`${path}?q=dragonfyl`)).texts('#results a')[0]).toBe('dragonfly')
  expect((await reader.get(`${path}?q=dragonfyl`)).body).not.toContain('dragonfly')
})

test('filters narrow what is found, and stay in the form', async () => {
  const tagged = await reader.get(`${path}?q=escalation&tag=%23Policy`)
  expect(tagged.texts('.hits h2')).toEqual(['VIP <i>escalation</i>'])
  expect(tagged.document.querySelector('input[name=tag]')?.getAttribute('value')).toBe('#Policy')
  const { kbId, ctx } = console
  const source = await addSource(ctx, { kbId, filename: 'escalation.txt', fileType: 'txt', path: '/hr' })
  await sourceTexts(ctx).keep(source, {
    title: undefined,
    markdown: 'Escalation in a file.',
    anchors: [],
    warnings: [],
  })
  await ctx.sources.change(source.id, ['ready'], { extractedAt: new Date().toISOString() })
  ctx.events.wake(source.tenantId)
  const sources = await reader.get(`${path}?q=escalation&kind=source`)
  expect(sources.texts('.hits h2')).toEqual(['escalation.txt Source'])
  expect(sources.document.querySelector('.hits a')?.getAttribute('href')).toBe(`/kb/handbook/sources/${source.id}`)
  expect(sources.document.querySelector('option[selected]')?.getAttribute('value')).toBe('source')
})

test('what is found is paged', async () => {
  const first = await reader.get(`${path}?q=zebra`)
  expect([first.texts('.hits li').length, ...first.texts('#results nav span')]).toEqual([20, 'Page 1 of 2'])
  const next = first.document.querySelector('a[rel=next]')?.getAttribute('href') ?? ''
  expect(next).toBe(`${path}?q=zebra&page=2`)
  const second = await reader.get(next)
  expect(second.texts('.hits li')).toHaveLength(5)
  expect(second.document.querySelector('.hits')?.getAttribute('start')).toBe('21')
  expect((await reader.get(`${path}?q=zebra&page=9`)).texts('.hits li')).toEqual([])
})

test('all knowledge bases of the tenant are searched, each with its best hits', async () => {
  const page = await reader.get('/search?q=lead')
  expect(page.texts('#results h2')).toEqual(['handbook', 'other'])
  expect(page.texts('#search-count')).toEqual(['2 found for “lead”.'])
  const zebras = await reader.get('/search?q=zebra')
  expect(zebras.texts('.hits li')).toHaveLength(5)
  expect(zebras.document.querySelector('#results section > p a')?.getAttribute('href')).toBe(`${path}?q=zebra`)
  const one = await reader.get('/search?q=lead&kb=other&kind=wiki')
  expect([one.status, one.headers.location]).toEqual([302, '/kb/other/search?q=lead&kind=wiki'])
  expect((await reader.get('/kb/theirs/search?q=lead')).status).toBe(404)
})

test('a knowledge base whose index is being built says so among the others', async () => {
  const kbs = [
    { kb: { slug: 'new', title: 'New' }, hits: [], total: 0, isUnavailable: false, behind: { pages: 3 } },
    { kb: { slug: 'old', title: 'Old' }, hits: [], total: 0, isUnavailable: false },
  ]
  const asked = { q: 'lead', kind: 'all' } as const
  const tenant = { id: '1', slug: 'acme', role: 'reader' } as const
  const user = { id: '2', email: 'ada@example.com', name: 'Ada' }
  const session = { id: '3', user, tenant, role: tenant.role, filters: [], tenants: [tenant] }
  const visit = { session, path: '/search', formToken: 'x', styleNonce: () => 'n' }
  const shown = searchFragment(visit, { kb: undefined, asked, knowledgeBases: [], found: { in: 'all', hits: kbs } })
  const [fresh, old] = [...parseHTML(`<main>${shown}</main>`).document.querySelectorAll('.of-kb')]
  expect(fresh?.textContent).toContain('The search index is being built: pages can be missing.')
  expect(old?.textContent).not.toContain('being built')
})

describe('a query beyond the limits is refused beside the field', () => {
  const many = Array.from({ length: 40 }, (_, at) => `word${at}`).join(' ')
  test.each([
    [many, 'A query has at most 32 different words.'],
    ['x'.repeat(513), 'At most 512 characters.'],
    ['\ufdfa'.repeat(512), 'At most 512 characters.'],
    ['a*', 'A prefix has at least 2 characters before the asterisk.'],
  ])('%s', async (q, problem) => {
    for (const base of [path, '/search']) {
      const page = await reader.get(`${base}?${new URLSearchParams({ q })}`)
      expect([page.status, ...page.texts('#field-q-error')]).toEqual([400, problem])
      expect(page.document.querySelector('#search input[name=q]')?.getAttribute('value')).toBe(q)
    }
  })
})

test('without a query there is only the form, and with a hostile one no more', async () => {
  const empty = await reader.get(path)
  expect([empty.status, ...empty.texts('#search-count'), ...empty.texts('#results')]).toEqual([200, '', ''])
  const q = '"><script>alert(1)</script>'
  const page = await reader.get(`${path}?${new URLSearchParams({ q })}`)
  expect(page.document.querySelectorAll('main script')).toHaveLength(0)
  expect(page.document.querySelector('#search input[name=q]')?.getAttribute('value')).toBe(q)
  expect(page.texts('#search-count')).toEqual([`1 found for “${q}”.`])
})

test('while it is typed, the last word may go on, and only what changes is answered', async () => {
  const typed = { 'hx-request': 'true' }
  const fragment = await reader.get(`${path}?q=escal`, typed)
  expect(fragment.body).not.toContain('<html')
  expect(fragment.texts('.hits h2').length).toBeGreaterThan(0)
  expect(fragment.texts('#search-count')[0]).toMatch(/found for “escal”\.$/)
  expect((await reader.get(`${path}?q=esc`)).texts('#search-count')).toEqual(['Nothing found for “esc”.'])
  expect((await reader.get(`${path}?q=${'x'.repeat(600)}`, typed)).texts('#search-count')).toEqual([
    'At most 512 characters.',
  ])
})

describe('the palette', () => {
  const jumps = async (browser: Browser, query: Record<string, string>) => {
    const { status, body } = await browser.get(`/palette?${new URLSearchParams(query)}`)
    expect(status).toBe(200)
    return (JSON.parse(body).items as { group: string; label: string; href: string }[]).map(
      ({ group, label, href }) => `${group}: ${label} ${href}`,
    )
  }

  test('leads to pages by the beginning of their names, those of where one is first', async () => {
    const found = await jumps(reader, { q: 'pag', kb: 'other' })
    expect(found[0]).toMatch(/^Pages: Pagers \/kb\/other\/neurons\/other_\d{8}$/)
    expect(found).toContain('Go to: All pages /kb/other/tree')
  })

  test('shows a reader neither what is internal, nor candidates, nor what only others may do', async () => {
    await submitCandidate(console.ctx, callerOf(), candidate({ title: 'Dragonfly waiting' }))
    expect(await jumps(reader, { q: 'dragonfly' })).toEqual([])
    expect((await jumps(curator, { q: 'dragonfly' })).map((jump) => jump.split(' /')[0])).toEqual([
      'Pages: Dragonfly',
      'Waiting: Dragonfly waiting',
    ])
    const all = await jumps(reader, { q: '', kb: 'handbook' })
    expect(all).toContain('Go to: Ask /kb/handbook/chat')
    expect(all.filter((jump) => /Queue|API keys|New page/.test(jump))).toEqual([])
    expect(await jumps(await console.browser('admin'), { q: 'api' })).toEqual(['Go to: API keys /settings/keys'])
  })

  test('finds Sources, knowledge bases and commands by a part of their names', async () => {
    const { kbId, ctx } = console
    const { id } = await addSource(ctx, { kbId, filename: 'Rota 2026.pdf', fileType: 'pdf' })
    expect(await jumps(reader, { q: '2026' })).toEqual([`Sources: Rota 2026.pdf /kb/handbook/sources/${id}`])
    expect(await jumps(reader, { q: 'handb' })).toContain('Knowledge bases: handbook /kb/handbook')
  })

  test('takes any text, and is bounded', async () => {
    expect(await jumps(reader, { q: '"><script>%_\\' })).toEqual([])
    expect((await jumps(reader, { q: 'chapter' })).length).toBe(8)
    expect((await reader.get(`/palette?q=${'x'.repeat(600)}`)).status).toBe(400)
  })

  test('finds what the others hold where a knowledge base is damaged', async () => {
    const { gitDir } = await createKnowledgeBase(console.ctx, { tenant: 'acme', slug: 'damaged', title: 'Lost' })
    writeFileSync(join(gitDir, 'refs/heads/main'), '')
    expect((await jumps(curator, { q: 'pagers' })).map((jump) => jump.split(' /')[0])).toEqual(['Pages: Pagers'])
    expect(await jumps(curator, { q: 'damaged' })).toEqual(['Knowledge bases: damaged /kb/damaged'])
  })

  test('leads to the search of all where it looks through some of the knowledge bases', async () => {
    const jump = /^Go to: Search all 24 knowledge bases for “pag” \/search\?q=pag$/
    expect((await jumps(reader, { q: 'pag' })).filter((one) => one.includes('Search all'))).toEqual([])
    for (let n = 0; n < 21; n++) await createKnowledgeBase(console.ctx, { tenant: 'acme', slug: `more-${n}` })
    expect(await jumps(reader, { q: 'pag' })).toContainEqual(expect.stringMatching(jump))
  })
})
