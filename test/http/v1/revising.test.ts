import { describe, expect, test } from 'vitest'
import { hashObject } from '../../../src/git/objects/object.ts'
import { findCandidate } from '../../../src/kb/projection/candidate-index.ts'
import { commitToQueue, recordCandidate } from '../../../src/kb/writing/commits.ts'
import { gitCandidate, type PushedNeuron } from '../../../src/kb/writing/pushed-neurons.ts'
import { parseCandidate } from '../../../src/markdown/file/candidate-file.ts'
import { approveBundle, bundleEntry } from '../../../src/queue/push-bundle.ts'
import { reviseCandidate, withdrawCandidate } from '../../../src/queue/revise-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { actorOf } from '../../../src/rules/access/caller.ts'
import { candidateIdFor } from '../../../src/rules/candidates/candidate-id.ts'
import { signIn } from '../../support/person.ts'
import { type Request, seqId, type TestServer, testServer } from '../support/test-server.ts'

const proposal = { kb: 'handbook', kind: 'external-feed', title: 'Lost badges', content: 'Tell the desk.\n' }
const metadata = { connector: 'api', targetNeuron: seqId }

/** What a sender and a curator do with one candidate. */
async function sent(server: TestServer, changes: Record<string, unknown> = {}, as: 'app' | 'curator' = 'app') {
  const { json } = await server.request('POST', '/api/v1/queue/candidates', { as, body: { ...proposal, ...changes } })
  const id = String(Object(json).candidateId)
  const path = `/api/v1/queue/candidates/${id}`
  const ask = async (...asked: Parameters<TestServer['request']>) => {
    const { status, json, headers } = await server.request(...asked)
    return { status, body: Object(json), etag: String(headers.etag) }
  }
  return {
    id,
    path,
    own: () => ask('GET', `/api/v1/me/candidates/${id}`, { as: 'app' }),
    detail: () => ask('GET', path, { as: 'curator' }),
    revise: (body: object, { etag, by = as }: { etag?: string; by?: 'app' | 'curator' | 'reader' } = {}) =>
      ask('PUT', path, { as: by, body, ...(etag && { headers: { 'if-match': etag } }) }),
    withdraw: (by: 'app' | 'curator' = as, etag?: string) =>
      ask('DELETE', path, { as: by, ...(etag && { headers: { 'if-match': etag } }) }),
    decide: (action: string, body: object = {}) => ask('POST', `${path}/${action}`, { as: 'curator', body }),
  }
}

