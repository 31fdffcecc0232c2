import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Webhook as Verifier } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { tempDir } from '../../support/temp.ts'
import { dataWithTenants, ganglion, ganglionJson } from '../support.ts'

const secretShape = /^whsec_[A-Za-z0-9+/]{43}=$/

async function receiver(status: number) {
  const messages: { body: string; headers: Record<string, string> }[] = []
  const server = createServer(async (request, response) => {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    messages.push({ body: await text(request), headers: Object.fromEntries(headers) })
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, messages }
}

async function add(data: string, url: string, more: string[] = []): Promise<{ id: string; secret: string }> {
  const { json } = await ganglionJson(['webhook', 'add', url, '--tenant', 'acme', '--data', data, ...more], {
    GANGLION_WEBHOOK_PRIVATE: 'true',
  })
  return json as { id: string; secret: string }
}

test('a webhook is added, listed without its secret, and removed', async () => {
  const data = await dataWithTenants('acme')
  const url = 'https://hooks.example.org/kb?from=ganglion'
  const { id, secret } = await add(data, url, ['--kind', 'ingest.failed', '--kind', 'ingest.completed'])
  expect(secret).toMatch(secretShape)
  const listed = await ganglionJson(['webhook', 'list', '--data', data])
  expect(listed.json).toEqual({
    webhooks: [
      {
        ...{
          id,
          tenant: 'acme',
          kbId: null,
          kb: null,
          url,
          kinds: ['ingest.failed', 'ingest.completed'],
          isEnabled: true,
        },
        format: 'ganglion',
        ...{
          note: null,
          cursor: 0,
          failures: 0,
          failingSince: null,
          dueAt: null,
          lastEvent: 0,
          formerSecretUntil: null,
        },
        createdAt: expect.any(String),
      },
    ],
  })
  const { stdout } = await ganglion(['webhook', 'list', '--data', data, '--tenant', 'acme'])
  expect(stdout).toMatch(
    /^ID +TENANT +KB +STATE +TAKEN +KINDS +URL +NOTE\n\S{36} {2}acme +all +enabled +0 of 0 +ingest\.failed,/,
  )
  expect(await ganglionJson(['webhook', 'remove', id, '--data', data])).toEqual({
    code: 0,
    json: { id, removed: true },
  })
  expect(await ganglion(['webhook', 'list', '--data', data])).toMatchObject({ stdout: 'There are no webhooks.\n' })
  for (const verb of ['remove', 'replay', 'test']) {
    expect(await ganglionJson(['webhook', verb, id, '--data', data])).toEqual({
      ...{ code: 1, json: { error: `There is no webhook ${id}.` } },
    })
  }
})

test('for a person, the secret stands on a line of its own', async () => {
  const data = await dataWithTenants('acme')
  const { stdout } = await ganglion(['webhook', 'add', 'https://example.org', '--tenant', 'acme', '--data', data])
  expect(stdout.split('\n')[1]).toMatch(secretShape)
})

test('a test message is signed; private addresses are refused at once unless the operator lets them be', async () => {
  const data = await dataWithTenants('acme')
  const { url, messages } = await receiver(204)
  const adding = await ganglion(['webhook', 'add', url, '--tenant', 'acme', '--data', data])
  expect(adding).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no public address.*GANGLION_WEBHOOK_PRIVATE/),
  })
  const { id, secret } = await add(data, url)
  const note = '127.0.0.1 has no public address.'
  const refused = await ganglionJson(['webhook', 'test', id, '--data', data])
  expect(refused).toEqual({ code: 1, json: { id, status: null, taken: false, note } })
  const told = await ganglion(['webhook', 'test', id, '--data', data])
  expect(`${told.stdout}${told.stderr}`).toBe(`${note} GANGLION_WEBHOOK_PRIVATE=true allows it.\n`)
  expect(messages).toEqual([])
  const { code, stdout } = await ganglion(['webhook', 'test', id, '--data', data], { GANGLION_WEBHOOK_PRIVATE: 'true' })
  expect([code, stdout]).toEqual([0, 'The receiver accepted it: 204.\n'])
  const [{ body = '', headers = {} } = {}] = messages
  expect(new Verifier(secret).verify(body, headers)).toEqual({
    ...{ type: 'webhook.test', timestamp: expect.any(String), data: { id } },
  })
})

