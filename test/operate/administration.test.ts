import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import {
  addWebhook,
  changeWebhook,
  listWebhooks,
  readWebhook,
  removeWebhook,
  resendEvent,
  rotateWebhook,
  testWebhook,
} from '../../src/events/webhooks/manage-webhooks.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { backup } from '../../src/operate/backup/backup.ts'
import { healthReports } from '../../src/operate/health-report.ts'
import { verifications } from '../../src/operate/verify/verifications.ts'
import { createApiKey, listApiKeys, revokeApiKey } from '../../src/people/manage-api-keys.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { newTestBed } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'
import { listening } from '../support/listening.ts'
import { tempDir } from '../support/temp.ts'

async function administered() {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const admin = { ...curator, name: 'Ada', isAdmin: true }
  await createKnowledgeBase(ctx, { tenant: 'umbrella', slug: 'theirs' })
  const stranger = { ...admin, tenantId: (await ctx.tenants.find('umbrella'))?.id ?? '' }
  return { ...bed, admin, stranger }
}

const newKey = { name: 'website', role: 'app' as const, connectors: ['site-chat'], expiresAt: null }
const anywhere = { allowPrivate: true }
const missing = { code: 'not_found' }

test('a key works until it is revoked, says who made it, and is nothing to another tenant', async () => {
  const { admin, stranger, ctx } = await administered()
  const { key, token } = await createApiKey(ctx, admin, newKey)
  expect(key).toMatchObject({ name: 'website', createdBy: 'Ada', revokedAt: null })
  expect(JSON.stringify(await listApiKeys(ctx, admin, {}))).not.toContain(token)
  expect(await listApiKeys(ctx, stranger, {})).toEqual({ keys: [], nextCursor: null })
  await expect(revokeApiKey(ctx, stranger, key.id)).rejects.toMatchObject(missing)
  expect(await ctx.apiKeys.authenticate(token, new Date())).toMatchObject({ id: key.id })
  await revokeApiKey(ctx, admin, key.id)
  const acts = await ctx.audit.list(admin.tenantId, { before: undefined, limit: 10 })
  expect(acts.map(({ action, subject }) => [action, subject])).toEqual([
    ['key.revoked', 'website'],
    ['key.created', 'website'],
  ])
  expect(await ctx.apiKeys.authenticate(token, new Date())).toBeUndefined()
})

test('keys are listed newest first, page by page', async () => {
  const { admin, ctx } = await administered()
  for (let number = 0; number < 53; number++) await createApiKey(ctx, admin, { ...newKey, name: `k${number}` })
  const first = await listApiKeys(ctx, admin, {})
  expect([first.keys[0]?.name, first.keys.length]).toEqual(['k52', 50])
  const second = await listApiKeys(ctx, admin, { cursor: first.nextCursor ?? '' })
  expect([second.keys.map(({ name }) => name), second.nextCursor]).toEqual([['k2', 'k1', 'k0'], null])
})

test('a webhook is tested, paused, replayed and removed; its deliveries are kept, its secret is not shown again', async () => {
  const { admin, stranger, ctx, kbId } = await administered()
  const statuses = [204, 500, 200]
  const url = await listening(createServer((_, response) => void response.writeHead(statuses.shift() ?? 200).end()))
  const { id, secret } = await addWebhook(ctx, admin, { url: `${url}/hook`, kb: 'handbook', kinds: [] }, anywhere)
  expect(await testWebhook(ctx, admin, id, anywhere)).toMatchObject({ eventId: null, status: 204, note: null })
  await addSource(ctx, { kbId })
  const sent = await resendEvent(ctx, admin, { id, eventId: 1 }, anywhere)
  expect(sent).toMatchObject({ eventId: 1, kind: 'source.uploaded', status: 500, note: 'The receiver answered 500.' })
  await changeWebhook(ctx, admin, id, { kinds: ['ingest.failed'] }, anywhere)
  await changeWebhook(ctx, admin, id, { isEnabled: false }, anywhere)
  const shown = await readWebhook(ctx, admin, id)
  expect(shown).toMatchObject({
    ...{ kb: 'handbook', kinds: ['ingest.failed'], isEnabled: false, note: 'Paused by Ada.', lastEvent: 1 },
    deliveries: [{ status: 500 }, { status: 204 }],
  })
  expect(JSON.stringify([shown, await listWebhooks(ctx, admin)])).not.toContain(secret)
  const again = { isEnabled: true, from: 1 }
  expect(await changeWebhook(ctx, admin, id, again, anywhere)).toMatchObject({ cursor: 0, lastEvent: 1 })
  expect((await listWebhooks(ctx, admin))[0]).toMatchObject({ isEnabled: true, note: null })
  await expect(changeWebhook(ctx, admin, id, { from: 9 }, anywhere)).rejects.toMatchObject({
    fieldErrors: { from: ['The last event is 1.'] },
  })
  await expect(resendEvent(ctx, admin, { id, eventId: 9 }, anywhere)).rejects.toMatchObject(missing)

  expect(await listWebhooks(ctx, stranger)).toEqual([])
  for (const use of [readWebhook, removeWebhook, rotateWebhook]) {
    await expect(use(ctx, stranger, id)).rejects.toMatchObject(missing)
  }
  await expect(testWebhook(ctx, stranger, id, anywhere)).rejects.toMatchObject(missing)
  await expect(addWebhook(ctx, stranger, { url, kb: 'handbook', kinds: [] }, anywhere)).rejects.toMatchObject(missing)
  await removeWebhook(ctx, admin, id)
  await expect(readWebhook(ctx, admin, id)).rejects.toMatchObject(missing)
})

