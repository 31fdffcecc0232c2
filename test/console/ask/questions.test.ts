import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { questionKey } from '../../../src/search/kb/question-log.ts'
import { search } from '../../../src/search/kb/search-kb.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { type Browser, type Console, fieldsOf, startConsole } from '../support.ts'

let console: Console
let admin: Browser
let curator: Browser
let reader: Browser
beforeAll(async () => {
  console = await startConsole()
  admin = await console.browser('admin')
  curator = await console.browser('curator')
  reader = await console.browser('reader')
  await approve({ title: 'Remote access', content: 'Use the tunnel.' })
  await approve({ title: 'Plans', content: 'A secret tunnel.', metadata: JSON.stringify({ tags: ['internal'] }) })
})
afterAll(() => console.close())

const [remote, plans] = ['handbook_00000001', 'handbook_00000002']
const path = '/kb/handbook/questions'
const key = () =>
  ({ id: 'key:test', name: 'Test', tenantId: console.tenantId, role: 'curator', connectors: [] }) as const

async function approve(changes: Parameters<typeof candidate>[0]): Promise<void> {
  const { candidateId } = await submitCandidate(console.ctx, key(), candidate(changes))
  await approveCandidate(console.ctx, key(), candidateId, {})
}

async function set(name: string, value: string): Promise<void> {
  const shown = fieldsOf(await admin.get('/kb/handbook/settings'))
  const typed = { ...shown, [name]: value, do: 'preview' }
  const preview = await admin.post('/kb/handbook/settings', typed)
  const seen = preview.document.querySelector('[name=seen]')?.getAttribute('value') ?? ''
  expect((await admin.post('/kb/handbook/settings', { ...typed, do: 'commit', seen })).status).toBe(303)
}

const rows = async (order: string) =>
  (await curator.get(`${path}?order=${order}`))
    .texts('tbody tr')
    .map((row) => row.replace(/ (?:Write a page|just now|now).*$/, ''))

test('what people ask is counted without who, with what became of it', async () => {
  await reader.get('/kb/handbook/search?q=VPN')
  await curator.get('/kb/handbook/search?q=vpn%3F')
  await reader.get('/kb/handbook/search?q=tunnel')
  const [hit] = (await reader.get('/kb/handbook/search?q=Tunnel')).document.querySelectorAll('.hits a')
  await reader.get(hit?.getAttribute('href') ?? '')
  // Letters that are being typed are no question, until they stand.
  const typing = await reader.get('/kb/handbook/search?q=tun', { 'hx-request': 'true', 'hx-request-type': 'partial' })
  expect(await rows('asked')).toEqual(['tunnel 2000 Remote access 1', 'vpn 2200'])
  const [counting] = typing.document.querySelectorAll('[hx-get*="/search/asked"]')
  const address = counting?.getAttribute('hx-get') ?? ''
  expect((await reader.get(address)).status).toBe(204)
  expect(await rows('asked')).toHaveLength(2)
  expect((await reader.get(address, { 'hx-request': 'true' })).status).toBe(204)
  expect(await rows('asked')).toHaveLength(3)

  await reader.post('/kb/handbook/chat', { message: 'Who pays for lunch?' })
  expect(await rows('refused')).toEqual(['who pays for lunch 1010'])
  expect(await rows('empty')).toEqual(['vpn 2200'])
  await search(console.ctx, key(), 'handbook', { q: 'of an app', kind: 'all', limit: 5 })
  expect(await rows('asked')).toHaveLength(4)
  expect([(await reader.get(path)).status, (await reader.get(`${path}?order=x`)).status]).toEqual([403, 403])
})

