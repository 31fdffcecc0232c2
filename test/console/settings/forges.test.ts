import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OfferedCredential } from '../../../src/forge/bridge/offered-credentials.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { tempDir } from '../../support/temp.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

const page = '/settings/forges'
const nowhere = 'http://127.0.0.1:9/acme/'
const noCredential = { kind: 'gitlab', apiUrl: undefined, webhookSecret: undefined } as const

let started: Console
let admin: Browser
/** What the operator offers; each test may add to it. */
const offered: OfferedCredential[] = []

beforeAll(async () => {
  started = await startConsole({ forgeCredentials: offered, publicUrl: 'http://kb.example.org' })
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
  // Nothing is offered yet.
  expect([shown.document.querySelector('[name=url]'), shown.body.includes('GANGLION_FORGE_CREDENTIALS')]).toEqual([
    null,
    true,
  ])
  const id = await linkHere()
  const row = async () => (await admin.get(page)).texts('tbody tr')[0]
  expect(await row()).toMatch(/https:\/\/github\.com\/acme\/handbook *0 of 50 *never *well, looked at once a minute/)
  const note = 'The forge does not take main: <b>protected</b>'
  await ctx.forgeLinks.note(id, { note, failingSince: '2026-01-02T03:04:05.000Z', failures: 3 })
  const failing = await admin.get(page)
  expect(failing.texts('tbody tr')[0]).toContain(note)
  expect(failing.texts('tbody tr')[0]).toContain('fails since')
  expect(failing.document.querySelector('main td b')).toBeNull()
  expect(failing.body).not.toContain('FORGE_TOKEN')
  const curator = await browser('curator')
  const answers = [await curator.get(page), await curator.post(page), await curator.post(`${page}/handbook/unlink`)]
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
  const stranger = await browser('admin', { tenant: 'umbrella', email: 'eve@example.com' })
  expect((await stranger.get(page)).texts('tbody tr')).toEqual([])
  expect((await stranger.post(`${page}/handbook/unlink`)).status).toBe(404)
  expect(await ctx.forgeLinks.find(id)).toBeDefined()
  expect((await admin.post(`${page}/handbook/unlink`, { _csrf: '' })).status).toBe(403)
  expect((await admin.post(`${page}/handbook/unlink`)).headers.location).toBe(`${page}?done=unlinked`)
  expect((await admin.post(`${page}/handbook/unlink`)).status).toBe(404)
  expect(await ctx.forgeLinks.list()).toEqual([])
})

test('an administrator links with what the operator offers, and unlinks', async () => {
  const { ctx, kbId, tenantId } = started
  const forge = await startGitlab()
  const [token, hook] = [join(tempDir(), 'token'), join(tempDir(), 'hook')]
  writeFileSync(token, forge.token.token)
  writeFileSync(hook, 'hush')
  const repositories = forge.url.replace(/handbook$/, '')
  const secrets = { credential: { token: `file:${token}` }, webhookSecret: `file:${hook}` }
  offered.push({ ...noCredential, ...secrets, name: 'Docs <team>', tenant: 'acme', repositories })
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'other' })

  const empty = await admin.get(page)
  expect(empty.texts('[name=credential] option')).toEqual([`Docs <team>, for ${repositories}`])
  const typed = { kb: 'handbook', credential: 'Docs <team>', url: ` ${forge.url}.git/ `, maxOpen: '7' }
  expect((await admin.post(page, { ...typed, _csrf: 'made up' })).status).toBe(403)
  const answer = await admin.post(page, typed)
  expect([answer.status, answer.headers.location]).toEqual([303, `${page}?done=linked`])
  const [link] = await ctx.forgeLinks.list()
  expect(link).toMatchObject({ kbId, kind: 'gitlab', url: forge.url, maxOpen: 7, ...secrets })
  const linked = await admin.get(String(answer.headers.location))
  expect(linked.texts('.notice')[0]).toContain('Linked.')
  expect(linked.texts('.hint')[0]).toContain(`http://kb.example.org/forge/${link?.id}/events`)
  expect(linked.texts('[name=kb] option')).toEqual(['other'])
  for (const secret of [token, hook, forge.token.token, 'hush']) expect(linked.body).not.toContain(secret)

  const again = await admin.post(page, typed)
  expect([again.status, again.texts('#field-kb-error')]).toEqual([
    400,
    ['handbook is linked already: unlink it first.'],
  ])
  await admin.post(`${page}/handbook/unlink`)
  expect(await ctx.forgeLinks.list()).toEqual([])
  const acts = await ctx.audit.list(tenantId, { limit: 3 })
  expect(acts.map(({ action }) => action)).toEqual(expect.arrayContaining(['forge.unlinked', 'forge.linked']))
})

