import { v7 as uuidv7 } from 'uuid'
import { expect, test, vi } from 'vitest'
import { GanglionError } from '../../src/contract/errors.ts'
import { GitError } from '../../src/git/git-error.ts'
import { observedRequest } from '../../src/models/language-model.ts'
import { health } from '../../src/operate/health.ts'
import type { CompiledPage } from '../../src/sources/compile/compiled.ts'
import { commitSource } from '../../src/sources/ingest/commit-source.ts'
import { PresentWork } from '../../src/system/concurrency/present-work.ts'
import { eventually } from '../support/eventually.ts'
import { testServer } from './support/test-server.ts'

test('a server is alive while it starts, and ready only then', async () => {
  let ready = false
  const { request } = await testServer({}, { isReady: () => ready })
  expect((await request('GET', '/healthz')).status).toBe(200)
  expect((await request('GET', '/metrics')).status).toBe(200)
  for (const url of ['/readyz', '/api/v1/queue/candidates', '/api/v1/%ff', '/openapi.json', '/nothing']) {
    const { status, json } = await request('GET', url, { as: 'curator' })
    expect([url, status, json]).toEqual([url, 503, expect.objectContaining({ error: 'unavailable' })])
  }
  ready = true
  expect((await request('GET', '/readyz')).status).toBe(200)
  expect((await request('GET', '/api/v1/queue/candidates', { as: 'curator' })).status).toBe(200)
})

test('a server with a broken part is not ready, and says which part and why', async () => {
  const broken = [
    { part: 'git' as const, reason: 'git cannot be started' },
    { part: 'repositories' as const, reason: 'the data directory, or a part of it, is missing' },
  ]
  const { request, ctx } = await testServer()
  vi.spyOn(health(ctx), 'problems').mockResolvedValue(broken)
  const { status, json } = await request('GET', '/readyz')
  expect({ status, json }).toEqual({
    status: 503,
    json: {
      error: 'unavailable',
      message: 'git: git cannot be started; repositories: the data directory, or a part of it, is missing',
      problems: broken,
    },
  })
  expect((await request('GET', '/healthz')).status).toBe(200)
  expect((await request('GET', '/api/v1/queue/candidates', { as: 'curator' })).status).toBe(200)
})

test('what a request opens stays open until it is answered', async () => {
  const held = { users: 0 }
  const seen: number[] = []
  const { request } = await testServer({
    async kb() {
      PresentWork.current?.hold(held)
      seen.push(held.users)
      throw new GanglionError('not_found')
    },
  })
  const body = { vote: 'up', question: 'Who?', answer: 'Ann.' }
  expect((await request('POST', '/api/v1/knowledge-bases/handbook/reader-feedback', { as: 'app', body })).status).toBe(
    404,
  )
  expect(seen).toEqual([1])
  await eventually(() => expect(held.users).toBe(0))
})

const failed = (code: string, more: object = {}) =>
  Object.assign(new Error(`${code}: open '/srv/data'`, more), { code })

test.each([
  ['a read-only file system', failed('EROFS'), 503, 'The data of the server cannot be written.'],
  ['a folder of another user', failed('EACCES'), 503, 'The data of the server cannot be written.'],
  [
    'a read-only database',
    Object.assign(new Error('readonly'), { errcode: 1032 }),
    503,
    'The data of the server cannot be written.',
  ],
  ['no git', new GitError('no-git', 'spawn git ENOENT'), 503, 'git cannot be started on the server.'],
  [
    'a git that may not write',
    new GitError('git-failed', "fatal: '/srv': Permission denied"),
    503,
    'The data of the server cannot be written.',
  ],
  ['a full disk', new Error('commit', { cause: failed('ENOSPC') }), 507, expect.stringContaining('disk')],
  ['a bug', failed('ENOENT'), 500, expect.stringContaining('wrong')],
])('a request that fails for %s says whose fault it is, without a path', async (_, error, status, message) => {
  const { request, ctx } = await testServer()
  vi.spyOn(ctx, 'kb').mockRejectedValueOnce(error)
  const answer = await request('GET', '/api/v1/queue/candidates?kb=handbook', { as: 'curator' })
  expect([answer.status, Object(answer.json).message]).toEqual([status, message])
  expect(answer.text).not.toContain('/srv')
})

test('metrics are for who has their key, or without one for the machine itself', async () => {
  const status = async (metricsKey: string | undefined, headers = {}, remoteAddress = '127.0.0.1') => {
    const { app } = await testServer({}, { metricsKey, trustedProxies: ['loopback'] })
    return (await app.inject({ url: '/metrics', headers, remoteAddress })).statusCode
  }
  const key = 'of-sixteen-signs'
  const authorization = `Bearer ${key}`
  expect(await status(undefined)).toBe(200)
  expect(await status(undefined, {}, '::ffff:127.0.0.1')).toBe(200)
  expect(await status(undefined, {}, '192.0.2.1')).toBe(401)
  for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-proto']) {
    expect([name, await status(undefined, { [name]: '127.0.0.1' })]).toEqual([name, 401])
  }
  expect(await status(key)).toBe(401)
  expect(await status(key, { authorization: `${authorization}x` }, '192.0.2.1')).toBe(401)
  expect(await status(key, { authorization }, '192.0.2.1')).toBe(200)
})

