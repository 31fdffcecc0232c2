import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { consoleRoutes } from '../../src/console/console.ts'
import { ganglionJson, serve } from '../cli/support.ts'
import { freePort } from '../support/free-port.ts'
import { mailServerOf } from '../support/mail-server.ts'
import { newEnvironment } from '../support/new-database.ts'
import { signIn } from '../support/person.ts'
import { tempDir } from '../support/temp.ts'
import { startProduct } from './support.ts'

test('a person says over the API how they are told; a key has no mails', async () => {
  const { ctx, tokens, request } = await startProduct({ pages: consoleRoutes })
  const { headers, userId } = await signIn(ctx, 'acme', 'reader')
  const change = (notices: string) => request('PATCH', '/api/v1/me', { headers, body: { notices } })
  expect((await request('GET', '/api/v1/me', { headers })).body.notices).toBe('at-once')
  expect(await change('digest')).toMatchObject({ status: 200, body: { notices: 'digest', role: 'reader' } })
  expect((await change('never')).status).toBe(400)
  expect((await ctx.users.get(userId))?.notices).toBe('digest')
  const asKey = { as: tokens.curator, body: { notices: 'off' } }
  expect(await request('PATCH', '/api/v1/me', asKey)).toMatchObject({
    status: 403,
    body: { error: 'insufficient_role' },
  })
  expect((await request('GET', '/api/v1/me', { as: tokens.curator })).body).not.toHaveProperty('notices')
})

test('a server mails what a comment says over TLS, and its link stops mails', async () => {
  const data = join(tempDir(), 'data')
  const { url, mails } = await mailServerOf(undefined, { disabledCommands: [], authOptional: false, logger: false })
  const { port } = new URL(url)
  const listensOn = await freePort()
  const address = `http://127.0.0.1:${listensOn}`
  const env = {
    ...(await newEnvironment()),
    ...{ GANGLION_PORT: String(listensOn), GANGLION_PUBLIC_URL: address },
    GANGLION_MAIL_FROM: 'kb@example.org',
    GANGLION_SMTP_URL: `smtp://kb:secret@127.0.0.1:${port}?tls.rejectUnauthorized=false`,
  }
  const { line } = await serve(data, env)
  const { kb = '', curatorToken = '' } = line
  const made = await ganglionJson(
    ['user', 'create', 'ada@example.com', '--tenant', 'default', '--role', 'curator', '--name', 'Ada', '--data', data],
    env,
  )
  expect(made.code).toBe(0)
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${curatorToken}`, 'content-type': 'application/json' }
    const answer = await fetch(`${address}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(answer.status).toBeLessThan(300)
    return z.looseObject({ candidateId: z.string() }).parse(await answer.json()).candidateId
  }
  const id = await post('/queue/candidates', { kb, kind: 'external-feed', title: 'Fees', content: 'None.' })
  const mention = () => post(`/queue/candidates/${id}/comment`, { comment: 'Is it so, @ada?' })
  await vi.waitFor(
    async () => {
      await mention()
      expect(mails.length).toBeGreaterThan(0)
    },
    { timeout: 100_000, interval: 3_000 },
  )
  const [mail] = mails
  expect(mail).toMatchObject({ to: ['ada@example.com'], isSecure: true, user: 'kb' })
  expect(mail?.text).toContain(`${address}/queue/${id}`)
  const stop = /^<(.*)>$/.exec(mail?.headers['list-unsubscribe'] ?? '')?.[1] ?? ''
  const stopped = await fetch(stop, {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  })
  expect(stopped.status).toBe(200)
})
