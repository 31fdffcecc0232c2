import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Webhook as Verifier } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ganglionJson, serve } from '../cli/support.ts'
import { eventually } from '../support/eventually.ts'
import { listening } from '../support/listening.ts'
import { newEnvironment } from '../support/new-database.ts'
import { tempDir } from '../support/temp.ts'

const Message = z.object({ type: z.string(), timestamp: z.iso.datetime(), data: z.looseObject({ id: z.int() }) })
type Message = z.output<typeof Message>

/** A receiver that takes what the library finds signed, unless it is down. */
async function receiver() {
  const state = { secret: '', isDown: false }
  const messages: Message[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    try {
      if (state.isDown) throw new Error('down')
      messages.push(Message.parse(new Verifier(state.secret).verify(body, headers)))
      response.writeHead(204).end()
    } catch {
      response.writeHead(500).end()
    }
  })
  return { url: `${await listening(server)}/hook`, state, messages }
}

test('each event of an upload reaches the receiver, over failures, a killed server and a replay', async () => {
  const data = join(tempDir(), 'data')
  const env = { GANGLION_WEBHOOK_PRIVATE: 'true', ...(await newEnvironment()) }
  const { child, line } = await serve(data, env)
  const { kb = '', appToken = '' } = line
  const { url, state, messages } = await receiver()
  const added = await ganglionJson(['webhook', 'add', url, '--tenant', 'default', '--kb', kb, '--data', data], env)
  const { id, secret } = z.object({ id: z.string(), secret: z.string() }).parse(added.json)
  state.secret = secret
  const upload = async (base = '', name = '') => {
    const form = new FormData()
    form.append('file', new Blob([`# ${name}\n\nA note on ${name}.\n`]), `${name}.md`)
    const headers = { authorization: `Bearer ${appToken}` }
    const route = `${base}/api/v1/knowledge-bases/${kb}/documents/upload`
    const { status, ...answer } = await fetch(route, { method: 'POST', headers, body: form }).then(
      async (response) => ({
        ...((await response.json()) as { id: string }),
        status: response.status,
      }),
    )
    expect(status).toBe(201)
    return answer.id
  }
  const kindsOf = (documentId: string) =>
    messages
      .filter(
        ({ type, data }) =>
          data.documentId === documentId && type !== 'ingest.progress' && /^(ingest|source)/.test(type),
      )
      .map(({ type }) => type)
  const whole = ['source.uploaded', 'ingest.started', 'ingest.completed']

  const first = await upload(line.url, 'alpha')
  await eventually(() => expect(kindsOf(first)).toEqual(whole))

  state.isDown = true
  const second = await upload(line.url, 'beta')
  const listed = async () => {
    const { json } = await ganglionJson(['webhook', 'list', '--data', data], env)
    return z
      .object({ webhooks: z.array(z.looseObject({ failures: z.int(), note: z.string().nullable() })) })
      .parse(json)
  }
  await eventually(async () => expect((await listed()).webhooks[0]?.note).toBe('The receiver answered 500.'))
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
  state.isDown = false
  const again = await serve(data, env)
  await eventually(() => expect(kindsOf(second)).toEqual(whole))

  const ids = () => messages.map((message) => message.data.id)
  const told = [...new Set(ids())]
  expect(told).toEqual(told.toSorted((a, b) => a - b))
  const third = await upload(again.line.url, 'gamma')
  await eventually(() => expect(kindsOf(third)).toEqual(whole))

  messages.length = 0
  await ganglionJson(['webhook', 'replay', id, '--from', String(told[0]), '--data', data], env)
  await eventually(() => expect(ids()).toEqual(expect.arrayContaining(told)))
  expect(kindsOf(first)).toEqual(whole)
})
