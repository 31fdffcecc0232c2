import { expect, test } from 'vitest'
import { pushedChanges } from '../../src/git/pushed-objects.ts'
import { proposePush } from '../../src/push/push-proposals.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { signIn } from '../support/person.ts'
import { outsideWriter } from './git/outside-writer.ts'
import { startProduct } from './support.ts'

const main = 'refs/heads/main'

async function start(policy: string) {
  const { ctx, gitDir, tokens, request, newKey, kbId } = await startProduct()
  const writer = await outsideWriter(ctx, kbId)
  await writer.commit(new Map([['kb.yaml', `${writer.read('kb.yaml')}\n${policy}`]]))
  const sent = async (metadata: object = {}) => {
    const body = { kb: 'handbook', kind: 'external-feed', title: 'Fees', content: 'None.', metadata }
    return String((await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body })).body.candidateId)
  }
  const act = (id: string, verb: string, as: string, body?: object) =>
    request('POST', `/api/v1/queue/candidates/${id}/${verb}`, { as, ...(body && { body }) })
  return { ctx, gitDir, tokens, newKey, sent, act, kbId, request }
}

test('the red zone takes two people, and the commit names both', async () => {
  const { gitDir, tokens, newKey, sent, act, request } = await start('approvals: { red: 2 }\n')
  const id = await sent({ actionZone: 'red' })
  const awaiting = { votes: 1, owners: [] }
  for (const _ of [1, 2]) {
    expect(await act(id, 'approve', tokens.curator)).toMatchObject({
      status: 202,
      body: { status: 'pending', awaiting },
    })
  }
  const { body } = await request('GET', `/api/v1/queue/candidates/${id}`, { as: tokens.curator })
  expect(body.decisions).toMatchObject([{ action: 'approve' }])
  const second = await newKey('acme', 'curator')
  const approved = await act(id, 'approve', second)
  expect(approved).toMatchObject({ status: 200, body: { status: 'approved' } })
  const message = nativeGit(gitDir, ['log', '-1', '--format=%B', main])
  const names = Array.from(message.matchAll(/^Approved-By: (.*) </gm), ([, name]) => name)
  expect(names).toHaveLength(2)
  const blame = await request('GET', `/api/v1/neurons/handbook/${approved.body.seqId}/blame`, { as: second })
  expect(blame.body.sentences).toMatchObject([{ approvedBy: names.join(', ') }])
})

test('a vote is for a candidate as it was: putting it back begins anew', async () => {
  const { tokens, newKey, sent, act } = await start('approvals: { red: 2 }\n')
  const id = await sent({ actionZone: 'red' })
  await act(id, 'approve', tokens.curator)
  await act(id, 'dismiss', tokens.curator)
  await act(id, 'reopen', tokens.curator)
  expect((await act(id, 'approve', await newKey('acme', 'curator'))).body).toMatchObject({ awaiting: { votes: 1 } })
})

test('what is owned waits for an owner, also where the policy would approve it', async () => {
  const { ctx, tokens, act, request } = await start('owners: [{ tags: [contracts], people: [Legal desk] }]\n')
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const record = { tenantId, name: 'Legal desk', role: 'curator' as const, connectors: [], expiresAt: null }
  const { token } = await ctx.apiKeys.create(record, ctx.now())
  const body = {
    kb: 'handbook',
    kind: 'external-feed',
    title: 'Fees',
    content: 'None.',
    metadata: { tags: ['contracts'] },
  }
  const submitted = await request('POST', '/api/v1/queue/candidates', {
    as: tokens.app,
    body: { ...body, confidence: 1 },
  })
  expect(submitted.body.status).toBe('pending')
  const id = String(submitted.body.candidateId)
  expect((await act(id, 'approve', tokens.curator)).body.awaiting).toEqual({ votes: 0, owners: [['Legal desk']] })
  const sent = await request('GET', `/api/v1/me/candidates/${id}`, { as: tokens.app })
  expect(sent.body.verdict).toMatchObject({ reason: expect.not.stringContaining('Legal') })
  expect((await act(id, 'approve', token)).status).toBe(200)
  const owned = (as: string) =>
    request('GET', '/api/v1/knowledge-bases/handbook/neurons?owner=Legal%20desk', { as }).then(
      ({ body }) => body.neurons,
    )
  expect([await owned(tokens.app), await owned(tokens.curator)]).toEqual([
    [],
    [expect.objectContaining({ title: 'Fees' })],
  ])
})