describe('revising a candidate', () => {
  test('answers a request for changes with the next version, which is what is approved', async () => {
    const server = await testServer()
    const { own, detail, revise, decide } = await sent(server)
    await decide('request-changes', { reason: 'Which desk?' })
    const asked = await own()
    expect(asked.body).toMatchObject({ version: 1, changesRequested: { reason: 'Which desk?' } })

    expect(asked.body.content).toBe(proposal.content)
    const content = 'Tell the front desk.\n'
    expect(await revise({ content }, { etag: asked.etag })).toMatchObject({ status: 200, body: { status: 'pending' } })
    expect((await own()).body).toMatchObject({ version: 2, status: 'pending' })
    expect((await own()).body).not.toHaveProperty('changesRequested')
    const { body } = await detail()
    expect(body).toMatchObject({ version: 2, title: 'Lost badges', content, createdBy: 'the app' })
    expect(body.decisions.map(({ action }: { action: string }) => action)).toEqual(['request-changes', 'revise'])

    const { body: approval } = await decide('approve')
    const page = await server.request('GET', `/api/v1/neurons/handbook/${approval.seqId}`, { as: 'app' })
    expect(page.json).toMatchObject({ title: 'Lost badges', content })
  })

  test('is told the lines that a curator asks about, which the text must have', async () => {
    const server = await testServer()
    const { own, detail, revise, decide } = await sent(server, { content: 'One.\r\n\r\nThree.' })
    for (const lines of ['0', '2-', '3-2', '4', '1-4', ' 1', '1,2', 3, '1'.repeat(99)]) {
      const { status, body } = await decide('request-changes', { reason: 'Which?', lines })
      expect([status, body.error.fieldErrors]).toEqual([400, { lines: [expect.any(String)] }])
    }
    expect((await detail()).body.decisions).toEqual([])
    for (const lines of ['1-3', '1-3', '3']) await decide('request-changes', { reason: 'Which?', lines })
    const asked = { reason: 'Which?', lines: '3', at: expect.any(String) }
    expect((await own()).body).toMatchObject({ changesRequested: asked })
    expect(Object.keys((await own()).body.changesRequested)).toEqual(['reason', 'lines', 'at'])
    const { body } = await detail()
    expect(body.changesRequested).toEqual({ ...asked, by: 'the curator' })
    expect(body.decisions.map(({ lines }: { lines?: string }) => lines)).toEqual(['1-3', '3'])
    await revise({ content: 'Two.' })
    expect((await decide('request-changes', { reason: 'Which?', lines: '3' })).status).toBe(400)
    expect((await decide('request-changes', { reason: 'Which?' })).status).toBe(200)
    expect((await own()).body.changesRequested).not.toHaveProperty('lines')
  })

  test('keeps what is not sent, and makes no version of what is the same', async () => {
    const { detail, own, revise } = await sent(await testServer(), { metadata: { tags: ['badges'] } })
    const { etag } = await own()
    await revise({ content: 'Tell the front desk.', title: 'Badges that are lost' }, { etag })
    const second = await detail()
    expect(second.body).toMatchObject({ version: 2, title: 'Badges that are lost', metadata: '{"tags":["badges"]}' })
    // An answer that was lost: the same request again, with the tag of the version before.
    const again = { content: 'Tell the front desk.', title: 'Badges that are lost' }
    expect(await revise(again, { etag })).toMatchObject({ status: 200 })
    expect((await detail()).body).toEqual(second.body)
    await revise({ ...again, metadata: { tags: ['desk'], sourceUrl: 'https://example.com/desk' } })
    expect((await detail()).body).toMatchObject({ version: 3, content: again.content })
  })

  test('of a version that was read before another, or before a request for changes, is refused', async () => {
    const { own, revise, decide, detail } = await sent(await testServer())
    const { etag } = await own()
    await decide('comment', { comment: 'Between curators.' })
    expect((await own()).etag).toBe(etag)
    await decide('request-changes', { reason: 'Which desk?' })
    expect(await revise({ content: 'Other.' }, { etag })).toMatchObject({ status: 412, body: { error: 'stale_head' } })
    const asked = await own()
    await revise({ content: 'Second.' }, { etag: asked.etag })
    expect(await revise({ content: 'Third.' }, { etag: asked.etag })).toMatchObject({ status: 412 })
    // A curator names the tag of what curators read.
    const { etag: read } = await detail()
    expect(await revise({ content: 'Third.' }, { etag: read, by: 'curator' })).toMatchObject({ status: 200 })
    expect(await revise({ content: 'Fourth.' }, { etag: read, by: 'curator' })).toMatchObject({ status: 412 })
  })

  test('is for who sent it, the person whose key sent it, and curators', async () => {
    const server = await testServer()
    const { ctx } = server
    const tenantId = (await ctx.tenants.ensure('acme', ctx.now())).id
    const { userId } = await signIn(ctx, 'acme', 'curator', {
      email: 'eve@example.com',
      name: 'Eve',
    })
    const record = { tenantId, role: 'app' as const, connectors: [], expiresAt: null }
    const { token } = await ctx.apiKeys.create({ ...record, name: "Eve's", userId }, ctx.now())
    const other = await ctx.apiKeys.create({ ...record, name: 'Another' }, ctx.now())
    const { path, revise, detail, own } = await sent(server)
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
    for (const method of ['PUT', 'DELETE'] as const) {
      const body = method === 'PUT' ? { body: { content: 'Mine now.' } } : {}
      for (const tag of [{}, { 'if-match': '"1.x"' }, { 'if-match': '"2.x"' }]) {
        const headers = { ...as(other.token).headers, ...tag }
        const refused = await server.request(method, path, { headers, ...body })
        expect([refused.status, refused.json]).toMatchObject([404, { error: 'not_found' }])
      }
      expect((await server.request(method, path, { as: 'reader', ...body })).status).toBe(403)
    }
    expect((await detail()).body).toMatchObject({ version: 1, status: 'pending' })
    expect((await revise({ content: 'By a curator.' }, { by: 'curator' })).status).toBe(200)
    expect((await detail()).body).toMatchObject({ version: 2, createdBy: 'the app', content: 'By a curator.' })
    expect((await own()).body).not.toHaveProperty('content')

    const submitted = await server.request('POST', '/api/v1/queue/candidates', { ...as(token), body: proposal })
    const eve = { ...actorOf({ id: `user:${userId}`, name: 'Eve' }), tenantId, role: 'app' as const, connectors: [] }
    const id = String(Object(submitted.json).candidateId)
    expect(await withdrawCandidate(ctx, eve, id)).toEqual({ candidateId: id, status: 'dismissed' })
  })

  test('cannot change what it is for, nor who sent it', async () => {
    const { revise, detail } = await sent(await testServer(), { kind: 'user-correction', metadata })
    for (const changed of [
      { ...metadata, targetNeuron: 'handbook_00000007' },
      { ...metadata, connector: 'other' },
    ]) {
      expect(await revise({ content: 'New.', metadata: changed })).toMatchObject({ status: 400 })
    }
    expect(await revise({ content: '', metadata })).toMatchObject({ status: 400 })
    expect(await revise({ content: 'New.', metadata })).toMatchObject({ status: 200 })
    expect((await detail()).body).toMatchObject({ version: 2, target: seqId })
  })

  test('does not let the policy decide what a curator has seen', async () => {
    const server = await testServer()
    const { revise, detail } = await sent(server, { confidence: 0.1 })
    const { id } = await sent(server, { title: 'Sure', confidence: 1 })
    const sure = await server.request('GET', `/api/v1/queue/candidates/${id}`, { as: 'curator' })
    await revise({ content: 'Tell the front desk.' })
    expect([Object(sure.json).status, (await detail()).body.status]).toEqual(['approved', 'pending'])
  })

  test('by a curator does not tell its sender that a hidden page exists', async () => {
    const server = await testServer()
    const hidden = await sent(server, { title: 'Salaries', metadata: { tags: ['internal'] } }, 'curator')
    const { body } = await hidden.decide('approve')
    const verdicts = []
    for (const targetNeuron of [body.seqId, 'handbook_00000999']) {
      const about = { kind: 'user-correction', title: 'Salaries', metadata: { targetNeuron } }
      const { own, revise } = await sent(server, about)
      await revise({ content: 'By a curator.' }, { by: 'curator' })
      verdicts.push((await own()).body.verdict)
    }
    expect(verdicts[0]).toEqual(verdicts[1])
  })

  test('that repeats an approved one does not tell which page it became', async () => {
    const { own, revise, decide } = await sent(await testServer())
    await decide('approve', { tags: ['internal'] })
    expect((await own()).body).not.toHaveProperty('seqId')
    const again = await revise({ content: proposal.content })
    expect(again).toMatchObject({ status: 200, body: { status: 'approved' } })
    expect(Object.keys(again.body)).not.toContain('seqId')
  })

  test('takes the front matter of its content, which widens no audience', async () => {
    const opened = (head: string) => ({ content: `---\n${head}\n---\nTell the desk.\n` })
    const { revise, detail } = await sent(await testServer(), opened('tags: [badges]\naudience: [tool]'))
    await revise(opened('tags: [desk]\naudience: [public, tool]\nsourceUrl: https://example.com/desk'))
    const { metadata } = (await detail()).body
    expect(JSON.parse(metadata)).toEqual({
      ...{ tags: ['desk'], audience: ['tool'], sourceUrl: 'https://example.com/desk' },
    })
  })

  test('is in no less strict a zone than the version before', async () => {
    const server = await testServer()
    for (const [before, after, zone] of [
      ['red', 'yellow', 'red'],
      ['yellow', 'red', 'red'],
      ['yellow', 'green', 'yellow'],
    ]) {
      const { revise, detail } = await sent(server, { title: `To ${after}`, metadata: { actionZone: before } })
      const { warnings } = (await detail()).body
      await revise({ content: 'Tell the front desk.', metadata: { actionZone: after } })
      expect((await detail()).body).toMatchObject({ version: 2, zone })
      if (before === 'red') expect((await detail()).body.warnings).toEqual(warnings)
    }
  })

  test('leaves room in the record for a decision', async () => {
    const server = await testServer()
    const { id, revise, withdraw } = await sent(server)
    const kb = await server.ctx.kb((await server.ctx.tenants.ensure('acme', server.ctx.now())).id, 'handbook')
    const row = findCandidate(kb.projection.read, id)
    await kb.write(async (staging) => {
      const record = parseCandidate(await staging.readText(row?.blob ?? ''))
      const revision = { action: 'revise' as const, at: record.createdAt, by: record.createdBy }
      const filled = { ...record, decisions: Array.from({ length: 1_700 }, () => revision) }
      await recordCandidate(kb, staging, filled, 'Revise')
    })
    expect(await revise({ content: 'Again.' })).toMatchObject({ status: 409, body: { error: 'record_full' } })
    expect((await withdraw()).status).toBe(200)
  })

  test('of a removal tells that its text counts for nothing, and a correction is no repetition of it', async () => {
    const { ctx, neuron } = await testServer()
    const tenantId = (await ctx.tenants.ensure('acme', ctx.now())).id
    const eve = { ...actorOf({ id: 'key:eve', name: 'Eve' }), tenantId, role: 'app' as const, connectors: [] }
    const about = { knowledgeBaseId: 'handbook', kind: 'user-correction' as const, title: neuron.title }
    const none = { confidence: null, impactEstimate: null, metadata: JSON.stringify({ targetNeuron: seqId }) }
    const input = { ...about, ...none, content: 'Page the warden.' }
    const { candidateId } = await submitCandidate(ctx, eve, input, { removes: true })
    const told = { warnings: [{ code: 'content_ignored', message: expect.any(String) }] }
    const revise = (reason: string, content: string) =>
      reviseCandidate(ctx, eve, candidateId, { content, metadata: null, fields: { reason } })
    expect(await revise('It is wrong.', 'Page the warden.')).toMatchObject(told)
    expect(await revise('It is wrong.', 'Page the warden.')).toMatchObject(told)
    expect(await revise('It is old.', neuron.content)).not.toHaveProperty('warnings')
    expect(await submitCandidate(ctx, eve, input)).not.toHaveProperty('warnings')
  })

  test('of a removal that came by git is refused, even if its metadata says where from', async () => {
    const { ctx, request, neuron } = await testServer()
    const kb = await ctx.kb((await ctx.tenants.ensure('acme', ctx.now())).id, 'handbook')
    const [id, origin] = [candidateIdFor(kb.identity.id), { door: 'for' as const, by: 'git:1' }]
    const removal = gitCandidate(kb.identity.id, { seqId, path: 'neurons/vip.md', text: null } as PushedNeuron, {
      id,
      origin,
      actor: { id: 'git:1', name: 'Git' },
      reason: 'pushed',
      at: ctx.now(),
      parts: { title: 'VIP', content: neuron.content, frontMatter: null },
    })
    await kb.write((staging) => recordCandidate(kb, staging, removal, 'Propose'))
    const body = {
      content: 'Other.',
      title: 'Other',
      metadata: { connector: 'git', targetNeuron: seqId, fingerprint: 'x' },
    }
    const refused = await request('PUT', `/api/v1/queue/candidates/${id}`, { as: 'curator', body })
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { error: { fieldErrors: { id: [expect.any(String)] } } },
    ])
  })

  test('of what is decided is refused', async () => {
    const server = await testServer()
    for (const [action, status] of [
      ['approve', 409],
      ['dismiss', 409],
    ] as const) {
      const { revise, withdraw, decide, own } = await sent(server, { title: `To ${action}` })
      await decide(action)
      expect(await revise({ content: 'Late.' })).toMatchObject({ status, body: { error: 'not_pending' } })
      expect((await withdraw()).status).toBe(action === 'approve' ? 409 : 200)
      expect((await own()).body).toMatchObject({ version: 1, status: action === 'approve' ? 'approved' : 'dismissed' })
    }
  })
})

