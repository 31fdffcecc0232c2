import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { consoleRoutes } from '../../../src/console/console.ts'
import { listAudit, recordAct } from '../../../src/kb/access/audit.ts'
import { createKnowledgeBase, operator } from '../../../src/kb/create-kb.ts'
import { restore } from '../../../src/operate/backup/restore.ts'
import {
  changeKb,
  changeTenant,
  deleteKb,
  findAnyKb,
  markDeleted,
  removeDeleted,
} from '../../../src/operate/life-cycle.ts'
import { sweepRows } from '../../../src/operate/sweeping.ts'
import { usageOf } from '../../../src/operate/usage.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { eventually } from '../../support/eventually.ts'
import { signIn } from '../../support/person.ts'
import { tempDir } from '../../support/temp.ts'
import { type Product, startProduct } from '../support.ts'

const candidate = { kb: 'handbook', kind: 'external-feed', title: 'Hours', content: 'Nine to five.' }

/** A deployment with something in every place, of `acme`, and a second tenant. */
async function deployment() {
  const product = await startProduct({ pages: consoleRoutes })
  const { ctx, request, tokens, newKey, kbId } = product
  const acme = (await ctx.tenants.find('acme'))?.id ?? ''
  const theirs = await newKey('umbrella', 'curator')
  await createKnowledgeBase(ctx, { tenant: 'umbrella', slug: 'theirs' })
  const form = new FormData()
  form.set('file', new Blob(['Open from nine to five.']), 'hours.txt')
  const { body: source } = await request('POST', '/api/v1/knowledge-bases/handbook/documents/upload', {
    as: tokens.app,
    body: form,
  })
  const { body: sent } = await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body: candidate })
  const { body: upload } = await request('POST', '/api/v1/knowledge-bases/handbook/documents/upload/init', {
    as: tokens.app,
    body: { filename: 'note.txt', fileSize: 4 },
  })
  const { body: chat } = await request('POST', '/api/v1/chat', {
    as: tokens.app,
    body: { knowledgeBaseId: 'handbook', message: 'When?' },
  })
  vi.stubEnv('GANGLION_FORGE_H', 'hush')
  const link = await ctx.forgeLinks.create(
    {
      ...{ tenantId: acme, kbId, kind: 'gitea', url: 'https://forge.example/a/b', apiUrl: null },
      ...{ credential: { token: 'env:GANGLION_FORGE_T' }, webhookSecret: 'env:GANGLION_FORGE_H', maxOpen: 5 },
    },
    ctx.now(),
  )
  await ctx.webhooks.create({ tenantId: acme, kbId: null, url: 'https://h.example', kinds: [], cursor: 0 }, ctx.now())
  const admin = await signIn(ctx, 'acme', 'admin')
  const doors: [string, () => Promise<number>][] = [
    ['search', () => get('/api/v1/search?kb=handbook&q=hours')],
    ['neurons', () => get('/api/v1/knowledge-bases/handbook/neurons')],
    ['by id', () => get(`/api/v1/knowledge-bases/${kbId}/neurons`)],
    ['candidate', () => get(`/api/v1/queue/candidates/${sent.candidateId}`, tokens.curator)],
    ['approve', () => post(`/api/v1/queue/candidates/${sent.candidateId}/approve`, {}, tokens.curator)],
    ['submit', () => post('/api/v1/queue/candidates', candidate)],
    ['my candidate', () => get(`/api/v1/me/candidates/${sent.candidateId}`)],
    ['my source', () => get(`/api/v1/me/sources/${source.id}`)],
    ['source', () => get(`/api/v1/documents/${source.id}`, tokens.curator)],
    ['upload', () => get(`/api/v1/uploads/${upload.uploadId}`)],
    ['chat', () => post('/api/v1/chat', { knowledgeBaseId: 'handbook', message: 'When?', sessionId: chat.sessionId })],
    ['events', () => get('/api/v1/events?kb=handbook')],
    ['git', () => basic('/git/acme/handbook.git/info/refs?service=git-upload-pack')],
    ['mcp', () => mcp()],
    ['console', async () => (await fetch(`${product.url}/kb/handbook`, browser)).status],
    ['forge', () => post(`/forge/${link?.id}/events`, {})],
  ]
  const browser = { headers: { cookie: admin.headers.cookie, accept: 'text/html' }, redirect: 'manual' } as const
  const get = async (path: string, as = tokens.app) => {
    const response = await fetch(product.url + path, { headers: { authorization: `Bearer ${as}` } })
    await response.body?.cancel()
    return response.status
  }
  const post = async (path: string, body: unknown, as = tokens.app) =>
    (await request('POST', path, { as, body })).status
  const basic = async (path: string) => {
    const authorization = `Basic ${Buffer.from(`x:${tokens.curator}`).toString('base64')}`
    const response = await fetch(product.url + path, { headers: { authorization } })
    await response.arrayBuffer()
    return response.status
  }
  const mcp = async () => {
    const call = { name: 'search', arguments: { kb: 'handbook', query: 'hours' } }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
    const { status, text } = await request('POST', '/mcp', {
      as: tokens.app,
      headers: { accept: 'application/json, text/event-stream' },
      body,
    })
    return text.includes('"isError":true') ? 404 : status
  }
  const through = async () => {
    const statuses: Record<string, number> = {}
    for (const [name, ask] of doors) statuses[name] = await ask()
    return statuses
  }
  return { ...product, acme, theirs, admin, through, by: { ...operator, tenantId: acme } }
}

