import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type OpenContext, openContext } from '../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { listCandidates } from '../../src/queue/lists/list-candidates.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { candidate, correction } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { tempDir } from '../support/temp.ts'
import { audit } from './support/audit.ts'
import { Ledger } from './support/ledger.ts'

const hour = 3_600_000
const start = Date.parse('2026-05-01T12:00:00Z')

/** Offsets of the clock, in hours: set back, set forward, and back by years. */
const offsets = [0, 1, -1, 5, -30, 2, -30, 24 * 400, 0, -24 * 800, 3, -2]

test('a clock that is set back and forth between approvals changes no number, no order and no answer', async () => {
  const dataDir = tempDir()
  let now = start
  let ctx = await openContext({ dataDir, now: () => new Date(now) })
  const { gitDir, id } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const caller = await curatorOf(ctx)
  const ledger = new Ledger()

  for (const [index, offset] of offsets.entries()) {
    now = start + offset * hour
    const marker = `marker-${index}`
    const content = `The first line of ${marker}.`
    const { candidateId } = await submitCandidate(ctx, caller, candidate({ title: `Note ${marker}`, content }))
    const { seqId, commit } = await approveCandidate(ctx, caller, candidateId, {})
    expect(seqId).toBe(`handbook_${String(index + 1).padStart(8, '0')}`)
    ledger.candidates.set(candidateId, marker)
    ledger.approvals.set(candidateId, { seqId, commit, marker })
    const changed = await submitCandidate(
      ctx,
      caller,
      correction('handbook_00000001', `Version ${index + 2}.`, { confidence: 0.9 }),
    )
    expect(changed.status).toBe('approved')
    expect(await readNeuron(ctx, caller, { kb: 'handbook', seqId: 'handbook_00000001' })).toMatchObject({
      version: index + 2,
      content: expect.stringContaining(`Version ${index + 2}.`),
    })
  }
  expect(await audit(gitDir, ledger)).toEqual([])

  const before = await answers(ctx, caller)
  await ctx.close()
  rmSync(join(dataDir, 'index', id), { recursive: true })
  ctx = await openContext({ dataDir, now: () => new Date(now) })
  expect(await answers(ctx, caller)).toEqual(before)
  expect(readdirSync(join(dataDir, 'index', id))).toContain('knowledge.db')
  await ctx.close()
})

test('a clock that is set back lets no idempotency key make a second candidate', async () => {
  let now = start
  const ctx = await openContext({ dataDir: tempDir(), now: () => new Date(now) })
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const caller = await curatorOf(ctx)
  const submit = () => submitCandidate(ctx, caller, candidate(), { idempotencyKey: 'once' })
  const first = await submit()
  now -= 48 * hour
  expect(await submit()).toEqual(first)
  expect((await listCandidates(ctx, caller, { kb: 'handbook', limit: 100 })).candidates).toHaveLength(1)
  await ctx.close()
})

async function curatorOf(ctx: OpenContext): Promise<Caller> {
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const key = { tenantId, name: 'The curator', role: 'curator', connectors: [] } as const
  const made = await ctx.apiKeys.create({ ...key, connectors: [], expiresAt: null }, ctx.now())
  return { ...key, id: `key:${made.key.id}` }
}

/** Every Neuron and the queue, as the API answers them. */
async function answers(ctx: OpenContext, caller: Caller): Promise<unknown[]> {
  const { candidates } = await listCandidates(ctx, caller, { kb: 'handbook', limit: 100 })
  const seqIds = offsets.map((_, index) => `handbook_${String(index + 1).padStart(8, '0')}`)
  return [candidates, ...(await Promise.all(seqIds.map((seqId) => readNeuron(ctx, caller, { kb: 'handbook', seqId }))))]
}
