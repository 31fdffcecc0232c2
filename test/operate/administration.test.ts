import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { settingsServicesOf } from '../../src/cli/settings-services.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { backup } from '../../src/operate/backup/backup.ts'
import { Health } from '../../src/operate/health.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { newTestBed } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'
import { listening } from '../support/listening.ts'
import { tempDir } from '../support/temp.ts'

const noForges = { forgeCredentials: [] }

async function administered({ webhookPrivate = true } = {}) {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const health = new Health(ctx)
  const services = settingsServicesOf(ctx, { ...noForges, health, webhookPrivate, freeDiskRatio: async () => 0.5 })
  const admin = { ...curator, name: 'Ada' }
  await createKnowledgeBase(ctx, { tenant: 'umbrella', slug: 'theirs' })
  const stranger = { ...admin, tenantId: (await ctx.tenants.find('umbrella'))?.id ?? '' }
  return { ...bed, services, admin, stranger }
}

const newKey = { name: 'website', role: 'app' as const, connectors: ['site-chat'], expiresAt: null }
const missing = { code: 'not_found' }

test('a key works until it is revoked, says who made it, and is nothing to another tenant', async () => {
  const { services, admin, stranger, ctx } = await administered()
  const { key, token } = await services.createApiKey(admin, newKey)
  expect(key).toMatchObject({ name: 'website', createdBy: 'Ada', revokedAt: null })
  expect(JSON.stringify(await services.listApiKeys(admin, {}))).not.toContain(token)
  expect(await services.listApiKeys(stranger, {})).toEqual({ keys: [], next: null })
  await expect(services.revokeApiKey(stranger, key.id)).rejects.toMatchObject(missing)
  expect(await ctx.apiKeys.authenticate(token, new Date())).toMatchObject({ id: key.id })
  await services.revokeApiKey(admin, key.id)
  const acts = await ctx.audit.list(admin.tenantId, { before: undefined, limit: 10 })
  expect(acts.map(({ action, subject }) => [action, subject])).toEqual([
    ['key.revoked', 'website'],
    ['key.created', 'website'],
  ])
  expect(await ctx.apiKeys.authenticate(token, new Date())).toBeUndefined()
})

test('keys are listed newest first, page by page', async () => {
  const { services, admin } = await administered()
  for (let number = 0; number < 53; number++) await services.createApiKey(admin, { ...newKey, name: `k${number}` })
  const first = await services.listApiKeys(admin, {})
  expect([first.keys[0]?.name, first.keys.length]).toEqual(['k52', 50])
  const second = await services.listApiKeys(admin, { before: first.next ?? '' })
  expect([second.keys.map(({ name }) => name), second.next]).toEqual([['k2', 'k1', 'k0'], null])
})

test('a webhook is tested, paused, replayed and removed; its deliveries are kept, its secret is not shown again', async () => {
  const { services, admin, stranger, ctx, kbId } = await administered()
  const statuses = [204, 500, 200]
  const url = await listening(createServer((_, response) => void response.writeHead(statuses.shift() ?? 200).end()))
  const { id, secret } = await services.addWebhook(admin, { url: `${url}/hook`, kb: 'handbook', kinds: [] })
  expect(await services.testWebhook(admin, id)).toMatchObject({ eventId: null, status: 204, note: null })
  await addSource(ctx, { kbId })
  const sent = await services.resendEvent(admin, { id, eventId: 1 })
  expect(sent).toMatchObject({ eventId: 1, kind: 'source.uploaded', status: 500, note: 'The receiver answered 500.' })
  await services.setWebhookKinds(admin, id, ['ingest.failed'])
  await services.pauseWebhook(admin, id)
  const shown = await services.readWebhook(admin, id)
  expect(shown).toMatchObject({
    webhook: { kb: 'handbook', kinds: ['ingest.failed'], isEnabled: false, note: 'Paused by Ada.', lastEvent: 1 },
    deliveries: [{ status: 500 }, { status: 204 }],
  })
  expect(JSON.stringify([shown, await services.listWebhooks(admin)])).not.toContain(secret)
  expect(await services.replayWebhook(admin, id, {})).toEqual({ from: 1, events: 1 })
  expect((await services.listWebhooks(admin))[0]).toMatchObject({ isEnabled: true, note: null })
  await expect(services.replayWebhook(admin, id, { from: 9 })).rejects.toMatchObject({
    fieldErrors: { from: ['The last event is 1.'] },
  })
  await expect(services.resendEvent(admin, { id, eventId: 9 })).rejects.toMatchObject(missing)

  expect(await services.listWebhooks(stranger)).toEqual([])
  for (const use of [services.readWebhook, services.removeWebhook, services.pauseWebhook, services.testWebhook]) {
    await expect(use(stranger, id)).rejects.toMatchObject(missing)
  }
  await expect(services.addWebhook(stranger, { url, kb: 'handbook', kinds: [] })).rejects.toMatchObject(missing)
  await services.removeWebhook(admin, id)
  await expect(services.readWebhook(admin, id)).rejects.toMatchObject(missing)
})