const served = {
  ...{ search: 200, neurons: 200, 'by id': 200, candidate: 200, approve: 200, submit: 201, source: 200, upload: 200 },
  ...{ 'my candidate': 200, 'my source': 200, chat: 200, events: 200, git: 200, mcp: 200, console: 200, forge: 401 },
}
const all = (status: number) => Object.fromEntries(Object.keys(served).map((door) => [door, status]))

test('what is disabled is behind no door, and comes back whole', async () => {
  const { ctx, through, by, acme, request, tokens, theirs } = await deployment()
  expect(await through()).toEqual(served)
  const kb = async () => {
    const found = await ctx.knowledgeBases.find(acme, 'handbook', { disabled: true })
    if (found === undefined) throw new Error('gone')
    return found
  }
  await changeKb(ctx, by, await kb(), { isDisabled: true })
  expect(await through()).toEqual(all(404))
  const { body: listed } = await request('GET', '/api/v1/knowledge-bases', { as: tokens.app })
  expect(listed.knowledgeBases).toEqual([])
  expect((await request('GET', '/api/v1/me/sources', { as: tokens.app })).body.documents).toEqual([])
  expect((await request('GET', '/api/v1/me/candidates', { as: tokens.app })).body.candidates).toEqual([])
  expect(await ctx.events.after(acme, 0, 100)).toEqual([])
  expect(await ctx.jobs.claim('x', { now: new Date(Date.now() + 1000), leaseMs: 1 })).toBeUndefined()
  await changeKb(ctx, by, await kb(), { isDisabled: false })
  expect(await through()).toEqual(served)

  const tenant = await ctx.tenants.get(acme)
  if (tenant === undefined) throw new Error('no tenant')
  await changeTenant(ctx, by, tenant, { isDisabled: true })
  // A person is asked to sign in, which then fails.
  expect(await through()).toEqual({ ...all(403), console: 302, forge: 404 })
  expect(await ctx.webhooks.list()).toEqual([])
  expect((await request('GET', '/api/v1/knowledge-bases', { as: theirs })).body.knowledgeBases).toHaveLength(1)
  await changeTenant(ctx, by, { ...tenant, disabledAt: 'now' }, { isDisabled: false })
  expect(await through()).toEqual(served)
})

