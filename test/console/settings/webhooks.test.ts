import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addSource } from '../../kb/support/ingest-support.ts'
import { listening } from '../../support/listening.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

let started: Console
let admin: Browser
beforeAll(async () => {
  started = await startConsole({ webhookPrivate: true })
  admin = await started.browser('admin')
})
afterAll(() => started.close())

const path = '/settings/webhooks'

async function added(url: string, fields: Record<string, string | string[]> = {}): Promise<string> {
  const answer = await admin.post(path, { url, ...fields })
  expect([answer.status, answer.headers['cache-control']]).toEqual([201, 'no-store'])
  expect(answer.document.getElementById('secret')?.getAttribute('value')).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const links = [...answer.document.querySelectorAll('tbody a')]
  return links.at(-1)?.getAttribute('href') ?? ''
}

/** Follows a form's redirect. */
async function sent(page: string, fields?: Record<string, string | string[]>) {
  const answer = await admin.post(page, fields)
  expect([page, answer.status]).toEqual([page, 303])
  return admin.get(String(answer.headers.location))
}

test('a webhook is added, tested, sent to again, stopped and removed', async () => {
  const taken: unknown[] = []
  const origin = await listening(
    createServer((request, response) => {
      taken.push(request.headers['webhook-id'])
      response.writeHead(taken.length === 2 ? 500 : 204).end()
    }),
  )
  await addSource(started.ctx, { kbId: started.kbId })
  const hook = await added(`${origin}/hook?a="'<b>`, { kb: 'handbook', kinds: ['ingest.failed', 'source.uploaded'] })
  const tested = await sent(`${hook}/test`)
  expect(tested.texts('.notice')[0]).toContain('Sent.')
  expect(tested.texts('tbody tr')[0]).toMatch(/webhook\.test ?taken 204/)
  await sent(`${hook}/resend`, { event: '1' })
  const shown = await admin.get(hook)
  expect(shown.texts('tbody tr')[0]).toMatch(/source\.uploaded \(1\) ?not taken 500 The receiver answered 500\./)
  expect(shown.body).not.toContain('whsec_')
  expect(shown.document.querySelector('main b')).toBeNull()
  expect(shown.texts('[name=kinds][checked] + label')).toEqual(['source.uploaded', 'ingest.failed'])
  expect((await sent(`${hook}/kinds`)).texts('[name=kinds][checked]')).toEqual([])
  expect((await sent(`${hook}/pause`)).texts('.report .badge')).toEqual(['stopped'])
  expect((await sent(`${hook}/replay`)).texts('.report .badge')).toEqual(['on'])
  expect((await sent(`${hook}/replay`, { from: '1' })).texts('.notice')[0]).toContain('sent again')
  for (const from of ['7', 'x', '']) {
    const refused = await admin.post(`${hook}/replay`, { from })
    expect([refused.status, refused.document.querySelector('[name=from]')?.getAttribute('value')]).toEqual([400, from])
    expect(refused.document.getElementById('field-from-error')?.textContent).not.toBe('')
  }
  const gone = await admin.post(`${hook}/resend`, { event: '99' })
  expect([gone.status, ...gone.texts('.problems')]).toEqual([409, 'Event 99 is no longer kept.'])
  expect((await sent(`${hook}/remove`)).texts('.notice, .empty')).toEqual([
    'The webhook is removed.',
    'There are no webhooks yet.',
  ])
  expect((await admin.get(hook)).status).toBe(404)
  expect(new Set(taken)).toHaveLength(2)
})

test.each([
  [{ url: 'ftp://example.org' }, 'url'],
  [{ url: 'https://user:secret@example.org' }, 'url'],
  [{ url: `https://example.org/${'x'.repeat(2000)}` }, 'url'],
  [{ url: 'javascript:alert(1)' }, 'url'],
  [{ url: 'https://example.org', kb: 'nowhere' }, 'kb'],
  [{ url: 'https://example.org', kinds: 'made.up' }, 'kinds'],
])('%o is refused, and what was typed is kept', async (typed, field) => {
  const answer = await admin.post(path, typed as Record<string, string>)
  expect(answer.status).toBe(400)
  expect(answer.texts(`.problems [href="#field-${field}"]`)).toEqual([
    expect.stringMatching(/^The [a-z ]+ (?:must|is) .*\.$/),
  ])
  expect(answer.document.querySelector('[name=url]')?.getAttribute('value')).toBe(typed.url)
})

test('an address of the own network is refused where the operator does not let it be', async () => {
  const strict = await startConsole()
  try {
    const answer = await (await strict.browser('admin')).post(path, { url: 'http://127.0.0.1:9/x' })
    expect([answer.status, answer.texts('#field-url-error')]).toEqual([
      400,
      ['127.0.0.1 has no public address: the server sends there only with GANGLION_WEBHOOK_PRIVATE=true.'],
    ])
  } finally {
    await strict.close()
  }
})

test('webhooks are for administrators of their tenant', async () => {
  const hook = await added('https://example.org/hook')
  const curator = await started.browser('curator')
  const stranger = await started.browser('admin', { tenant: 'umbrella', email: 'eve@example.com' })
  expect((await curator.get(path)).status).toBe(403)
  expect((await stranger.get(path)).texts('.empty')).toEqual(['There are no webhooks yet.'])
  for (const action of ['', '/test', '/pause', '/replay', '/kinds', '/remove']) {
    const [theirs, ours] = [stranger, curator].map((browser) =>
      action === '' ? browser.get(hook) : browser.post(`${hook}${action}`),
    )
    expect([action, (await theirs)?.status, (await ours)?.status]).toEqual([action, 404, 403])
  }
})