test('a question leads to a page, a synonym or a pin, filled in', async () => {
  const links = (page: Awaited<ReturnType<Browser['get']>>) =>
    [...page.document.querySelectorAll('tbody tr:last-child td:last-child a')].map((link) => link.getAttribute('href'))
  const [write, tested = '', synonym = '', pin = ''] = links(await admin.get(`${path}?order=empty`))
  expect(write).toBe('/kb/handbook/new?title=vpn')
  const form = fieldsOf(await admin.get(tested))
  expect([form.question, form.refuses]).toEqual(['vpn', 'false'])
  expect((await admin.get(synonym)).texts('[name="search.synonyms"]')).toEqual(['vpn ='])
  expect((await admin.get(pin)).texts('[name="search.pins"]')).toEqual(['vpn ='])
  expect(links(await curator.get(`${path}?order=empty`))).toEqual([write, tested])
})

test('a pinned page comes first for its query, for whom may see it', async () => {
  await set('search.pins', `vpn = ${plans}, ${remote}, handbook_00000099`)
  const found = async (q: string, role: 'curator' | 'reader', more = {}) => {
    const query = { q, kind: 'all', limit: 5, ...more } as const
    const { documents } = await search(console.ctx, { ...key(), role }, 'handbook', query)
    return documents.map(({ seqId, pinned = false }) => [seqId, pinned])
  }
  expect(await found(' VPN ', 'curator')).toEqual([
    [plans, true],
    [remote, true],
  ])
  expect(await found('vpn', 'reader')).toEqual([[remote, true]])
  expect(await found('vpn tunnel', 'reader')).toEqual([[remote, false]])
  expect(await found('vpn', 'reader', { kind: 'source' })).toEqual([])
  expect(await found('vpn', 'curator', { offset: 1 })).toEqual([[remote, true]])
  await set('search.pins', `tunnel = ${plans}`)
  for (const [offset, seqId] of [plans, remote].entries())
    expect(await found('tunnel', 'curator', { limit: 1, offset })).toEqual([[seqId, seqId === plans]])
  await set('search.pins', `vpn = ${plans}, ${remote}, handbook_00000099`)
  expect((await reader.get('/kb/handbook/search?q=vpn')).texts('.hits .badge, #search-count')).toEqual([
    '1 found for “vpn”.',
    'Pinned',
  ])
  expect((await curator.get(`${path}?order=empty`)).texts('tbody .badge')).toEqual(['Pinned'])
})

test('nothing is kept where the settings say so', async () => {
  await set('questions.keepDays', '0')
  expect(await rows('asked')).toEqual([])
  await reader.get('/kb/handbook/search?q=vpn')
  expect(await rows('asked')).toEqual([])
})

test('a question has no control characters, and is cut in linear time', () => {
  expect(questionKey('a\0b\n c ?!')).toBe('a b c')
  expect(questionKey(`a${'?'.repeat(8_000)}`)).toBe('a')
})

test('what cannot be counted is found all the same', async () => {
  await set('questions.keepDays', '90')
  const note = vi.spyOn(console.ctx.askedQuestions, 'noteAll').mockRejectedValue(new Error('the disk is full'))
  expect((await reader.get('/kb/handbook/search?q=tunnel')).status).toBe(200)
  expect(await rows('asked')).toEqual([])
  expect(note).toHaveBeenCalledOnce()
  note.mockRestore()
})

test('counts that wait are written together after a while, and when the server ends', async () => {
  const { ctx } = console
  const noteAll = vi.spyOn(ctx.askedQuestions, 'noteAll')
  await reader.get('/kb/handbook/search?q=tunnel')
  await reader.get('/kb/handbook/search?q=tunnels')
  expect(noteAll).not.toHaveBeenCalled()
  await vi.waitFor(() => expect(noteAll).toHaveBeenCalledOnce(), 10_000)
  expect(noteAll.mock.lastCall?.[0].map(([, question]) => question)).toEqual(['tunnel', 'tunnels'])
  await reader.get('/kb/handbook/search?q=lead')
  await console.close()
  expect(noteAll.mock.lastCall?.[0].map(([, question]) => question)).toEqual(['lead'])
  expect(await noteAll.mock.results.at(-1)?.value).toBeUndefined()
  noteAll.mockRestore()
})