test('what is renamed is found by both names, also by git, and the old one stays its own', async () => {
  const { ctx, through, acme, by, request, tokens, kbId } = await deployment()
  await changeKb(ctx, by, await findAnyKb(ctx, acme, 'handbook'), { slug: 'guide' })
  expect(await through()).toEqual(served)
  const { body } = await request('GET', '/api/v1/knowledge-bases', { as: tokens.app })
  expect(body.knowledgeBases).toMatchObject([{ id: kbId, slug: 'guide' }])
  const [open] = await ctx.kbs.all()
  expect(open?.identity.slug).toBe('guide')
  await expect(createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })).rejects.toThrow('already')
  const tenant = await ctx.tenants.get(acme)
  if (tenant === undefined) throw new Error('no tenant')
  await changeTenant(ctx, { ...operator, tenantId: acme }, tenant, { slug: 'acme-corp' })
  expect(await through()).toEqual(served)
  expect((await verify(ctx)).ok).toBe(true)
  expect(await usageOf(ctx, tenant)).toMatchObject({
    knowledgeBases: [{ id: kbId, slug: 'guide', neurons: 1, diskBytes: expect.any(Number) }],
    sources: 1,
    sourceBytes: 23,
  })
  const { entries } = await listAudit(ctx, acme)
  expect(entries).toMatchObject([{ action: 'tenant.renamed' }, { action: 'kb.renamed', detail: 'to guide' }])
})

/** Counts the rows of each table that name a tenant or a knowledge base. */
async function rowsOf({ ctx }: Pick<Product, 'ctx'>, id: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const { name, columns } of await ctx.database.db.introspection.getTables()) {
    const own = columns.map(({ name }) => name).filter((column) => ['tenant_id', 'kb_id'].includes(column))
    for (const column of [...own, ...(['tenants', 'knowledge_bases'].includes(name) ? ['id'] : [])]) {
      const query = sql<{
        count: number
      }>`select count(*) as count from ${sql.table(name)} where ${sql.ref(column)} = ${id}`
      const count = Number((await query.execute(ctx.database.db)).rows[0]?.count)
      if (count > 0) found[`${name}.${column}`] = count
    }
  }
  return found
}

test('a deleted knowledge base leaves nothing, takes nothing else along, and its export restores it', async () => {
  const made = await deployment()
  const { ctx, dataDir, by, request, kbId, acme, theirs, through } = made
  await made.newKey('acme', 'reader')
  await ctx.users.create({ email: 'nowhere@example.com', name: 'No role', passwordHash: 'hash' }, ctx.now())
  const kb = await findAnyKb(ctx, acme, 'handbook')
  await expect(deleteKb(ctx, by, kb)).rejects.toMatchObject({ code: 'not_disabled' })
  await changeKb(ctx, by, kb, { isDisabled: true })
  const disabled = await findAnyKb(ctx, acme, kbId)
  const twice = await Promise.allSettled([1, 2].map(() => deleteKb(ctx, by, disabled)))
  expect(twice).toContainEqual({ status: 'rejected', reason: expect.objectContaining({ code: 'not_found' }) })
  const [name = ''] = twice.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  expect(readdirSync(join(dataDir, 'exports'))).toEqual([name])
  expect(await through()).toEqual({ ...all(404) })
  await eventually(async () => expect(await removeDeleted(ctx)).toBe(true))
  expect(await rowsOf(made, kbId)).toEqual({})
  expect(readdirSync(join(dataDir, 'repos'))).toHaveLength(1)
  expect(existsSync(join(dataDir, 'index', kbId))).toBe(false)
  expect(readdirSync(join(dataDir, 'extracts'))).toEqual([])
  expect((await verify(ctx)).ok).toBe(true)
  expect((await request('GET', '/api/v1/knowledge-bases', { as: theirs })).body.knowledgeBases).toHaveLength(1)
  expect((await ctx.apiKeys.list(acme)).length).toBe(4)
  // The name is free.
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })

  const exported = join(dataDir, 'exports', name)
  const bytes = readFileSync(join(exported, 'ganglion.db'), 'latin1')
  for (const foreign of ['umbrella', 'nowhere@example.com']) expect(bytes).not.toContain(foreign)
  const target = join(tempDir(), 'restored')
  await restore(exported, { dataDir: target }, {})
  const restored = await openContext({ dataDir: target })
  const [again] = await restored.knowledgeBases.list()
  expect(again).toMatchObject({ id: kbId, disabledAt: null })
  expect((await verify(restored)).ok).toBe(true)
  expect((await restored.sources.all(kbId)).length).toBe(1)
  await restored.close()
})

