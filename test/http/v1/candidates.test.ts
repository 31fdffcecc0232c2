import { describe, expect, test } from 'vitest'
import { oneLine } from '../../../src/rules/text/lines.ts'
import { anyCharacter, fc, runs } from '../../support/properties.ts'
import { seqId, type TestServer, testServer } from '../support/test-server.ts'

const candidate = {
  knowledgeBaseId: 'handbook',
  kind: 'external-feed',
  title: 'VIP escalation',
  content: 'Page the lead.\n',
}

function submit({ request }: TestServer, changes: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  return request('POST', '/api/v1/queue/candidates', { as: 'app', body: { ...candidate, ...changes }, headers })
}

async function submitted(server: TestServer, ...more: [Record<string, unknown>?]): Promise<string> {
  const { json } = await submit(server, ...more)
  return String(Object(json).candidateId)
}

/** Submits a candidate, and returns it as recorded. */
async function kept(server: TestServer, ...more: [Record<string, unknown>?]): Promise<unknown> {
  const path = `/api/v1/queue/candidates/${await submitted(server, ...more)}`
  return (await server.request('GET', path, { as: 'curator' })).json
}

describe('submitting a candidate', () => {
  test('is answered with its id, status, knowledge base and place in the queue', async () => {
    const server = await testServer()
    const { status, json } = await submit(server)
    expect(status).toBe(201)
    expect(json).toMatchObject({
      status: 'pending',
      kbId: expect.any(String),
      queueUrl: expect.stringMatching(/^\/queue\//),
    })
  })

  test('keeps every field, and null for what is left out', async () => {
    const server = await testServer()
    const { knowledgeBaseId: _, ...rest } = candidate
    const whole = { metadata: '{"connector":"api"}', confidence: 0.8, impactEstimate: 3 }
    expect(await kept(server, whole)).toMatchObject({ ...rest, ...whole })
    const nothing = { metadata: null, confidence: null, impactEstimate: null }
    expect(await kept(server)).toMatchObject({ ...rest, ...nothing })
  })

  test('takes kb for knowledgeBaseId, and metadata as an object', async () => {
    const server = await testServer()
    const body = { knowledgeBaseId: undefined, kb: 'handbook', metadata: { tags: ['a'] } }
    expect(await kept(server, body)).toMatchObject({ metadata: '{"tags":["a"]}' })
  })

  test.each(['chat', 'lint-finding', 'user-correction'])('takes the kind %s', async (kind) => {
    expect((await submit(await testServer(), { kind })).status).toBe(201)
  })

  test('ignores what a candidate may not decide about itself', async () => {
    const server = await testServer()
    const detail = await kept(server, { status: 'approved', seqId: 'handbook_00000001', zone: 'green' })
    expect(detail).toMatchObject({ status: 'pending', zone: Object(await kept(server)).zone })
    expect(detail).not.toHaveProperty('seqId')
  })

  test.each<[string, Record<string, unknown>]>([
    ['title', { title: 42 }],
    ['title', { title: false }],
    ['title', { title: ['x'] }],
    ['title', { title: '' }],
    ['title', { title: undefined }],
    ['title', { title: 'x'.repeat(501) }],
    ['title', { title: 'a\0b' }],
    ['title', { title: 'a\ud800b' }],
    ['content', { content: '' }],
    ['content', { content: null }],
    ['content', { content: 'a\0b' }],
    ['content', { content: 'a\udc00b' }],
    ['content', { content: 'é'.repeat(256 * 1024 + 1) }],
    ['kind', { kind: 'Chat' }],
    ['confidence', { confidence: '0.9' }],
    ['confidence', { confidence: true }],
    ['confidence', { confidence: 1.01 }],
    ['confidence', { confidence: -0.01 }],
    ['impactEstimate', { impactEstimate: 0 }],
    ['impactEstimate', { impactEstimate: 1.5 }],
    ['impactEstimate', { impactEstimate: '1' }],
    ['metadata', { metadata: 5 }],
    ['metadata', { metadata: ['a'] }],
    ['knowledgeBaseId', { knowledgeBaseId: 7 }],
    ['knowledgeBaseId', { knowledgeBaseId: undefined, title: 7 }],
  ])('names the field %s that breaks its rule: %o', async (field, changes) => {
    const server = await testServer()
    const { status, json } = await submit(server, changes)
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: { formErrors: [], fieldErrors: { [field]: [expect.any(String)] } } })
    expect(server.acts).toEqual([])
  })

  test('counts characters of a title, not UTF-16 units', async () => {
    const server = await testServer()
    expect((await submit(server, { title: '🐘'.repeat(500) })).status).toBe(201)
    expect((await submit(server, { title: '🐘'.repeat(501) })).status).toBe(400)
  })

  test('counts bytes of the content: 512 KB fit', async () => {
    expect((await submit(await testServer(), { content: 'é'.repeat(256 * 1024) })).status).toBe(201)
  })

  test('any content of whole characters passes unchanged but for its line ends, and any title of one line', async () => {
    const server = await testServer()
    const text = (maxLength: number) =>
      fc
        .string({ unit: anyCharacter, minLength: 1, maxLength })
        .filter((text) => text.isWellFormed() && !text.includes('\0'))
    const isLine = (title: string) => title !== '' && oneLine(title, 500) === title
    await fc.assert(
      fc.asyncProperty(text(100).filter(isLine), text(300), async (title, content) => {
        // Answers have LF alone, whatever a text has.
        expect(await kept(server, { title, content })).toMatchObject({
          title,
          content: content.replace(/\r\n?/g, '\n'),
        })
      }),
      { numRuns: runs(50, 15) },
    )
  })

  test('of an unknown knowledge base is not found', async () => {
    expect((await submit(await testServer(), { knowledgeBaseId: 'nowhere' })).status).toBe(404)
  })

  test.each(['', 'a b', 'é', 'x'.repeat(256)])('refuses the idempotency key %j', async (key) => {
    const { status, json } = await submit(await testServer(), {}, { 'idempotency-key': key })
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: { fieldErrors: { 'idempotency-key': [expect.any(String)] } } })
  })
})