describe('revising and withdrawing many candidates', () => {
  const batch = async (server: TestServer, candidates: readonly unknown[], asked: Request = { as: 'app' }) => {
    const body = { candidates }
    const { status, json, headers } = await server.request('PUT', '/api/v1/queue/candidates/batch', { ...asked, body })
    return { status, results: Object(json).results, error: Object(json).error, headers }
  }

  test('answers each as it would be answered alone, in their order, and again the same', async () => {
    const server = await testServer()
    const [first, second, third] = [await sent(server), await sent(server), await sent(server)]
    const other = await sent(server, {}, 'curator')
    await third.decide('approve')
    const asked = [
      {
        candidateId: first.id,
        version: 1,
        content: 'Tell the front desk.',
        title: 'Badges',
        metadata: { tags: ['a'] },
      },
      { candidateId: second.id, version: 1, withdraw: true },
      { candidateId: third.id, content: 'Late.' },
      { candidateId: third.id, withdraw: true },
      { candidateId: other.id, content: 'Mine now.' },
      { candidateId: other.id, version: 7, withdraw: true },
      { candidateId: second.id, version: 1 },
      { candidateId: second.id, withdraw: true, content: 'Both.' },
      { candidateId: 'x', content: 'New.' },
      'x',
    ]
    const { results } = await batch(server, asked)
    expect(results).toMatchObject([
      { status: 200, candidate: { candidateId: first.id, status: 'pending', kbId: server.kbId } },
      { status: 200, candidate: { candidateId: second.id, status: 'dismissed' } },
      ...[{ status: 409, error: { error: 'not_pending' } }, { status: 400 }],
      ...[{ status: 404, error: { error: 'not_found' } }, { status: 400 }],
      ...[{ status: 400 }, { status: 400 }, { status: 400 }, { status: 400 }],
    ])
    expect((await batch(server, asked)).results).toEqual(results)
    const { body } = await first.detail()
    expect(body).toMatchObject({
      version: 2,
      title: 'Badges',
      content: 'Tell the front desk.',
      metadata: '{"tags":["a"]}',
    })
    expect((await second.own()).body).toMatchObject({ version: 1, reason: 'withdrawn by its sender' })
    expect((await other.detail()).body).toMatchObject({ version: 1, status: 'pending' })
    for (const late of [{ content: 'Third.' }, { withdraw: true }]) {
      const { results } = await batch(server, [{ candidateId: first.id, version: 1, ...late }])
      expect(results).toMatchObject([{ status: 412, error: { error: 'stale_head' } }])
    }
  })

  test('is refused as a whole for a reader, a revoked key, and more than 100; each counts against the rate', async () => {
    const server = await testServer()
    const { id, detail } = await sent(server)
    const { ctx } = server
    const tenantId = (await ctx.tenants.ensure('acme', ctx.now())).id
    const record = { tenantId, name: 'Gone', role: 'curator' as const, connectors: [], expiresAt: null }
    const { key, token } = await ctx.apiKeys.create(record, ctx.now())
    await ctx.apiKeys.revoke(key.id, ctx.now(), tenantId)
    const one = { candidateId: id, withdraw: true }
    expect((await batch(server, [one], { headers: { authorization: `Bearer ${token}` } })).status).toBe(401)
    expect((await batch(server, [one], { as: 'reader' })).status).toBe(403)
    expect((await batch(server, Array(101).fill(one))).status).toBe(400)
    expect((await batch(server, [])).status).toBe(400)
    expect((await detail()).body.status).toBe('pending')
    const left = async () => Number((await batch(server, [one])).headers['ratelimit-remaining'])
    const before = await left()
    await batch(server, [one, one, one])
    expect(before - (await left())).toBe(4)
  })

  test('withdraws all pages of a push, or they are approved', async () => {
    const { ctx, request } = await testServer()
    const tenantId = (await ctx.tenants.ensure('acme', ctx.now())).id
    const kb = await ctx.kb(tenantId, 'handbook')
    const record = { tenantId, name: 'Pusher', role: 'curator' as const, connectors: [], expiresAt: null }
    const { key, token } = await ctx.apiKeys.create(record, ctx.now())
    const origin = { door: 'for' as const, by: `git:${key.id}` }
    const curator = { id: 'key:seed', name: 'Seed', tenantId, role: 'curator' as const, connectors: [] }
    for (let round = 0; round < 6; round++) {
      const at = ctx.now()
      const pushed = ['one', 'two', 'three'].map((name) => {
        const text = `---\ntitle: ${name} ${round}\n---\nText.\n`
        const blob = hashObject('blob', Buffer.from(text))
        const page = { path: `neurons/${name}-${round}.md`, text, blob } as PushedNeuron
        const parts = {
          title: `${name} ${round}`,
          content: 'Text.\n',
          frontMatter: `---\ntitle: ${name} ${round}\n---\n`,
        }
        return gitCandidate(kb.identity.id, page, {
          origin,
          actor: { id: origin.by, name: 'Pusher' },
          reason: 'pushed',
          at,
          parts,
        })
      })
      await kb.write((staging) => commitToQueue(kb, staging, pushed, { by: pushed[0]?.createdBy ?? curator, at }))
      const row = findCandidate(kb.projection.read, pushed[0]?.id ?? '') ?? expect.fail()
      const { seen = '', members } = bundleEntry(kb.projection.read, row) ?? expect.fail()
      expect(members).toHaveLength(3)
      const body = { candidates: pushed.map(({ id }) => ({ candidateId: id, withdraw: true })) }
      const [gone, approved] = await Promise.all([
        request('PUT', '/api/v1/queue/candidates/batch', { headers: { authorization: `Bearer ${token}` }, body }),
        round % 2 === 0 ? undefined : approveBundle(ctx, curator, { candidateId: row.id, seen }).catch(() => undefined),
      ])
      const statuses = pushed.map(({ id }) => findCandidate(kb.projection.read, id)?.status)
      expect(statuses).toEqual(Array(3).fill(approved === undefined ? 'dismissed' : 'approved'))
      const status = approved === undefined ? 200 : 409
      expect(Object(gone.json).results.map((result: { status: number }) => result.status)).toEqual(
        Array(3).fill(status),
      )
    }
  })
})