test('a deletion that is cut off anywhere goes on, and the tenant goes with its people', async () => {
  const made = await deployment()
  const { ctx, acme, kbId, admin, theirs, request, through } = made
  const shared = await signIn(ctx, 'umbrella', 'reader', { email: 'both@example.com' })
  await ctx.users.setRole(shared.userId, acme, 'reader')
  await markDeleted(ctx, { tenant: { id: acme } }, undefined)
  expect(await through()).toEqual({ ...all(401), console: 302, forge: 404 })
  await eventually(() => ctx.kbs.closeUnused(kbId).then((isClosed) => expect(isClosed).toBe(true)))
  for (const broken of ['texts', 'database'] as const) {
    const spy =
      broken === 'texts'
        ? vi.spyOn(ctx.texts, 'remove').mockRejectedValueOnce(new Error('cut off'))
        : vi.spyOn(ctx.database.db, 'transaction').mockImplementationOnce(() => {
            throw new Error('cut off')
          })
    await expect(removeDeleted(ctx)).rejects.toThrow('cut off')
    spy.mockRestore()
  }
  expect(await removeDeleted(ctx)).toBe(true)
  expect({ ...(await rowsOf(made, acme)), ...(await rowsOf(made, kbId)) }).toEqual({})
  expect(await ctx.users.get(admin.userId)).toBeUndefined()
  expect(await ctx.users.memberships(shared.userId)).toMatchObject([{ tenantSlug: 'umbrella' }])
  expect((await request('GET', '/api/v1/knowledge-bases', { as: theirs })).body.knowledgeBases).toHaveLength(1)
  expect(await verify(ctx)).toMatchObject({ ok: true, kbs: [{ slug: 'theirs' }] })
})

test('a quota bounds the bytes of Sources and the knowledge bases', async () => {
  const { ctx, acme, request, tokens } = await deployment()
  await ctx.tenants.setQuotas({ id: acme }, { sourceBytes: 30, knowledgeBases: 1 })
  await expect(createKnowledgeBase(ctx, { tenant: 'acme', slug: 'more' })).rejects.toMatchObject({
    code: 'quota_exceeded',
  })
  const begin = (fileSize: number) =>
    request('POST', '/api/v1/knowledge-bases/handbook/documents/upload/init', {
      as: tokens.app,
      body: { filename: 'note.txt', fileSize },
    })
  expect((await begin(7)).status).toBe(201)
  expect(await begin(8)).toMatchObject({ status: 507, body: { error: 'quota_exceeded' } })
  const form = new FormData()
  form.set('file', new Blob(['12345678']), 'more.txt')
  const upload = '/api/v1/knowledge-bases/handbook/documents/upload'
  expect((await request('POST', upload, { as: tokens.app, body: form })).status).toBe(507)
  const atOnce = ['1234', '5678'].map((text) => {
    const form = new FormData()
    form.set('file', new Blob([text]), `${text}.txt`)
    return request('POST', upload, { as: tokens.app, body: form })
  })
  expect((await Promise.all(atOnce)).map(({ status }) => status).sort()).toEqual([201, 507])
  expect(await ctx.sources.totalSize(acme)).toMatchObject({ count: 2 })
})