test('a receiver that refuses is exit code 1', async () => {
  const data = await dataWithTenants('acme')
  const { id } = await add(data, (await receiver(500)).url)
  const env = { GANGLION_WEBHOOK_PRIVATE: 'true' }
  expect(await ganglion(['webhook', 'test', id, '--data', data], env)).toMatchObject({
    ...{ code: 1, stdout: 'The receiver answered 500.\n' },
  })
})

test('a webhook of one knowledge base says so; replay begins where it is told, or where the receiver stands', async () => {
  const data = join(tempDir(), 'data')
  const instance = await openContext({ dataDir: data })
  const { id: kbId } = await createKnowledgeBase(instance, { tenant: 'acme', slug: 'handbook' })
  const tenantId = (await instance.tenants.find('acme'))?.id ?? ''
  const { last } = await instance.events.range(tenantId)
  const event = { kbId, kind: 'kb.pushed', isCuratorOnly: false, data: {} } as const
  await instance.events.append(tenantId, [event, event, event], new Date())
  await instance.close()
  const { id } = await add(data, 'https://example.org', ['--kb', 'handbook'])
  const listed = await ganglionJson(['webhook', 'list', '--data', data])
  expect(listed.json).toMatchObject({ webhooks: [{ id, kbId, kb: 'handbook' }] })
  const { stdout } = await ganglion(['webhook', 'list', '--data', data])
  expect(stdout).toMatch(/\n\S{36} {2}acme +handbook +enabled /)
  const replay = (...more: string[]) => ganglionJson(['webhook', 'replay', id, '--data', data, ...more])
  expect(await replay()).toEqual({ code: 0, json: { id, from: last + 4, events: 0 } })
  const from = { id, from: last + 2, events: 2 }
  expect(await replay('--from', String(last + 2))).toEqual({ code: 0, json: from })
  expect(await replay()).toEqual({ code: 0, json: from })
  expect(await replay('--from', String(last + 9))).toEqual({
    code: 1,
    json: { error: `The last event is ${last + 3}.` },
  })
})

test.each<[string, string[], string]>([
  ['another scheme', ['ftp://example.org'], '<url>: must be an http or https URL'],
  ['a password in the URL', ['https://user:secret@example.org'], '<url>: must be without user'],
  ['a kind that is none', ['https://example.org', '--kind', 'ingest'], '--kind: must be one of'],
])('%s is wrong usage', async (_, args, message) => {
  const data = await dataWithTenants('acme')
  const { code, stderr } = await ganglion(['webhook', 'add', ...args, '--tenant', 'acme', '--data', data])
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})

test('a knowledge base that is not there is refused', async () => {
  const data = await dataWithTenants('acme')
  const args = ['webhook', 'add', 'https://example.org', '--tenant', 'acme', '--kb', 'nothing', '--data', data]
  expect(await ganglionJson(args)).toEqual({ code: 1, json: { error: 'acme has no knowledge base nothing.' } })
})

test('a webhook of Slack gets a test in its own form; another form is an error', async () => {
  const data = await dataWithTenants('acme')
  const { url, messages } = await receiver(200)
  const { id } = await add(data, url, ['--format', 'slack'])
  const env = { GANGLION_WEBHOOK_PRIVATE: 'true' }
  expect((await ganglionJson(['webhook', 'test', id, '--data', data], env)).json).toMatchObject({ taken: true })
  expect(messages.map(({ body }) => JSON.parse(body).text)).toEqual(['A test from Ganglion.'])
  const args = ['webhook', 'add', url, '--tenant', 'acme', '--data', data, '--format', 'irc']
  expect((await ganglion(args)).stderr).toContain('format')
})
