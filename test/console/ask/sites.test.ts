import { afterAll, beforeAll, expect, test } from 'vitest'
import { findCandidate } from '../../../src/kb/projection/candidate-index.ts'
import { parseCandidate } from '../../../src/markdown/file/candidate-file.ts'
import { approveCandidate, dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { parseMetadata } from '../../../src/rules/candidates/metadata.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { neuronText } from '../../kb/support/written-neurons.ts'
import { indexReady } from '../../support/index-ready.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

let started: Console
let curator: Browser
beforeAll(async () => {
  started = await startConsole()
  curator = await started.browser('curator')
  const { ctx, kbId } = started
  const pages = {
    'open.md': neuronText(1, { title: 'Office hours' }, 'The office opens at 9:00.\n'),
    'tool.md': neuronText(2, { title: 'Door code', audience: ['tool'] }, 'The door code of the office is 4711.\n'),
    'hidden.md': neuronText(3, { title: 'Alarm', tags: ['internal'] }, 'The alarm of the office is off at nine.\n'),
  }
  new NativeWriter(ctx.directory.repository(kbId)).commit(
    'refs/heads/main',
    new Map(Object.entries(pages).map(([path, text]) => [`neurons/${path}`, text])),
  )
  await indexReady(started, 'office')
})
afterAll(() => started.close())

const path = '/kb/handbook/sites'
const origin = 'https://www.example.org'
const fields = { name: 'Docs', origins: `${origin}/\nhttp://localhost:3000`, perMinute: '5', perDay: '100' }

/** Adds a site. @returns its page */
async function added(more: Partial<typeof fields> = {}): Promise<string> {
  const { status, headers } = await curator.post(path, { ...fields, ...more })
  expect([status, headers.location]).toEqual([
    303,
    expect.stringMatching(/^\/kb\/handbook\/sites\/[\da-f-]{36}\?done=added$/),
  ])
  return String(headers.location).replace(/\?.*/, '')
}

type Sent = { token?: string; origin?: string; headers?: Record<string, string> }

/** Sends a request as a page of a site. */
async function sent(page: string, name: string, body: object, { token, origin: from = origin, headers }: Sent = {}) {
  const answer = await started.app.inject({
    method: 'POST',
    url: `/widget/v1/sites/${page.split('/').at(-1)}/${name}`,
    headers: { origin: from, ...(token && { authorization: `Bearer ${token}` }), ...headers },
    payload: body,
  })
  const type = String(answer.headers['content-type'])
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: answer.body,
    json: type.includes('json') ? answer.json() : {},
  }
}

async function visitor(page: string, more: Sent = {}): Promise<string> {
  const { status, json } = await sent(page, 'token', {}, more)
  expect([status, Date.parse(json.expiresAt) > Date.now()]).toEqual([200, true])
  return json.token
}

test('a visitor of a site asks what is public, reads what is cited, and votes', async () => {
  const page = await added()
  const token = await visitor(page)
  const asked = await sent(
    page,
    'chat',
    { message: 'When does the office open?', audience: 'curator', kb: 'other' },
    { token },
  )
  expect([asked.status, asked.headers['access-control-allow-origin'], asked.json.answer]).toEqual([
    ...[200, '*', expect.stringContaining('opens at 9:00')],
  ])
  const { sessionId, turnId, citations } = asked.json
  expect(citations.map(({ seqId }: { seqId: string }) => seqId)).toEqual(['handbook_00000001'])
  for (const message of ['What is the door code of the office?', 'When is the alarm of the office off?']) {
    const hidden = await sent(page, 'chat', { message, sessionId }, { token })
    expect([hidden.status, hidden.text]).toEqual([200, expect.not.stringMatching(/4711|alarm of the office is off/)])
  }
  const neurons = ['handbook_00000001', 'handbook_00000002', 'handbook_00000003']
  const read = await sent(page, 'retrieve', { query: 'office door code alarm', neurons, audience: 'tool' }, { token })
  expect(read.json.chunks.map(({ seqId }: { seqId: string }) => seqId)).toEqual(['handbook_00000001'])

  const vote = { vote: 'up', question: 'made up', answer: 'made up', sessionId, turnId, pageUrl: `${origin}/help` }
  const voted = await sent(page, 'feedback', vote, { token })
  expect([voted.status, Object.keys(voted.json)]).toEqual([201, ['candidateId', 'status']])
  const candidate = await curator.get(`/queue/${voted.json.candidateId}`)
  expect(candidate.body).toContain('When does the office open?')
  expect(candidate.body).toContain('Visitor of Docs')
  expect(candidate.body).not.toContain('made up')
  expect((await sent(page, 'feedback', vote, { token })).json).toEqual(voted.json)
  const other = await visitor(page)
  expect([
    (await sent(page, 'chat', { message: 'And then?', sessionId }, { token: other })).status,
    (await sent(page, 'feedback', vote, { token: other })).status,
    (await sent(page, 'feedback', { ...vote, turnId: undefined }, { token })).status,
    (await sent(page, 'feedback', { ...vote, vote: 'down' }, { token })).json.error,
  ]).toEqual([404, 404, 400, 'reason_required_for_negative_vote'])
  const down = { ...vote, vote: 'down', reason: 'No.', shouldCite: 'handbook_00000002' }
  const { json } = await sent(page, 'feedback', down, { token })
  expect((await curator.get(`/queue/${json.candidateId}`)).body).not.toContain('handbook_00000002')
  const stream = await sent(
    page,
    'chat',
    { message: 'When does the office open?' },
    { token, headers: { accept: 'text/event-stream' } },
  )
  expect(stream.text).toMatch(/^event: delta\n[\s\S]*event: done\n/)
  const shown = await curator.get(page)
  expect(shown.texts('.report dd')).toEqual(['on', '5 of 100'])
  expect(shown.texts('#refused ~ ul a')).toContain('what is the door code of the office')
})

