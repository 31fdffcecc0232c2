import { afterAll, beforeAll, expect, test } from 'vitest'
import { publicWarning } from '../../../src/forge/bridge/manage-links.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

const page = '/settings/forges'

let started: Console
let admin: Browser

beforeAll(async () => {
  started = await startConsole()
  admin = await started.browser('admin')
})
afterAll(() => started.close())

async function linkHere() {
  const { ctx, tenantId, kbId } = started
  const link = await ctx.forgeLinks.create(
    {
      ...{ tenantId, kbId, kind: 'github', url: 'https://github.com/acme/handbook', apiUrl: null },
      ...{ credential: { token: 'env:FORGE_TOKEN' }, webhookSecret: null, maxOpen: 50 },
    },
    new Date(),
  )
  return link?.id ?? ''
}

test('the page of forges shows each link of the tenant and how it stands, to administrators only', async () => {
  const { ctx, browser } = started
  const shown = await admin.get(page)
  expect(shown.texts('.empty')).toEqual(['No knowledge base is linked.'])
  const id = await linkHere()
  const row = async () => (await admin.get(page)).texts('tbody tr')[0]
  expect(await row()).toMatch(/https:\/\/github\.com\/acme\/handbook *0 of 50 *never *well, looked at once a minute/)
  expect((await admin.get(page)).texts('main .warning')).toEqual([])
  await ctx.forgeLinks.note(id, { isPublic: 1 })
  expect((await admin.get(page)).texts('main .warning')).toEqual([`handbook: ${publicWarning}`])
  const note = 'The forge does not take main: <b>protected</b>'
  await ctx.forgeLinks.note(id, { note, failingSince: '2026-01-02T03:04:05.000Z', failures: 3 })
  const failing = await admin.get(page)
  expect(failing.texts('tbody tr')[0]).toContain(note)
  expect(failing.texts('tbody tr')[0]).toContain('fails since')
  expect(failing.document.querySelector('main td b')).toBeNull()
  expect(failing.body).not.toContain('FORGE_TOKEN')
  const curator = await browser('curator')
  const answers = [await curator.get(page), await curator.post(`${page}/handbook/unlink`)]
  expect(answers.map(({ status }) => status)).toEqual([403, 403])
  const stranger = await browser('admin', { tenant: 'umbrella', email: 'eve@example.com' })
  expect((await stranger.get(page)).texts('tbody tr')).toEqual([])
  expect((await stranger.post(`${page}/handbook/unlink`)).status).toBe(404)
  expect(await ctx.forgeLinks.find(id)).toBeDefined()
  expect((await admin.post(`${page}/handbook/unlink`, { _csrf: '' })).status).toBe(403)
  expect((await admin.post(`${page}/handbook/unlink`)).headers.location).toBe(`${page}?done=unlinked`)
  expect((await admin.post(`${page}/handbook/unlink`)).status).toBe(404)
  expect(await ctx.forgeLinks.list()).toEqual([])
})