test('who proposes again what waits is told which candidate to revise, and nobody else is', async () => {
  const server = await testServer()
  const again = async (body: object, as: 'app' | 'curator' = 'app') => {
    const { json } = await server.request('POST', '/api/v1/queue/candidates', { as, body: { ...proposal, ...body } })
    return Object(json).warnings
  }
  const { id, withdraw } = await sent(server, { title: 'Keys', content: 'Keys lie in the drawer.' })
  const told = [{ code: 'similar', message: expect.any(String), candidateId: id }]
  expect(await again({ title: 'Other', content: 'Keys lie in the drawer.' }, 'curator')).toBeUndefined()
  expect(await again({ title: 'Another', content: 'Cups stand in the cupboard.' })).toBeUndefined()
  expect(await again({ title: 'Keys', content: 'Keys hang on the wall.' })).toEqual(told)
  await withdraw()
  expect(await again({ title: 'The keys', content: 'Keys lie in the drawer.' })).toBeUndefined()
})

describe('withdrawing a candidate', () => {
  test('dismisses it in the words of its sender, once', async () => {
    const { withdraw, own, detail, decide, id } = await sent(await testServer())
    const { etag } = await own()
    const done = { status: 200, body: { candidateId: id, status: 'dismissed' } }
    expect(await withdraw('app', etag)).toMatchObject(done)
    expect(await withdraw('app', etag)).toMatchObject(done)
    expect((await own()).body).toMatchObject({ status: 'dismissed', reason: 'withdrawn by its sender' })
    expect((await detail()).body.decisions).toMatchObject([{ action: 'dismiss', by: 'the app' }])
    expect(await decide('approve')).toMatchObject({ status: 409 })
  })

  test('by a curator is a dismissal', async () => {
    const { withdraw, own } = await sent(await testServer())
    await withdraw('curator')
    expect((await own()).body).not.toHaveProperty('reason')
  })

  test('at once with a revision and an approval leaves one of them', async () => {
    const server = await testServer()
    for (let round = 0; round < 5; round++) {
      const { revise, withdraw, decide, detail } = await sent(server, { title: `Round ${round}` })
      const content = 'Tell the front desk.\n'
      const [revised, gone, approved] = await Promise.all([revise({ content }), withdraw(), decide('approve')])
      const { body } = await detail()
      expect([gone.status, approved.status].filter((status) => status === 200)).toHaveLength(1)
      expect(body.status).toBe(gone.status === 200 ? 'dismissed' : 'approved')
      expect(body.version).toBe(revised.status === 200 ? 2 : 1)
    }
  })
})
