import { onTestFinished } from 'vitest'
import { type ContextOptions, type OpenContext, openContext } from '../../../src/app/open-context.ts'
import type { CandidateInput } from '../../../src/contract/candidates.ts'
import type { Role } from '../../../src/contract/vocabulary.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import type { Threads } from '../../../src/system/threads.ts'
import { newState } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'

export type TestBed = {
  ctx: OpenContext
  dataDir: string
  gitDir: string
  kbId: string
  curator: Caller
  app: Caller
  reader: Caller
  caller: (role: Role, connectors?: string[]) => Caller
  /** Closes everything and opens the same data directory again, as after a restart. */
  reopen: (more?: Partial<ContextOptions>) => Promise<OpenContext>
}

/**
 * A data directory of the running test's own, with the tenant `acme` and its knowledge base `handbook`.
 * @param options.threads others than those that all tests share; own ones without it
 */
export async function newTestBed(
  options: { threads?: Threads; now?: () => Date; publicUrl?: string } = { threads },
): Promise<TestBed> {
  const dataDir = tempDir()
  const state = await newState()
  let ctx = await openContext({ dataDir, ...state, ...options })
  onTestFinished(() => ctx.close())
  const { id: kbId, gitDir } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const caller = (role: Role, connectors: string[] = []): Caller => ({
    id: `key:${role}-key`,
    name: `The ${role}`,
    tenantId,
    role,
    connectors,
  })
  const reopen = async (more: Partial<ContextOptions> = {}) => {
    await ctx.close()
    ctx = await openContext({ dataDir, ...state, ...options, ...more })
    return ctx
  }
  const callers = { curator: caller('curator'), app: caller('app'), reader: caller('reader') }
  return { ctx, dataDir, gitDir, kbId, ...callers, caller, reopen }
}

export function candidate(changes: Partial<CandidateInput> = {}): CandidateInput {
  return {
    knowledgeBaseId: 'handbook',
    kind: 'external-feed',
    title: 'VIP escalation policy',
    content: 'When a VIP customer raises a ticket, page the lead.',
    metadata: null,
    confidence: null,
    impactEstimate: null,
    ...changes,
  }
}

/** A candidate that is meant for a Neuron. */
export function correction(target: string, content: string, changes: Partial<CandidateInput> = {}): CandidateInput {
  return candidate({ kind: 'user-correction', content, metadata: JSON.stringify({ targetNeuron: target }), ...changes })
}