test('an edit is a new version of its author’s, who may not approve it', async () => {
  const { tokens, sent, act } = await start('authorMayApprove: false\n')
  const id = await sent()
  const { status, body } = await act(id, 'approve', tokens.curator, { content: 'Some.' })
  expect([status, body.status, body.awaiting]).toEqual([202, 'pending', { votes: 1, owners: [] }])
  expect((await act(id, 'approve', tokens.curator)).body.error).toBe('approval_needed')
})

test('while it cannot be read who decides, nothing is approved', async () => {
  const { tokens, sent, act } = await start('owners: nobody\n')
  expect((await act(await sent(), 'approve', tokens.curator)).body.error).toBe('approval_needed')
})

test('a curator asks for changes and assigns, and the sender sees what to change', async () => {
  const { tokens, ctx, sent, act, request } = await start('approvals: { red: 2 }\n')
  const id = await sent({ actionZone: 'red' })
  await act(id, 'approve', tokens.curator)
  const reason = 'Name the **source**.'
  for (const _ of [1, 2]) expect((await act(id, 'request-changes', tokens.curator, { reason })).status).toBe(200)
  expect((await act(id, 'request-changes', tokens.curator, { reason: ' ' })).status).toBe(400)
  const own = await request('GET', `/api/v1/me/candidates/${id}`, { as: tokens.app })
  expect(own.body).toMatchObject({ status: 'pending', changesRequested: { reason } })
  const read = () => request('GET', `/api/v1/queue/candidates/${id}`, { as: tokens.curator })
  // Who asks for changes takes back their approval.
  expect((await read()).body).toMatchObject({ awaiting: { votes: 2 }, changesRequested: { reason } })

  const { userId } = await signIn(ctx, 'acme', 'curator', { email: 'ann@example.com' })
  const assign = (assignee: string | null) => act(id, 'assign', tokens.curator, { assignee })
  expect((await assign('nobody@example.com')).status).toBe(400)
  expect((await assign('Ann@example.com')).status).toBe(200)
  const listed = (assignee: string) =>
    request('GET', `/api/v1/queue/candidates?assignee=${encodeURIComponent(assignee)}`, { as: tokens.curator })
  expect((await listed('ann@example.com')).body.candidates).toMatchObject([
    { candidateId: id, assignee: 'ann@example.com' },
  ])
  expect((await listed('bob@example.com')).body.candidates).toEqual([])
  await assign(null)
  expect((await read()).body).not.toHaveProperty('assignee')
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  await ctx.users.setRole(userId, tenantId, 'reader')
  expect((await assign('ann@example.com')).status).toBe(400)
})

test('a new version answers what was asked for', async () => {
  const { ctx, kbId, gitDir, tokens, act, request } = await start('')
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const kb = await ctx.kb(tenantId, kbId)
  const native = new NativeWriter(gitDir)
  const proposed = async (text: string) => {
    native.commit('refs/heads/topic', new Map([['neurons/fees.md', text]]), { parents: [main] })
    const changes = [
      ...(await pushedChanges(kb.repository, native.git('rev-parse', main), native.git('rev-parse', 'topic'))),
    ]
    const range = { from: native.git('rev-parse', main), to: native.git('rev-parse', 'topic') }
    const proposer = { id: 'git:somebody', name: 'Somebody' }
    const push = { changes, range, proposer, origin: { door: 'for' as const, by: 'somebody', topic: '' } }
    return (await proposePush(kb, push, ctx.now))[0]?.candidateId ?? ''
  }
  const id = await proposed('No fees.\n')
  await act(id, 'request-changes', tokens.curator, { reason: 'Which?' })
  expect(await proposed('No fees for tea.\n')).toBe(id)
  const { body } = await request('GET', `/api/v1/queue/candidates/${id}`, { as: tokens.curator })
  expect(body).not.toHaveProperty('changesRequested')
  expect(body.decisions).toMatchObject([{ action: 'request-changes', reason: 'Which?' }, { action: 'revise' }])
})
