import { onTestFinished } from 'vitest'
import type { CandidateInput } from '../../../src/contract/candidates.ts'
import type { Role } from '../../../src/contract/vocabulary.ts'
import type { Caller } from '../../../src/services/caller.ts'
import { Ganglion } from '../../../src/services/ganglion.ts'
import { createKnowledgeBase } from '../../../src/services/setup/create-kb.ts'
import type { Threads } from '../../../src/services/threads.ts'
import { newState } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'

export type TestBed = {
  ganglion: Ganglion
  dataDir: string
  gitDir: string
  kbId: string
  curator: Caller
  app: Caller
  reader: Caller
  caller: (role: Role, connectors?: string[]) => Caller
  /** Closes everything and opens the same data directory again, as after a restart. */
  reopen: () => Promise<Ganglion>
}

/**
 * A data directory of the running test's own, with the tenant `acme` and its knowledge base `handbook`.
 * @param options.threads others than those that all tests share; own ones without it
 */
export async function newTestBed(options: { threads?: Threads; now?: () => Date } = { threads }): Promise<TestBed> {
  const dataDir = tempDir()
  const state = await newState()
  let ganglion = await Ganglion.open({ dataDir, ...state, ...options })
  onTestFinished(() => ganglion.close())
  const { id: kbId, gitDir } = await createKnowledgeBase(ganglion, { tenant: 'acme', slug: 'handbook' })
  const tenantId = (await ganglion.tenants.find('acme'))?.id ?? ''
  const caller = (role: Role, connectors: string[] = []): Caller => ({
    id: `key:${role}-key`,
    name: `The ${role}`,
    tenantId,
    role,
    connectors,
  })
  const reopen = async () => {
    await ganglion.close()
    ganglion = await Ganglion.open({ dataDir, ...state, ...options })
    return ganglion
  }
  const callers = { curator: caller('curator'), app: caller('app'), reader: caller('reader') }
  return { ganglion, dataDir, gitDir, kbId, ...callers, caller, reopen }
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