describe('deciding on a candidate', () => {
  const id = '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70'

  test.each<[string, { body?: unknown; headers?: Record<string, string> }]>([
    ['no body', {}],
    ['an empty object', { body: {} }],
    ['an empty body said to be JSON', { body: '', headers: { 'content-type': 'application/json' } }],
    ['an empty body said to be text', { body: '', headers: { 'content-type': 'text/plain', 'content-length': '0' } }],
  ])('approves it with %s', async (_, request) => {
    const server = await testServer()
    const candidateId = await submitted(server)
    const { status, json } = await server.request('POST', `/api/v1/queue/candidates/${candidateId}/approve`, {
      as: 'curator',
      ...request,
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({ candidateId, status: 'approved', seqId: expect.any(String) })
  })

  test("approves it with the curator's edit", async () => {
    const server = await testServer()
    const edit = { content: 'Better.\n', title: 'Better', tags: ['a', 'b'] }
    const path = `/api/v1/queue/candidates/${await submitted(server)}/approve`
    const { json } = await server.request('POST', path, { as: 'curator', body: { ...edit, other: 1 } })
    const page = await server.request('GET', `/api/v1/neurons/handbook/${Object(json).seqId}`, { as: 'reader' })
    expect(page.json).toMatchObject(edit)
  })

  test.each([{ content: '' }, { title: null }, { tags: 'a' }, { tags: [''] }, { base: 'main' }, []])(
    'refuses the edit %j',
    async (body) => {
      const { request } = await testServer()
      expect((await request('POST', `/api/v1/queue/candidates/${id}/approve`, { as: 'curator', body })).status).toBe(
        400,
      )
    },
  )

  test('approves an edit made upon a version, and refuses one upon a commit that is none of its versions', async () => {
    const server = await testServer()
    const correction = { kind: 'user-correction', content: 'Page three leads.\n', metadata: { targetNeuron: seqId } }
    const path = `/api/v1/queue/candidates/${await submitted(server, correction)}/approve`
    const { json: neuron } = await server.request('GET', `/api/v1/neurons/handbook/${seqId}`, { as: 'curator' })
    const edit = (base: string) => ({ as: 'curator' as const, body: { content: 'Page four leads.\n', base } })
    expect((await server.request('POST', path, edit('0'.repeat(40)))).json).toEqual({
      error: { formErrors: [], fieldErrors: { base: ['is no version of the Neuron'] } },
      message: 'The base is no version of the Neuron.',
    })
    expect((await server.request('POST', path, edit(Object(neuron).commit))).status).toBe(200)
  })

  test('tells what conflicts where the target has changed', async () => {
    const server = await testServer()
    const correct = (content: string) =>
      submitted(server, { kind: 'user-correction', content, metadata: { targetNeuron: seqId } })
    const [first, second] = [await correct('Page one lead.\n'), await correct('Page two leads.\n')]
    const approve = (id: string) => server.request('POST', `/api/v1/queue/candidates/${id}/approve`, { as: 'curator' })
    expect((await approve(first)).status).toBe(200)
    const conflict = { line: 1, current: 'Page one lead.\n', proposed: 'Page two leads.\n' }
    const json = { error: 'merge_conflict', conflicts: [expect.objectContaining(conflict)] }
    expect(await approve(second)).toMatchObject({ status: 409, json })
  })

  test('dismisses it with a reason, reopens it, and shows both', async () => {
    const server = await testServer()
    const path = `/api/v1/queue/candidates/${await submitted(server)}`
    const dismissal = await server.request('POST', `${path}/dismiss`, { as: 'curator', body: { reason: 'Known.' } })
    expect(dismissal.json).toMatchObject({ status: 'dismissed' })
    expect((await server.request('POST', `${path}/approve`, { as: 'curator' })).json).toMatchObject({
      error: 'not_pending',
    })
    const { json } = await server.request('GET', path, { as: 'curator' })
    expect(json).toMatchObject({
      status: 'dismissed',
      decisions: [{ action: 'dismiss', by: 'the curator', reason: 'Known.' }],
    })
    expect((await server.request('POST', `${path}/reopen`, { as: 'curator' })).json).toMatchObject({
      status: 'pending',
    })
    expect((await server.request('POST', `${path}/reopen`, { as: 'curator' })).json).toMatchObject({
      error: 'not_dismissed',
    })
  })

  test('comments on it, and shows the comment', async () => {
    const server = await testServer()
    const path = `/api/v1/queue/candidates/${await submitted(server)}`
    const { status, json } = await server.request('POST', `${path}/comment`, {
      as: 'curator',
      body: { comment: 'Hm.' },
    })
    expect([status, json]).toEqual([201, { candidateId: path.slice(-36), status: 'pending' }])
    const detail = await server.request('GET', path, { as: 'curator' })
    expect(detail.json).toMatchObject({ decisions: [{ action: 'comment', by: 'the curator', reason: 'Hm.' }] })
    for (const as of ['app', 'reader'] as const) {
      const { status } = await server.request('POST', `${path}/comment`, { as, body: { comment: 'Hm.' } })
      expect(status).toBe(403)
    }
  })

  test.each([
    {},
    { comment: '' },
    { comment: ' \n' },
    { comment: 7 },
    { comment: 'a\0b' },
    { comment: 'a\ud800' },
    { comment: 'x'.repeat(10_001) },
    { comment: 'x', head: 'main' },
  ])('refuses the comment %j', async (body) => {
    const { request } = await testServer()
    const { status, json } = await request('POST', `/api/v1/queue/candidates/${id}/comment`, { as: 'curator', body })
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: { fieldErrors: expect.any(Object) } })
  })

  test.each(['approve', 'dismiss', 'comment'])('refuses to %s at a head that is no commit', async (verb) => {
    const { request } = await testServer()
    const body = { ...(verb === 'comment' && { comment: 'x'.repeat(10_000) }), head: 'HEAD' }
    const { json } = await request('POST', `/api/v1/queue/candidates/${id}/${verb}`, { as: 'curator', body })
    expect(json).toEqual({
      error: { formErrors: [], fieldErrors: { head: ['must be the full id of a git object'] } },
      message: 'The head must be the full id of a git object.',
    })
  })

  test.each(['approve', 'dismiss', 'comment'])(
    'refuses to %s at another head, and tells the present one',
    async (verb) => {
      const server = await testServer()
      const act = async (id: string, head: string) => {
        const body = { ...(verb === 'comment' && { comment: 'Hm.' }), head }
        const path = `/api/v1/queue/candidates/${id}/${verb}`
        return server.request('POST', path, { as: 'curator', body })
      }
      const stale = (head: unknown) => ({
        status: 409,
        json: { error: 'stale_head', message: 'The candidate has changed since it was reviewed.', head },
      })
      const other = '3f786850e387550fdab836ed7e6dc881de23001b'
      const open = await submitted(server)
      const refused = await act(open, other)
      expect(refused).toMatchObject(stale(expect.stringMatching(/^[0-9a-f]{40}$/)))
      expect(await act(open, Object(refused.json).head)).toMatchObject({ status: verb === 'comment' ? 201 : 200 })
      const lost = { kind: 'user-correction', metadata: { targetNeuron: 'handbook_00009999' } }
      expect(await act(await submitted(server, lost), other)).toMatchObject(stale(null))
    },
  )

  test('a decision with `If-Match` counts only for the candidate and the page that were read', async () => {
    const server = await testServer()
    const at = (id: string, verb = '') => `/api/v1/queue/candidates/${id}${verb}`
    const read = async (id: string) => {
      const { json, headers } = await server.request('GET', at(id), { as: 'curator' })
      return { head: Object(json).head, tag: String(headers.etag) }
    }
    const act = async (id: string, verb: string, tag: string, body: object = {}) => {
      const headers = { 'if-match': tag }
      const { status, json } = await server.request('POST', at(id, verb), { as: 'curator', body, headers })
      return [status, Object(json).error ?? Object(json).status]
    }
    const comment = (id: string) =>
      server.request('POST', at(id, '/comment'), { as: 'curator', body: { comment: 'Hm.' } })
    const page = await submitted(server, { content: 'One.\n\nTwo.\n\nThree.' })
    const unread = await read(page)
    expect(unread.head).toMatch(/^[0-9a-f]{40}$/)
    await comment(page)
    expect(await act(page, '/approve', unread.tag)).toEqual([412, 'stale_head'])
    expect(await act(page, '/request-changes', unread.tag, { reason: 'No.' })).toEqual([412, 'stale_head'])
    expect(await act(page, '/dismiss', unread.tag)).toEqual([412, 'stale_head'])
    expect(await act(page, '/approve', 'none')).toEqual([412, 'stale_head'])
    const seen = await read(page)
    expect(seen.tag).not.toBe(unread.tag)
    expect(await act(page, '/approve', `"x", W/${seen.tag}`)).toEqual([200, 'approved'])
    // The same request again gets the same answer, and what is decided is not decided otherwise.
    expect(await act(page, '/approve', seen.tag)).toEqual([200, 'approved'])
    expect(await read(page)).toMatchObject({ head: null })

    const { json } = await server.request('GET', at(page), { as: 'curator' })
    const metadata = { targetNeuron: Object(json).seqId, baseVersion: 1 }
    const fix = (content: string) => submitted(server, { kind: 'user-correction', content, metadata })
    const [first, second] = [await fix('One!\n\nTwo.\n\nThree.'), await fix('One.\n\nTwo.\n\nThree!')]
    const before = await read(second)
    expect(await act(first, '/approve', (await read(first)).tag)).toEqual([200, 'approved'])
    expect(await act(second, '/approve', before.tag)).toEqual([412, 'stale_head'])
    expect(await act(second, '/dismiss', (await read(second)).tag)).toEqual([200, 'dismissed'])
    expect(await act(second, '/dismiss', before.tag)).toEqual([200, 'dismissed'])
    expect(await act(second, '/approve', before.tag)).toEqual([409, 'not_pending'])
    expect(await act(second, '/reopen', before.tag)).toEqual([412, 'not_pending'])
    expect(await act(second, '/reopen', (await read(second)).tag)).toEqual([200, 'pending'])
    expect(await act(second, '/reopen', (await read(second)).tag)).toEqual([409, 'not_dismissed'])
    expect(await act(second, '/approve', '*')).toEqual([200, 'approved'])
  })

  test.each(['GET', 'POST'] as const)(
    'is not found by %s of what is no id, like what does not exist',
    async (method) => {
      const { request } = await testServer()
      const suffix = method === 'GET' ? '' : '/approve'
      const unknown = await request(method, `/api/v1/queue/candidates/${id}${suffix}`, { as: 'curator' })
      expect(unknown.status).toBe(404)
      for (const bad of ['1', 'A', 'a%2Fb', 'a%00b', '..%2f', '%C3%A9', 'x'.repeat(5000), `${id}%0a`]) {
        const { status, text } = await request(method, `/api/v1/queue/candidates/${bad}${suffix}`, { as: 'curator' })
        expect([bad.slice(0, 10), status, text]).toEqual([bad.slice(0, 10), 404, unknown.text])
      }
    },
  )
})