test('of the deliveries of a webhook, the last hundred are kept', async () => {
  const { services, admin, ctx } = await administered()
  const { id } = await services.addWebhook(admin, { url: 'https://example.org', kinds: [] })
  for (let eventId = 1; eventId <= 105; eventId++) {
    const delivery = { eventId, kind: 'kb.pushed', at: new Date().toISOString(), status: 200, note: null, duration: 1 }
    await ctx.webhooks.noteDelivery(id, delivery)
  }
  const { deliveries } = await services.readWebhook(admin, id)
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
  const { services, admin } = await administered({ webhookPrivate: false })
  await expect(services.addWebhook(admin, { url, kinds: [] })).rejects.toMatchObject({
    fieldErrors: { url: [expect.stringContaining('no public address')] },
  })
  expect(await services.listWebhooks(admin)).toEqual([])
})

test('health says what is known: sizes, the last backup, and what a verification found', {
  timeout: 60_000,
}, async () => {
  const { services, admin, ctx, kbId, curator } = await administered()
  await addSource(ctx, { kbId, fileSize: 4_000 })
  await ctx.kb(curator.tenantId, 'handbook')
  const fresh = await services.readHealth(admin)
  expect(fresh).toMatchObject({
    ...{ version: expect.stringMatching(/^\d+\.\d+\.\d+/), problems: [], backedUpAt: undefined },
    ...{ sources: { count: 1, size: 4_000 }, shared: undefined, verification: undefined },
    kbs: [{ slug: 'handbook', repository: expect.any(Number), index: expect.any(Number) }],
  })
  expect(fresh.kbs[0]?.repository).toBeGreaterThan(1_000)

  const { manifest } = await backup(ctx, join(tempDir(), 'monday'), { version: '1.2.3' })
  expect(await services.readHealth(admin)).toMatchObject({ backedUpAt: manifest.createdAt })

  await services.startVerification(admin)
  await services.startVerification(admin)
  expect((await services.readHealth(admin)).verification).toMatchObject({ by: 'Ada' })
  await eventually(async () => {
    const { verification } = await services.readHealth(admin)
    expect(verification?.finishedAt).toBeDefined()
  })
  const { verification } = await services.readHealth(admin)
  // The Source's bytes were never there.
  expect(verification?.result).toMatchObject({ ok: false, kbs: [{ slug: 'handbook', problems: [{ kind: 'source' }] }] })
})

test('on a server of one tenant, the database and the disk are told too', async () => {
  const { ctx, curator } = await newTestBed()
  const parts = { ...noForges, health: new Health(ctx), webhookPrivate: false, freeDiskRatio: async () => 0.25 }
  const { shared } = await settingsServicesOf(ctx, parts).readHealth(curator)
  expect(shared).toMatchObject({ freeDisk: 0.25, database: expect.any(Number) })
})
