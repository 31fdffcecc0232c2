import { expect, test } from 'vitest'
import { kbOfCandidate } from '../../src/kb/kb-access.ts'
import { candidateHeads } from '../../src/queue/heads/candidate-refs.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { type Product, startProduct } from './support.ts'

const queue = '/api/v1/queue/candidates'

async function submit({ request, tokens }: Product, changes: Record<string, unknown> = {}): Promise<string> {
  const candidate = {
    knowledgeBaseId: 'handbook',
    kind: 'external-feed',
    title: 'Escalation',
    content: 'Page the lead.',
  }
  const { body } = await request('POST', queue, { as: tokens.app, body: { ...candidate, ...changes } })
  return String(body.candidateId)
}

async function headOf({ ctx }: Product, candidateId: string): Promise<string> {
  const tenant = await ctx.tenants.find('acme')
  const kb = await kbOfCandidate(ctx, tenant?.id ?? '', candidateId)
  return (await candidateHeads(kb, ctx).headOf(candidateId)) ?? ''
}

test('CI comments on a head and approves it; what it judged is what main gets', async () => {
  const product = await startProduct()
  const { request, tokens, gitDir } = product
  const id = await submit(product)
  const head = await headOf(product, id)
  const page = nativeGit(gitDir, ['diff', '--name-only', 'main', head])
  expect(nativeGit(gitDir, ['show', `${head}:${page}`])).toContain('Page the lead.')

  const as = tokens.curator
  const comment = await request('POST', `${queue}/${id}/comment`, { as, body: { comment: '0 errors.', head } })
  expect(comment).toMatchObject({ status: 201, body: { candidateId: id, status: 'pending' } })
  const approval = await request('POST', `${queue}/${id}/approve`, { as, body: { head } })
  expect(approval).toMatchObject({ status: 200, body: { status: 'approved' } })
  expect(nativeGit(gitDir, ['show', `main:${page}`])).toContain('Page the lead.')
  const { body } = await request('GET', `${queue}/${id}`, { as })
  expect(body.decisions).toMatchObject([
    { action: 'comment', by: 'curator', reason: '0 errors.' },
    { action: 'approve' },
  ])
})

test('a verdict on an old head is refused with the present one, which then counts', async () => {
  const product = await startProduct()
  const { request, tokens, gitDir } = product
  const as = tokens.curator
  const first = await submit(product)
  const { body: target } = await request('POST', `${queue}/${first}/approve`, { as })
  const fix = { kind: 'user-correction', metadata: { targetNeuron: target.seqId } }
  const content = 'Page the lead.\n\nOne.\n\nTwo.\n\nThree.'
  await request('POST', `${queue}/${await submit(product, { ...fix, content })}/approve`, { as })

  const id = await submit(product, { ...fix, content: content.replace('Three', 'Drei') })
  const old = await headOf(product, id)
  const other = await submit(product, { ...fix, content: content.replace('the lead', 'two leads') })
  await request('POST', `${queue}/${other}/approve`, { as, body: { head: await headOf(product, other) } })
  const present = await headOf(product, id)

  const main = nativeGit(gitDir, ['rev-parse', 'main'])
  const verdicts = { approve: {}, dismiss: { reason: 'No.' }, comment: { comment: 'Hm.' } }
  for (const [verb, body] of Object.entries(verdicts)) {
    const refusal = await request('POST', `${queue}/${id}/${verb}`, { as, body: { ...body, head: old } })
    expect(refusal).toMatchObject({ status: 409, body: { error: 'stale_head', head: present } })
  }
  expect(nativeGit(gitDir, ['rev-parse', 'main'])).toBe(main)
  expect((await request('GET', `${queue}/${id}`, { as })).body).toMatchObject({ status: 'pending', decisions: [] })
  expect((await request('POST', `${queue}/${id}/approve`, { as, body: { head: present } })).status).toBe(200)
  const neuron = await request('GET', `/api/v1/neurons/handbook/${target.seqId}`, { as })
  expect(neuron.body.content).toBe(content.replace('Three', 'Drei').replace('the lead', 'two leads'))
})

test('only curators of the tenant comment', async () => {
  const product = await startProduct()
  const { request, tokens, newKey } = product
  const id = await submit(product)
  const statusFor = async (as?: string) =>
    (await request('POST', `${queue}/${id}/comment`, { ...(as && { as }), body: { comment: 'Hm.' } })).status
  expect(await statusFor()).toBe(401)
  expect(await statusFor(tokens.reader)).toBe(403)
  expect(await statusFor(tokens.app)).toBe(403)
  expect(await statusFor(await newKey('rival', 'curator'))).toBe(404)
  expect(await statusFor(tokens.curator)).toBe(201)
})
