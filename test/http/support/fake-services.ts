import { v7 as uuidv7 } from 'uuid'
import type { CandidateDetail, CandidateInput } from '../../../src/contract/candidates.ts'
import { GanglionError } from '../../../src/contract/errors.ts'
import type { Neuron } from '../../../src/contract/neurons.ts'
import type { Role } from '../../../src/contract/vocabulary.ts'
import type { Services } from '../../../src/http/services.ts'

const kbId = '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f'
const commit = '3f786850e387550fdab836ed7e6dc881de23001b'

export const neuron: Neuron = {
  seqId: 'handbook_00000042',
  title: 'VIP escalation policy',
  content: 'Page the lead.\n',
  version: 1,
  createdAt: '2026-01-08T09:12:44Z',
  updatedAt: '2026-01-08T09:12:44Z',
  tags: ['policy'],
  links: [{ type: 'supersedes', target: 'handbook_00000007' }],
  documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90',
  path: 'neurons/2026/01/vip-escalation-policy.md',
  commit,
  candidateId: '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70',
}

export type FakeServices = Services & {
  /** What the server handed to `submitCandidate`, in order. */
  submitted: { input: CandidateInput; idempotencyKey: string | undefined }[]
  /** What the server handed to `approveCandidate`, in order. */
  edits: unknown[]
}

/** Services that keep one tenant's candidates in memory; a bearer token is the name of its role. */
export function fakeServices(overrides: Partial<Services> = {}): FakeServices {
  const candidates = new Map<string, CandidateDetail>()
  const find = (id: string): CandidateDetail => {
    const candidate = candidates.get(id)
    if (candidate === undefined) throw new GanglionError('not_found', `Candidate ${id} is not in this tenant.`)
    return candidate
  }
  const fake: FakeServices = {
    submitted: [],
    edits: [],
    async authenticate(token) {
      const roles: readonly Role[] = ['reader', 'app', 'curator']
      const role = roles.find((role) => role === token)
      return role && { keyId: role, name: `the ${role}`, tenantId: 'acme', role, connectors: [] }
    },
    async submitCandidate(caller, input, { idempotencyKey }) {
      fake.submitted.push({ input, idempotencyKey })
      if (input.knowledgeBaseId !== 'handbook') throw new GanglionError('not_found')
      const { kind, title, content, metadata, confidence, impactEstimate } = input
      const candidateId = uuidv7()
      const queueUrl = `/queue/${candidateId}`
      const summary = {
        candidateId,
        kbId,
        kind,
        title,
        status: 'pending',
        connector: 'api',
        confidence,
        queueUrl,
      } as const
      candidates.set(candidateId, {
        ...summary,
        impactEstimate,
        zone: null,
        warnings: [],
        target: null,
        createdAt: new Date().toISOString(),
        createdBy: caller.name,
        content,
        metadata,
        decisions: [],
        before: null,
        after: content,
        diff: `+${content}`,
      })
      return { candidateId, status: 'pending', kbId, queueUrl }
    },
    async approveCandidate(_, candidateId, edit) {
      fake.edits.push(edit)
      const candidate = find(candidateId)
      if (candidate.status === 'dismissed') throw new GanglionError('not_pending')
      candidates.set(candidateId, { ...candidate, status: 'approved', seqId: neuron.seqId, commit })
      return { candidateId, status: 'approved', seqId: neuron.seqId, documentId: neuron.documentId ?? '', commit }
    },
    async dismissCandidate({ name }, candidateId, { reason }) {
      const candidate = find(candidateId)
      if (candidate.status === 'approved') throw new GanglionError('not_pending')
      const decision = { action: 'dismiss', at: new Date().toISOString(), by: name, ...(reason && { reason }) } as const
      candidates.set(candidateId, { ...candidate, status: 'dismissed', decisions: [...candidate.decisions, decision] })
      return { candidateId, status: 'dismissed' }
    },
    async reopenCandidate(_, candidateId) {
      const candidate = find(candidateId)
      if (candidate.status !== 'dismissed') throw new GanglionError('not_dismissed')
      candidates.set(candidateId, { ...candidate, status: 'pending' })
      return { candidateId, status: 'pending' }
    },
    async listCandidates(_, { status, limit }) {
      const all = [...candidates.values()].filter((candidate) => status === undefined || candidate.status === status)
      return { candidates: all.slice(0, limit), nextCursor: all.length > limit ? 'more' : null }
    },
    async getCandidate(_, candidateId) {
      return find(candidateId)
    },
    async readNeuron(_, { kb, seqId, at }) {
      if (kb !== 'handbook' || seqId !== neuron.seqId) throw new GanglionError('not_found')
      return at === undefined ? neuron : { ...neuron, commit: at.padEnd(40, '0') }
    },
    isReady: () => true,
    freeDiskRatio: async () => 0.5,
    ...overrides,
  }
  return fake
}