test('a vote of a visitor waits, whatever the policy approves', async () => {
  const { ctx, kbId } = started
  new NativeWriter(ctx.directory.repository(kbId)).commit(
    'refs/heads/main',
    new Map([['kb.yaml', 'policy: {threshold: 0.1}\nzones: {kinds: {reader-feedback: green}}\n']]),
  )
  const page = await added()
  const token = await visitor(page)
  const { json } = await sent(page, 'chat', { message: 'When does the office open?' }, { token })
  const vote = { vote: 'up', question: 'q', answer: 'a', sessionId: json.sessionId, turnId: json.turnId }
  expect((await sent(page, 'feedback', vote, { token })).json.status).toBe('pending')
})

/** A visitor's answer, and what the visitor and others do with it. */
async function answered() {
  const page = await added({ perMinute: '100' })
  const token = await visitor(page)
  const { json } = await sent(page, 'chat', { message: 'When does the office open?' }, { token })
  const subject = { question: 'q', answer: 'a', sessionId: json.sessionId, turnId: json.turnId }
  const kb = await started.ctx.kbs.open((await started.ctx.knowledgeBases.list())[0] ?? expect.fail())
  return {
    vote: async (vote: string, { as = token, reason = 'No.' } = {}) => {
      const { status, json } = await sent(page, 'feedback', { ...subject, vote, reason }, { token: as })
      return { status, ...json }
    },
    stranger: () => visitor(page),
    record: async (id: string) => {
      const row = findCandidate(kb.projection.read, id) ?? expect.fail()
      const { metadata, decisions } = parseCandidate(await kb.repository.readText(row.blob))
      const { status, version, confidence, zone } = row
      return { status, version, confidence, zone, decisions, vote: parseMetadata(metadata).data.vote }
    },
    decide: async (id: string, act: typeof approveCandidate | typeof dismissCandidate) => {
      const tenantId = kb.identity.tenantId
      return act(started.ctx, { id: 'key:1', name: 'Curator', tenantId, role: 'curator', connectors: [] }, id, {})
    },
  }
}

test('a visitor who thinks again revises the vote, and takes it back', async () => {
  const { vote, record, stranger } = await answered()
  const { candidateId } = await vote('up')
  expect(await record(candidateId)).toMatchObject({ version: 1, vote: 'up', confidence: 0.9, zone: 'yellow' })
  for (let times = 0; times < 2; times++) {
    expect(await vote('flag', { reason: 'Harmful.' })).toEqual({ candidateId, status: 'pending' })
    expect(await record(candidateId)).toMatchObject({ version: 2, vote: 'flag', confidence: 0.3, zone: 'red' })
  }
  // Somebody may have read the flag, so the zone stays.
  await vote('down')
  expect(await record(candidateId)).toMatchObject({ version: 3, vote: 'down', zone: 'red', status: 'pending' })
  for (const as of [await stranger()]) {
    expect(await vote('none', { as })).toMatchObject({ error: 'not_found' })
    expect(await vote('up', { as })).toMatchObject({ error: 'not_found' })
  }
  for (let times = 0; times < 2; times++) expect(await vote('none')).toEqual({ candidateId, status: 'dismissed' })
  expect(await record(candidateId)).toMatchObject({
    ...{ version: 3, status: 'dismissed' },
    decisions: [{ action: 'revise' }, { action: 'revise' }, { action: 'dismiss', reason: 'withdrawn by its sender' }],
  })
  const anew = await vote('down')
  expect([anew.status, anew.candidateId]).toEqual(['pending', expect.not.stringContaining(candidateId)])
  expect((await vote('up')).candidateId).toBe(anew.candidateId)
})