test('metrics count requests by route, and candidates by what was done', async () => {
  const { request } = await testServer()
  const body = { kb: 'handbook', kind: 'chat', title: 'x', content: 'y' }
  const { json } = await request('POST', '/api/v1/queue/candidates', { as: 'app', body })
  const path = `/api/v1/queue/candidates/${Object(json).candidateId}`
  const { text: waiting } = await request('GET', '/metrics')
  expect(waiting).toMatch(/^ganglion_queue_pending_candidates 1\n/m)
  expect(waiting).toMatch(/^ganglion_queue_oldest_pending_seconds [\d.]+\n/m)
  expect(waiting).not.toContain('NaN')
  for (const action of ['dismiss', 'reopen', 'approve']) await request('POST', `${path}/${action}`, { as: 'curator' })
  await request('GET', '/secret-of-a-user/x')
  await request('GET', '/api/v1/secret-of-a-user', { as: 'app' })
  const { text } = await request('GET', '/metrics')
  expect(text).toContain(
    'http_request_duration_seconds_count{route="/api/v1/queue/candidates",method="POST",status="201"} 1',
  )
  expect(text).toContain(
    'http_request_duration_seconds_count{route="/api/v1/queue/candidates/:id/approve",method="POST",status="200"} 1',
  )
  expect(text).toContain('http_request_duration_seconds_count{route="unmatched",method="GET",status="404"} 2')
  expect(text).toContain('ganglion_candidates_total{action="submit",status="pending"} 1')
  expect(text).toContain('ganglion_candidates_total{action="dismiss",status="dismissed"} 1')
  expect(text).toContain('ganglion_candidates_total{action="reopen",status="pending"} 1')
  expect(text).toContain('ganglion_candidates_total{action="approve",status="approved"} 1')
  expect(text).toContain('process_cpu_seconds_total')
  expect(text).not.toContain('secret-of-a-user')
})