test('an upload that is under way when its knowledge base is disabled is refused', async () => {
  const { ctx, by, request, tokens, kbId } = await deployment()
  const keep = ctx.blobs.keep.bind(ctx.blobs)
  vi.spyOn(ctx.blobs, 'keep').mockImplementationOnce(async (file, use) => {
    await changeKb(ctx, by, await ctx.knowledgeBases.find(by.tenantId, 'handbook').then((kb) => kb ?? expect.fail()), {
      isDisabled: true,
    })
    return keep(file, use)
  })
  const form = new FormData()
  form.set('file', new Blob(['late']), 'late.txt')
  const upload = '/api/v1/knowledge-bases/handbook/documents/upload'
  expect((await request('POST', upload, { as: tokens.app, body: form })).status).toBe(404)
  expect(await ctx.sources.all(kbId)).toHaveLength(1)
})

test('a disable ends streams of events with the reason, and an export has every write that was not refused', async () => {
  const { ctx, acme, url, tokens, dataDir } = await deployment()
  const streamed = async (query: string) => {
    const headers = { authorization: `Bearer ${tokens.curator}` }
    return (await (await fetch(`${url}/api/v1/events${query}`, { headers })).text()).match(/"error":"\w+"/)?.[0]
  }
  const streams = [streamed('?kb=handbook'), streamed('')]
  const kb = (await ctx.knowledgeBases.find(acme, 'handbook')) ?? expect.fail()
  const held = await ctx.kb(acme, kb.id)
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = held.write(() => {
    begun.resolve()
    return end.promise
  })
  await begun.promise
  const target = join(dataDir, 'exports', 'all')
  const marked = markDeleted(ctx, { tenant: { id: acme }, kb }, target)
  await eventually(async () => expect(await ctx.knowledgeBases.list(acme)).toEqual([]))
  const late = expect(held.write(async () => expect.fail())).rejects.toMatchObject({ code: 'not_found' })
  expect(existsSync(target)).toBe(false)
  end.resolve()
  await Promise.all([writing, late, marked])
  expect(existsSync(join(target, 'manifest.json'))).toBe(true)
  expect(await streams[0]).toBe('"error":"not_found"')
  await ctx.tenants.setDisabled({ id: acme }, ctx.now())
  expect(await streams[1]).toBe('"error":"tenant_disabled"')
})

test('what is over is kept for as long as the operator says, and what a Source has made stays', async () => {
  const { ctx, acme, request, tokens, kbId, by } = await deployment()
  await recordAct(ctx, by, { action: 'tenant.renamed', subject: 'acme' })
  const [source] = await ctx.sources.all(kbId)
  if (source === undefined) throw new Error('no Source')
  await eventually(async () => expect((await ctx.sources.get(source.id))?.status).toBe('ready'))
  const path = `/api/v1/documents/${source.id}`
  expect((await request('DELETE', path, { as: tokens.curator })).status).toBe(204)
  const neurons = async () =>
    (await request('GET', '/api/v1/knowledge-bases/handbook/neurons', { as: tokens.curator })).body.neurons
  const before = await neurons()
  const removed = vi.spyOn(ctx.texts, 'remove')
  const left = async () => [
    (await ctx.events.after(acme, 0, 2)).length > 1, // the last one is kept, since ids go on from there
    (await ctx.audit.list(acme, { before: undefined, limit: 9 })).length > 0,
    (await ctx.sources.all(kbId)).length,
    await ctx.sources.hasBytes(source.contentHash),
    removed.mock.calls.length,
  ]
  const later = (days: number) => ({ ...ctx, now: () => new Date(Date.now() + days * 86_400_000) })
  await sweepRows(later(30), { events: 31, audit: 31, archived: 31 })
  expect(await left()).toEqual([true, true, 1, true, 0])
  await sweepRows(later(30), {})
  expect(await left()).toEqual([false, true, 1, true, 0])
  await sweepRows(later(30), { audit: 29, archived: 29 })
  expect(await left()).toEqual([false, false, 0, false, 1])
  expect((await request('GET', path, { as: tokens.curator })).status).toBe(404)
  expect(await neurons()).toEqual(before)
  expect((await verify(ctx)).ok).toBe(true)
})