test('a vote that was decided stays as it is, and another one waits', async () => {
  const { vote, record, decide } = await answered()
  expect(await vote('none')).toMatchObject({ error: 'not_found' })
  const { candidateId } = await vote('down')
  await decide(candidateId, dismissCandidate)
  expect(await vote('down')).toEqual({ candidateId, status: 'dismissed' })
  const second = await vote('up')
  expect([second.status, second.candidateId === candidateId]).toEqual(['pending', false])
  await decide(second.candidateId, approveCandidate)
  expect(await vote('none')).toMatchObject({ error: 'not_pending' })
  expect((await vote('down')).candidateId).not.toBe(second.candidateId)
  expect(await record(candidateId)).toMatchObject({ version: 1, vote: 'down' })
  expect(await record(second.candidateId)).toMatchObject({ version: 1, vote: 'up', status: 'approved' })
})

test('votes of a visitor at once are one candidate, and ten taken back are the last', async () => {
  const { vote, record } = await answered()
  const all = await Promise.all(['up', 'down', 'flag', 'up', 'down'].map((kind) => vote(kind)))
  expect(new Set(all.map(({ candidateId }) => candidateId)).size).toBe(1)
  const { version, decisions } = await record(all[0]?.candidateId)
  expect(decisions.map(({ action }) => action)).toEqual(Array(version - 1).fill('revise'))
  for (let times = 0; times < 10; times++) {
    expect((await vote('down')).status).toBe('pending')
    expect((await vote('none')).status).toBe('dismissed')
  }
  expect(await vote('down')).toMatchObject({ error: 'record_full' })
})

test('a page is refused in words that it may read', async () => {
  const page = await added({ perMinute: '2', perDay: '3' })
  const token = await visitor(page)
  const refusal = async (name: string, more: Sent) => {
    const { status, json, headers } = await sent(page, name, { message: 'When does the office open?' }, more)
    expect(headers['access-control-allow-origin']).toBe('*')
    return [status, json.error]
  }
  expect(await refusal('token', { origin: 'https://evil.example' })).toEqual([403, 'foreign_origin'])
  expect(await refusal('token', { origin: 'https://www.example.org.evil.example' })).toEqual([403, 'foreign_origin'])
  expect(await refusal('chat', { token, origin: 'http://localhost:3000' })).toEqual([401, 'invalid_token'])
  expect(await refusal('chat', {})).toEqual([401, 'invalid_token'])
  const forged = token.replace(/^.{36}/, '01a21734-0000-7000-8000-000000000000')
  expect(await refusal('chat', { token: forged })).toEqual([401, 'invalid_token'])
  expect(await refusal('chat', { token: await visitor(await added()) })).toEqual([401, 'invalid_token'])

  expect([await refusal('chat', { token }), await refusal('chat', { token })]).toEqual([
    [200, undefined],
    [200, undefined],
  ])
  const often = await sent(page, 'chat', { message: 'm' }, { token })
  expect([often.status, often.json.message]).toEqual([
    429,
    expect.stringMatching(/^Too many questions; try again in \d+ s\.$/),
  ])
  const second = await visitor(page)
  expect(await refusal('chat', { token: second })).toEqual([200, undefined])
  const full = await sent(page, 'chat', { message: 'm' }, { token: second })
  expect([full.status, full.json.message]).toEqual([429, 'The questions of today are used up; try again tomorrow.'])
  expect([Number(full.headers['retry-after']) > 0, full.headers['access-control-expose-headers']]).toEqual([
    true,
    'retry-after, x-request-id',
  ])

  const changed = await curator.post(page, { ...fields, origins: 'https://new.example.org' })
  expect([changed.status, await refusal('retrieve', { token })]).toEqual([303, [403, 'foreign_origin']])
  await curator.post(page, fields)
  await curator.post(`${page}/disable`)
  expect(await refusal('retrieve', { token })).toEqual([403, 'site_disabled'])
  expect((await curator.get(page)).texts('.report .badge')).toEqual(['off'])
  await curator.post(`${page}/enable`)
  expect((await sent(page, 'retrieve', { query: 'office' }, { token })).status).toBe(200)
  const removed = await curator.post(`${page}/remove`)
  expect([removed.headers.location, await refusal('token', {})]).toEqual([
    '/kb/handbook/sites?done=removed',
    [404, 'not_found'],
  ])
  expect((await curator.get(page)).status).toBe(404)
})