test('the count of candidates leaves out what ingest brings, and says so', async () => {
  const { request, ctx, acts, kbId } = await testServer()
  const [id, sha256] = [uuidv7(), 'ab'.repeat(32)]
  const source = { id, editionOf: id, filename: 'a.md', sha256, sourceUrl: null, isWanted: async () => true }
  const page: CompiledPage = { key: 'one', kind: 'part', title: 'Otters', content: 'Otters swim.', tags: [], place: {} }
  const kb = await ctx.kb((await ctx.tenants.find('acme'))?.id ?? '', kbId)
  const { created, pending } = await commitSource(ctx, kb, source, [page])
  expect([created + pending, acts]).toEqual([1, []])
  const { text } = await request('GET', '/metrics')
  expect(text).toMatch(/^# HELP ganglion_candidates_total .*; not what pushes, imports and ingest brought\.$/m)
  expect(text).not.toMatch(/^ganglion_candidates_total\{/m)
})

test('metrics tell jobs by state, indexes, lag of deliveries, and the work of the process by its outcome', async () => {
  const { request, ctx, kbId } = await testServer()
  const figure = async (name: string) => {
    const { text } = await request('GET', '/metrics')
    return Number(text.match(new RegExp(`^${name.replaceAll(/[{}"]/g, '\\$&')} (.*)$`, 'm'))?.[1])
  }
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const failed = 'ganglion_model_request_duration_seconds_count{outcome="failed",use="chat"}'
  await observedRequest('chat', 'm', async () => new Response('', { status: 500 }))
  await expect(observedRequest('chat', 'm', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  expect(await figure(failed)).toBe(2)

  // An index looks at what there is when it is asked, and is idle from the next change on.
  await eventually(async () => {
    await request('GET', '/api/v1/search?kb=handbook&q=vip', { as: 'curator' })
    expect(await figure('ganglion_search_indexes{state="current"}')).toBe(1)
  })
  expect(await figure('ganglion_follower_lag_seconds{follower="search"}')).toBe(0)
  expect(await figure('ganglion_wal_size_bytes{of="database"}')).toBeGreaterThan(0)
  const written = (await figure('ganglion_commit_duration_seconds_count{outcome="ok"}')) || 0
  const body = { kb: 'handbook', kind: 'chat', title: 'lag', content: 'y' }
  await request('POST', '/api/v1/queue/candidates', { as: 'app', body })
  expect(await figure('ganglion_commit_duration_seconds_count{outcome="ok"}')).toBe(written + 1)
  expect(await figure('ganglion_search_indexes{state="idle"}')).toBe(1)
  expect(await figure('ganglion_search_indexes{state="behind"}')).toBe(0)

  const hour = new Date(Date.now() - 3_600_000)
  const job = { tenantId, kbId }
  await ctx.jobs.enqueue({ ...job, documentId: uuidv7() }, hour)
  await ctx.jobs.enqueue({ ...job, documentId: uuidv7() }, hour)
  const claimed = await ctx.jobs.claim('x', { now: new Date(), leaseMs: 60_000 })
  expect(await figure('ganglion_ingest_jobs{state="running"}')).toBe(1)
  expect(await figure('ganglion_ingest_oldest_due_seconds')).toBeGreaterThan(3_599)
  await ctx.jobs.retry(claimed ?? expect.fail(), new Date(Date.now() + 60_000))
  expect(await figure('ganglion_ingest_jobs{state="retrying"}')).toBe(1)
  expect(await figure('ganglion_ingest_jobs{state="waiting"}')).toBe(1)

  await ctx.events.append(tenantId, [{ kbId, kind: 'kb.pushed', isCuratorOnly: false, data: {} }], new Date())
  const { last } = await ctx.events.range(tenantId)
  const hook = { tenantId, kbId: null, url: 'https://h.example', kinds: [], cursor: last - 1 }
  const webhook = await ctx.webhooks.create(hook, new Date())
  expect(await figure('ganglion_webhook_lag_events')).toBe(1)
  const delivery = { eventId: last, kind: 'kb.pushed', at: '', status: 500, note: null, duration: 1 }
  await ctx.webhooks.fail(webhook, { note: '', isFinal: false, dueAt: new Date() }, delivery, hour)
  expect(await figure('ganglion_webhook_lag_seconds')).toBeGreaterThan(3_599)
})

test('each line of the log has the id of its request, and none a secret', async () => {
  const lines: string[] = []
  const { request } = await testServer(
    {},
    { log: { level: 'debug', stream: { write: (line) => void lines.push(line) } } },
  )
  const headers = { cookie: 'session=s3cret', authorization: 'Bearer s3cret' }
  const answers = [
    await request('GET', '/api/v1/queue/candidates?token=s3cret', { headers }),
    await request('GET', '/nothing?token=s3cret', { headers }),
    await request('GET', '/%ff?token=s3cret', { headers }),
    await request('GET', '/api/v1/queue/candidates?limit=s3cret', { as: 'curator' }),
  ]
  expect(lines.join('')).not.toContain('s3cret')
  const logged = lines.map((line): unknown => JSON.parse(line))
  for (const { headers } of answers) {
    expect(logged).toContainEqual(expect.objectContaining({ reqId: headers['x-request-id'] }))
  }
  for (const line of logged) expect(line).toHaveProperty('reqId')
})

test('the log has one line for each request, and with `debug` also one for its arrival', async () => {
  const linesAt = async (level: 'info' | 'debug') => {
    const lines: unknown[] = []
    const { request } = await testServer(
      {},
      { log: { level, stream: { write: (line) => void lines.push(JSON.parse(line)) } } },
    )
    for (const path of ['/healthz', '/nothing', '/%ff']) await request('GET', path)
    return lines
  }
  const completed = (path: string, statusCode: number) =>
    expect.objectContaining({ level: 30, req: expect.objectContaining({ method: 'GET', path }), res: { statusCode } })
  expect(await linesAt('info')).toEqual([
    completed('/healthz', 200),
    completed('/nothing', 404),
    completed('/%ff', 400),
  ])
  expect(await linesAt('debug')).toHaveLength(6)
})

test('each answer names the node that gave it, where it has a name', async () => {
  const { request } = await testServer({}, { node: 'node-1' })
  for (const path of ['/healthz', '/nothing', '/api/v1/queue/candidates']) {
    expect((await request('GET', path)).headers['ganglion-node']).toBe('node-1')
  }
  expect((await (await testServer()).request('GET', '/healthz')).headers['ganglion-node']).toBeUndefined()
})

test('a server that is to end soon is not ready, and serves on connections that it does not keep', async () => {
  let isLeaving = false
  const { request } = await testServer({}, { isLeaving: () => isLeaving })
  expect((await request('GET', '/readyz')).status).toBe(200)
  isLeaving = true
  expect((await request('GET', '/readyz')).status).toBe(503)
  const { status, headers } = await request('GET', '/api/v1/queue/candidates', { as: 'curator' })
  expect([status, headers.connection]).toEqual([200, 'close'])
})

test('a client does not choose the id of its request', async () => {
  const { request } = await testServer()
  const { headers } = await request('GET', '/healthz', { headers: { 'x-request-id': 'mine', 'request-id': 'mine' } })
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
})
