import { expect, onTestFinished, test } from 'vitest'
import { answerWithPage, guardPages } from '../../src/console/guard.ts'
import { html } from '../../src/console/layout/html-template.ts'
import { page } from '../../src/console/layout/page.ts'
import { send, visitOf } from '../../src/console/layout/page-routes.ts'
import { ValidationError } from '../../src/contract/errors.ts'
import type { PagesContext } from '../../src/http/server.ts'
import type { ZodFastify } from '../../src/http/zod-compilers.ts'
import { startConsole, visit } from './support.ts'

const accept = { accept: 'text/html' }
const noPage = { error: 'not_found', message: 'There is nothing here.' }

/** The guard around three pages of no room. */
async function guarded(app: ZodFastify, context: PagesContext): Promise<void> {
  app.setErrorHandler(answerWithPage)
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
  )
  guardPages(app, context)
  app.get('/place', async (request, reply) =>
    send(reply, page(visitOf(request), { title: 'Place', main: html`<h1>Place</h1>` })),
  )
  app.get('/office', { config: { people: 'admin' } }, async (_, reply) => send(reply, html`<h1>Office</h1>`))
  app.post('/place', async (request) => {
    if (Object(request.body).title === '') throw new ValidationError({ title: ['must not be empty'] })
    return 'written'
  })
}

async function start(...options: Parameters<typeof startConsole>) {
  const started = await startConsole(...options)
  onTestFinished(started.close)
  return started
}

test('what is not there is a page for people, and an envelope for programs', async () => {
  const { app, browser } = await start()
  const page = await visit(app, { method: 'GET', url: '/nonsense', headers: accept })
  expect([page.status, ...page.texts('h1')]).toEqual([404, 'There is nothing here'])
  const framed = await (await browser('reader')).get('/nonsense')
  expect([framed.status, ...framed.texts('.account bdi')]).toEqual([404, 'Some reader'])
  expect([framed.headers['cache-control'], framed.headers['referrer-policy']]).toEqual(['no-store', 'same-origin'])
  for (const headers of [
    {},
    { accept: '*/*' },
    { accept: 'text/html, application/json' },
    { accept: 'text/html;q=0' },
  ]) {
    const forPrograms = await visit(app, { method: 'GET', url: '/nonsense', headers })
    expect(JSON.parse(forPrograms.body)).toEqual(noPage)
  }
})

test('who has not signed in is led to the sign-in page, and back', async () => {
  const { app } = await start({ pages: guarded })
  const asked = await visit(app, { method: 'GET', url: '/place?a=1&b=2', headers: accept })
  expect([asked.status, asked.headers.location]).toEqual([302, '/sign-in?next=%2Fplace%3Fa%3D1%26b%3D2'])
  const headers = { ...accept, 'hx-request': 'true', 'hx-current-url': 'http://localhost/place?x=1' }
  const fragment = await visit(app, { method: 'GET', url: '/place', headers })
  expect([fragment.status, fragment.headers['hx-redirect']]).toEqual([401, '/sign-in?next=%2Fplace%3Fx%3D1'])
  const sent = await visit(app, { method: 'POST', url: '/place', headers: accept })
  expect([sent.status, ...sent.texts('p')]).toContain('You were signed out. Sign in, go back, and send it again.')
})

test('a role that is too low sees that, and a higher one has the rights of the lower', async () => {
  const { browser } = await start({ pages: guarded })
  const [curator, admin] = [await browser('curator'), await browser('admin')]
  const refused = await curator.get('/office')
  expect([refused.status, ...refused.texts('h1')]).toEqual([403, 'You may not do that'])
  expect((await admin.get('/office')).texts('h1')).toEqual(['Office'])
  expect((await admin.get('/place')).texts('h1')).toEqual(['Place'])
})

test.each([
  ['a page of ours', {}, {}, 200],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }, {}, 403],
  ['another host of the same domain', { 'sec-fetch-site': 'same-site' }, {}, 403],
  ['a page that says another origin', { origin: 'http://evil.example' }, {}, 403],
  ['a sandboxed page', { origin: 'null' }, {}, 403],
  ['a form without a token', {}, { _csrf: '' }, 403],
  ['a form with a made-up token', {}, { _csrf: 'abcdefgh-0123456789' }, 403],
  ['a form with a field that is refused', {}, { title: '' }, 400],
])('a form that %s sends is answered by where it comes from', async (_, headers, fields, status) => {
  const { browser } = await start({ pages: guarded })
  const answer = await (await browser('reader')).post('/place', fields, headers)
  expect(answer.status).toBe(status)
  if (status === 400) expect(answer.texts('main p')).toContain('The title must not be empty.')
})

test('a form with the token of another person is refused', async () => {
  const { browser } = await start({ pages: guarded })
  const other = await browser('curator')
  const token = String(other.headers['x-csrf-token'])
  expect((await (await browser('reader')).post('/place', { _csrf: token })).status).toBe(403)
})