describe('listing candidates', () => {
  test('gives a page of summaries and the way on', async () => {
    const server = await testServer()
    await submitted(server)
    await submitted(server)
    const { json } = await server.request('GET', '/api/v1/queue/candidates?kb=handbook&status=pending&limit=1', {
      as: 'curator',
    })
    const [first] = Object(json).candidates
    expect(json).toMatchObject({ candidates: [{ createdBy: 'the app' }], nextCursor: expect.any(String) })
    expect(first).toHaveProperty('title')
    expect(first).not.toHaveProperty('content')
    expect(JSON.stringify(json)).not.toContain('Page the lead')
  })

  test('follows its query; a page has 50 without a limit', async () => {
    const server = await testServer()
    for (let n = 0; n < 52; n++) await submit(server, { kind: 'lint-finding' })
    const listed = async (query: string) => {
      const { json } = await server.request('GET', `/api/v1/queue/candidates?kb=handbook${query}`, { as: 'curator' })
      return Object(json)
    }
    const page = await listed('&kind=lint-finding&status=pending&connector=api')
    expect(page.candidates).toHaveLength(50)
    expect(page.candidates.every(({ kind }: { kind: string }) => kind === 'lint-finding')).toBe(true)
    const rest = await listed(`&kind=lint-finding&status=pending&connector=api&limit=100&cursor=${page.nextCursor}`)
    expect(rest.candidates.length).toBeGreaterThanOrEqual(2)
    for (const none of ['&connector=lint', '&status=dismissed']) {
      expect((await listed(`&kind=lint-finding${none}`)).candidates).toEqual([])
    }
  })

  test.each([
    'limit=1e2',
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1.0',
    'limit=%201',
    'limit=',
    'limit=1&limit=2',
    'kb=a&kb=b',
    'status=open',
    'status=',
    'kind=all',
  ])('refuses the query %s', async (query) => {
    const { request } = await testServer()
    const { status, json } = await request('GET', `/api/v1/queue/candidates?${query}`, { as: 'curator' })
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: { formErrors: expect.any(Array), fieldErrors: expect.any(Object) } })
  })
})