test('what went wrong stands beside its field, and what was typed is kept', async () => {
  const forge = await startGitlab()
  const origin = new URL(forge.url).origin
  const token = join(tempDir(), 'token')
  writeFileSync(token, 'not the token')
  const offer = { ...noCredential, tenant: 'acme', repositories: `${origin}/acme/docs/` }
  offered.push(
    { ...offer, name: 'wrong', credential: { token: `file:${token}` } },
    { ...offer, name: 'missing', credential: { token: 'file:/nowhere/token' } },
    { ...offer, name: 'down', repositories: nowhere, credential: { token: `file:${token}` } },
  )
  const refused = async (credential: string, url: string, field: string) => {
    const answer = await admin.post(page, { kb: 'handbook', credential, url, maxOpen: '50' })
    expect([answer.status, answer.document.querySelector('[name=url]')?.getAttribute('value')]).toEqual([400, url])
    expect(answer.texts('[name=credential] [selected]')[0]).toMatch(`${credential},`)
    return answer.texts(`#field-${field}-error`)[0]
  }
  expect(await refused('wrong', forge.url, 'credential')).toContain('401')
  expect(await refused('missing', forge.url, 'credential')).toBe('has no secret on the server: ask its operator')
  expect(await refused('down', `${nowhere}docs`, 'url')).toContain('127.0.0.1:9 cannot be reached')
  expect(await started.ctx.forgeLinks.list()).toEqual([])
})

test.each([
  ['another host', { url: 'https://evil.example.org/acme/handbook' }, 'url'],
  ['another owner', { url: 'https://git.example.org/umbrella/handbook' }, 'url'],
  ['a path that leads out', { url: 'https://git.example.org/acme/../umbrella/handbook' }, 'url'],
  ['one that does so when it is decoded', { url: 'https://git.example.org/acme/%2e%2e%2fumbrella/handbook' }, 'url'],
  ['a folder of dots', { url: 'https://git.example.org/acme/.../handbook' }, 'url'],
  ['a prefix of the owner', { url: 'https://git.example.org/acme-evil/handbook' }, 'url'],
  ['the owner alone', { url: 'https://git.example.org/acme/' }, 'url'],
  ['a name before the host', { url: 'https://git.example.org@evil.example.org/acme/handbook' }, 'url'],
  ['a password', { url: 'https://a:b@git.example.org/acme/handbook' }, 'url'],
  ['a query', { url: 'https://git.example.org/acme/handbook?x=1' }, 'url'],
  ['another port', { url: 'https://git.example.org:8443/acme/handbook' }, 'url'],
  ['plain HTTP', { url: 'http://git.example.org/acme/handbook' }, 'url'],
  ['no address', { url: 'handbook' }, 'url'],
  ['a file', { url: 'file:///etc/passwd' }, 'url'],
  ["another tenant's credential", { credential: 'theirs' }, 'credential'],
  ['a variable of the environment', { credential: 'env:HOME' }, 'credential'],
  ['a file as a credential', { credential: 'file:/etc/passwd' }, 'credential'],
  ['no credential', { credential: '' }, 'credential'],
  ['too many', { maxOpen: '1001' }, 'maxOpen'],
  ['none', { maxOpen: '0' }, 'maxOpen'],
  ['no number', { maxOpen: '' }, 'maxOpen'],
])('%s is refused, and nothing is sent there', async (_, typed, field) => {
  const secret = { token: 'file:/nowhere/token' }
  const offer = { ...noCredential, credential: secret, repositories: 'https://git.example.org/acme/' }
  offered.splice(
    0,
    Infinity,
    { ...offer, name: 'ours', tenant: 'acme' },
    { ...offer, name: 'theirs', tenant: 'umbrella' },
  )
  const url = 'https://git.example.org/acme/handbook'
  const answer = await admin.post(page, { kb: 'handbook', credential: 'ours', url, maxOpen: '50', ...typed })
  // A secret that is not there is found out first, if anything is to be sent.
  expect([answer.status, answer.texts('.field .error').length]).toEqual([400, 1])
  expect(answer.texts(`#field-${field}-error`)[0]).not.toContain('no secret')
  expect(answer.body).not.toContain('theirs, for')
})