test('more visitors do not let an address send more', async () => {
  const page = await added()
  const tokens = await Promise.all(Array.from({ length: 3 }, () => visitor(page)))
  const sendAll = () => Promise.all(tokens.map(async (token) => (await sent(page, 'retrieve', {}, { token })).status))
  const first = []
  for (let i = 0; i < 100; i++) first.push(...(await sendAll()))
  expect([new Set(first), await sendAll()]).toEqual([new Set([400]), [429, 429, 429]])
})

test('a token ends after half an hour, and is renewed for a day for the same visitor', async () => {
  const { openSite, visitorOf, visitorToken } = await import('../../../src/sites/site-visitor.ts')
  const id = (await added()).split('/').at(-1) ?? ''
  const page = { origin, fetchSite: 'cross-site' }
  const site = await openSite(started.ctx, id, page)
  const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1) + minutes * 60_000)
  const { token } = visitorToken(site, page, at(0))
  const first = visitorOf(site, page, at(29), token)
  expect(first).toMatchObject({ role: 'reader', name: 'Visitor of Docs', connectors: [] })
  expect(() => visitorOf(site, page, at(31), token)).toThrow('token')
  expect(visitorOf(site, page, at(60), visitorToken(site, page, at(60), token).token).id).toBe(first.id)
  expect(visitorOf(site, page, at(1500), visitorToken(site, page, at(1500), token).token).id).not.toBe(first.id)
})

test('a preflight of any page is answered, and another method is not there', async () => {
  const url = `/widget/v1/sites/${(await added()).split('/').at(-1)}/chat`
  const { statusCode, headers } = await started.app.inject({ method: 'OPTIONS', url, headers: { origin } })
  expect([statusCode, headers['access-control-allow-headers'], headers['access-control-allow-origin']]).toEqual([
    ...[204, 'authorization, content-type', '*'],
  ])
  expect(headers['access-control-allow-credentials']).toBeUndefined()
})

test.each([
  [{ origins: 'https://example.org/docs' }, 'origins'],
  [{ origins: 'ftp://example.org' }, 'origins'],
  [{ origins: '*' }, 'origins'],
  [{ origins: 'https://user:pw@example.org' }, 'origins'],
  [{ origins: Array.from({ length: 21 }, (_, index) => `https://e${index}.org`).join(' ') }, 'origins'],
  [{ origins: '' }, 'origins'],
  [{ name: '' }, 'name'],
  [{ perMinute: '0' }, 'perMinute'],
  [{ perDay: '1.5' }, 'perDay'],
  [{ perDay: '9999999' }, 'perDay'],
])('%o is refused, and what was typed is kept', async (typed, field) => {
  const before = (await curator.get(path)).texts('tbody tr').length
  const answer = await curator.post(path, { ...fields, ...typed })
  expect([answer.status, answer.document.getElementById(`field-${field}-error`)?.textContent]).toEqual([
    400,
    expect.any(String),
  ])
  const control = answer.document.querySelector(`[name=${field}]`)
  const kept = control?.getAttribute('value') ?? control?.textContent.replace(/^\n/, '')
  expect([kept, (await curator.get(path)).texts('tbody tr').length]).toEqual([Object.values(typed)[0], before])
})

test('readers and people of other tenants have no sites', async () => {
  const page = await added()
  const reader = await started.browser('reader')
  const stranger = await started.browser('admin', { tenant: 'other', email: 'stranger@example.com' })
  const looks = await Promise.all([
    reader.get(path),
    reader.get(page),
    stranger.get(page),
    stranger.post(`${page}/remove`),
  ])
  expect(looks.map(({ status }) => status)).toEqual([403, 403, 404, 404])
})

test('what was done with sites is in the audit', async () => {
  const admin = await started.browser('admin')
  const rows = (await admin.get('/settings/audit')).texts('tbody tr').join('\n')
  for (const action of ['site.added', 'site.changed', 'site.disabled', 'site.enabled', 'site.removed']) {
    expect(rows).toContain(action)
  }
})

test('the script is found under both names, once for ever by its content', async () => {
  const get = (url: string) => started.app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
  const [named, upstream] = [await get('/widget/v1/ganglion-chat.js'), await get('/widget/v1/trail-chat.js')]
  const location = String(named.headers.location)
  expect([named.statusCode, upstream.headers.location]).toEqual([302, location])
  const script = await get(location)
  expect(script.headers).toMatchObject({
    ...{
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'content-encoding': 'gzip',
    },
    ...{ 'cache-control': 'public, max-age=31536000, immutable', 'content-type': 'text/javascript; charset=utf-8' },
  })
  expect(script.rawPayload.length).toBeLessThanOrEqual(20 * 1024)
  const older = await get('/widget/v1/0123456789ab/ganglion-chat.js')
  expect([older.statusCode, older.headers['cache-control'], older.rawPayload.equals(script.rawPayload)]).toEqual([
    200,
    'no-cache',
    true,
  ])
})
