import { expect, test } from 'vitest'
import { findCandidate } from '../../src/kb/projection/candidate-index.ts'
import { mainRef } from '../../src/kb/refs/kb-refs.ts'
import { commitToQueue } from '../../src/kb/writing/commits.ts'
import { parseCandidate } from '../../src/markdown/file/candidate-file.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { listCandidates } from '../../src/queue/lists/list-candidates.ts'
import { finishApprovals } from '../../src/queue/policy-approval.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { ingestActor, ingestConnector } from '../../src/rules/candidates/candidate.ts'
import { candidateIdFor } from '../../src/rules/candidates/candidate-id.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { eventually } from '../support/eventually.ts'

const seqId = 'handbook_00000001'

/** A correction that reaches the queue and then, as by a fault of the disk, not main. */
async function cutOff(bed: TestBed): Promise<() => ReturnType<typeof submitCandidate>> {
  const { candidateId } = await submitCandidate(bed.ctx, bed.curator, candidate())
  await approveCandidate(bed.ctx, bed.curator, candidateId, {})
  const { repository } = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const { updateRef } = repository
  repository.updateRef = (ref, ...rest) =>
    ref === mainRef ? Promise.reject(new Error('EIO')) : updateRef.call(repository, ref, ...rest)
  const input = correction(seqId, 'Page the lead at once.', { confidence: 0.95 })
  const key = { tenantId: bed.curator.tenantId, name: 'app', role: 'app' as const, connectors: [], expiresAt: null }
  const { key: app } = await bed.ctx.apiKeys.create(key, bed.ctx.now())
  const caller = { ...bed.app, id: `key:${app.id}` }
  const submit = () => submitCandidate(bed.ctx, caller, input, { idempotencyKey: 'correction' })
  // What is committed is the answer.
  expect(await submit()).toMatchObject({ status: 'pending', warnings: [{ code: 'verdict_pending' }] })
  repository.updateRef = updateRef
  return submit
}

async function changeTarget(bed: TestBed): Promise<void> {
  const other = correction(seqId, 'Page nobody before nine.', { confidence: 0.95 })
  expect((await submitCandidate(bed.ctx, bed.curator, other)).status).toBe('approved')
}

test('a submission that was cut off between queue and main is approved soon, and its answer stays', async () => {
  const bed = await newTestBed()
  const submit = await cutOff(bed)
  const receipt = await submit()
  expect(receipt.status).toBe('pending')
  const neuron = await eventually(async () => {
    expect((await readCandidate(bed.ctx, bed.curator, receipt.candidateId)).status).toBe('approved')
    return readNeuron(bed.ctx, bed.curator, { kb: 'handbook', seqId })
  })
  expect(neuron.content).toBe('Page the lead at once.')
  expect(await submit()).toEqual(receipt)
})

test('when its target has changed meanwhile it waits for a curator, once', async () => {
  const bed = await newTestBed()
  const submit = await cutOff(bed)
  await changeTarget(bed)
  const receipt = await submit()
  expect(receipt.status).toBe('pending')
  expect(await submit()).toEqual(receipt)
  const { candidates } = await listCandidates(bed.ctx, bed.curator, {
    kb: 'handbook',
    status: 'pending',
    limit: 9,
  })
  expect(candidates.map(({ candidateId }) => candidateId)).toEqual([receipt.candidateId])
})

test('and keeps no knowledge base from opening', async () => {
  const bed = await newTestBed()
  await cutOff(bed)
  await changeTarget(bed)
  const ctx = await bed.reopen()
  expect((await readNeuron(ctx, bed.curator, { kb: 'handbook', seqId })).content).toBe('Page nobody before nine.')
})

test('what the policy leaves to a curator waits for one, also once the reason is gone and after a restart', async () => {
  const bed = await newTestBed()
  const content = 'Alpha.\n\nBeta.\n\n%%for us%%'
  const made = await submitCandidate(bed.ctx, bed.curator, candidate({ content, confidence: 1 }))
  const left = await submitCandidate(bed.ctx, bed.app, correction(seqId, 'Alpha.\n\nGamma.', { confidence: 1 }))
  expect([made.status, left.status]).toEqual(['approved', 'pending'])
  const { path } = await readNeuron(bed.ctx, bed.curator, { kb: 'handbook', seqId })
  const native = new NativeWriter(bed.gitDir)
  native.commit(mainRef, new Map([[path, native.read(mainRef, path).replace('\n\n%%for us%%', '')]]))
  const ctx = await bed.reopen()
  expect(await readNeuron(ctx, bed.curator, { kb: 'handbook', seqId })).toMatchObject({
    content: 'Alpha.\n\nBeta.',
  })
  expect(await readCandidate(ctx, bed.curator, left.candidateId)).toMatchObject({ status: 'pending' })
})

test('a page of a Source that was cut off before main is approved, though another Source has its text', async () => {
  const bed = await newTestBed()
  const content =
    'Each duty officer reads the log of the night, signs it, and hands the keys of both rooms to the next officer.'
  const { candidateId } = await submitCandidate(bed.ctx, bed.curator, candidate({ content }))
  await approveCandidate(bed.ctx, bed.curator, candidateId, {})
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const known = parseCandidate(await kb.repository.readText(findCandidate(kb.projection.read, candidateId)?.blob ?? ''))
  const id = candidateIdFor(kb.identity.id)
  const verdict = { approve: true, zone: null, reason: 'an ingest', warnings: [] }
  const record = {
    ...known,
    id,
    createdBy: ingestActor,
    connector: ingestConnector,
    decisions: [],
    verdict,
    title: 'The log',
  }
  await kb.write((staging) =>
    commitToQueue(kb, staging, [record], { by: ingestActor, at: bed.ctx.now(), message: 'Ingest' }),
  )
  await finishApprovals(kb, bed.ctx.now)
  expect((await readCandidate(bed.ctx, bed.curator, id)).status).toBe('approved')
})
