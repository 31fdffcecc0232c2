import { expect, onTestFinished, test } from 'vitest'
import { UndoAnswer } from '../../src/contract/undo.ts'
import { ingestSteps } from '../../src/sources/ingest/ingest-steps.ts'
import { startIngest } from '../../src/sources/ingest/job-runner.ts'
import { eventually } from '../support/eventually.ts'
import { startProduct } from './support.ts'

test('a curator undoes over HTTP what a connector wrote', async () => {
  const { ctx, request, tokens, kbId } = await startProduct()
  const since = ctx.now().toISOString()
  const submitted = await request('POST', '/api/v1/queue/candidates', {
    as: tokens.app,
    body: { kb: 'handbook', kind: 'external-feed', title: 'Spam', content: 'Buy this.' },
  })
  const approve = (id: unknown) => request('POST', `/api/v1/queue/candidates/${id}/approve`, { as: tokens.curator })
  const { body: spam } = await approve(submitted.body.candidateId)
  const undo = (body: object, as = tokens.curator) =>
    request('POST', '/api/v1/knowledge-bases/handbook/undo', { as, body })

  const body = { by: 'connector', writer: 'api', since }
  expect((await undo(body, tokens.app)).body.error).toBe('insufficient_role')
  for (const wrong of [{ ...body, since: 'yesterday' }, { ...body, by: 'cat' }, { since }]) {
    expect((await undo(wrong)).status).toBe(400)
  }
  const ofNobody = await undo({ ...body, onBehalfOf: 'u-17' })
  expect([ofNobody.status, ofNobody.body.reversals]).toEqual([200, []])
  expect((await undo({ ...body, onBehalfOf: ' ' })).status).toBe(400)
  const { status, body: sent } = await undo(body)
  expect(status).toBe(200)
  const answer = UndoAnswer.parse(sent)
  const candidateId = answer.reversals[0]?.candidateId
  expect(answer).toEqual({
    kbId,
    message: 'In the queue, a reversal of 1 Neuron waits.',
    queueUrl: `/queue/${candidateId}`,
    reversals: [{ candidateId, seqId: spam.seqId, title: 'Spam', action: 'remove', conflicts: false, warnings: [] }],
    kept: [],
  })
  expect((await approve(candidateId)).status).toBe(200)
  const read = await request('GET', `/api/v1/neurons/handbook/${spam.seqId}`, { as: tokens.curator })
  expect(read.status).toBe(404)
})

test('undo of a key takes back the pages of the files that it uploaded', async () => {
  const { ctx, request, tokens, newKey, kbId } = await startProduct()
  onTestFinished(await startIngest(ctx, ingestSteps(ctx), { onError: () => {} }))
  const since = ctx.now().toISOString()
  const kb = '/api/v1/knowledge-bases/handbook'
  const upload = async (as: string, name: string) => {
    const body = new FormData()
    body.set('file', new Blob([`# ${name}\n\nAll about ${name}.`]), `${name}.md`)
    const { body: sent } = await request('POST', `${kb}/documents/upload`, { as, body })
    await eventually(async () => expect((await ctx.sources.get(String(sent.id)))?.status).toBe('success'))
    return String(sent.id)
  }
  const archived = await upload(tokens.app, 'Otters')
  await upload(tokens.app, 'Beavers')
  await upload(await newKey('acme', 'app'), 'Badgers')
  expect((await request('DELETE', `/api/v1/documents/${archived}`, { as: tokens.curator })).status).toBe(204)
  const uploader = (await ctx.sources.get(archived))?.uploader.id.replace('key:', '')
  const body = { by: 'key', writer: uploader, since }
  const answer = UndoAnswer.parse((await request('POST', `${kb}/undo`, { as: tokens.curator, body })).body)
  expect(answer.reversals.map(({ title, action }) => [title, action]).sort()).toEqual([
    ['Beavers', 'remove'],
    ['Otters', 'remove'],
  ])
  expect(answer.kbId).toBe(kbId)
})