test('of the deliveries of a webhook, the last hundred are kept', async () => {
  const { admin, ctx } = await administered()
  const { id } = await addWebhook(ctx, admin, { url: 'https://example.org', kinds: [] }, anywhere)
  for (let eventId = 1; eventId <= 105; eventId++) {
    const delivery = { eventId, kind: 'kb.pushed', at: new Date().toISOString(), status: 200, note: null, duration: 1 }
    await ctx.webhooks.noteDelivery(id, delivery)
  }
  const { deliveries } = await readWebhook(ctx, admin, id)
  expect([deliveries.length, deliveries[0]?.eventId, deliveries.at(-1)?.eventId]).toEqual([100, 105, 6])
  await ctx.webhooks.remove(id)
  await ctx.webhooks.noteDelivery(id, { eventId: 1, kind: 'x', at: '', status: 1, note: null, duration: 1 })
})

test.each([
  'http://127.0.0.1/x',
  'http://[::1]/x',
  'http://localhost:9/x',
  'http://10.0.0.1',
  'http://169.254.169.254/',
])('a webhook to %s is refused unless the operator lets it be', async (url) => {
  const { admin, ctx } = await administered()
  await expect(addWebhook(ctx, admin, { url, kinds: [] }, { allowPrivate: false })).rejects.toMatchObject({
    fieldErrors: { url: [expect.stringContaining('no public address')] },
  })
  expect(await listWebhooks(ctx, admin)).toEqual([])
})

test('health says what is known: sizes, the last backup, and what a verification found', async () => {
  const { admin, ctx, kbId, curator } = await administered()
  await addSource(ctx, { kbId, fileSize: 4_000 })
  await ctx.kb(curator.tenantId, 'handbook')
  const fresh = await healthReports(ctx).read(admin)
  expect(fresh).toMatchObject({
    ...{ version: expect.stringMatching(/^\d+\.\d+\.\d+/), problems: [], backedUpAt: undefined },
    ...{ sources: { count: 1, size: 4_000 }, shared: undefined, verification: undefined },
    kbs: [{ slug: 'handbook', repository: expect.any(Number), index: expect.any(Number) }],
  })
  expect(fresh.kbs[0]?.repository).toBeGreaterThan(1_000)

  const { manifest } = await backup(ctx, join(tempDir(), 'monday'), { version: '1.2.3' })
  expect(await healthReports(ctx).read(admin)).toMatchObject({ backedUpAt: manifest.createdAt })

  verifications(ctx).start(admin)
  verifications(ctx).start(admin)
  expect((await healthReports(ctx).read(admin)).verification).toMatchObject({ by: 'Ada' })
  await eventually(async () => {
    const { verification } = await healthReports(ctx).read(admin)
    expect(verification?.finishedAt).toBeDefined()
  })
  const { verification } = await healthReports(ctx).read(admin)
  // The Source's bytes were never there.
  expect(verification?.result).toMatchObject({ ok: false, kbs: [{ slug: 'handbook', problems: [{ kind: 'source' }] }] })
})

test('on a server of one tenant, the database and the disk are told too', async () => {
  const { ctx, curator } = await newTestBed()
  vi.spyOn(ctx.directory, 'freeRatio').mockResolvedValue(0.25)
  const { shared } = await healthReports(ctx).read(curator)
  expect(shared).toMatchObject({ freeDisk: 0.25, database: expect.any(Number) })
})
