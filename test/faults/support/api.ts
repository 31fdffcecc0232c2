import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Approval, CandidateReceipt } from '../../../src/contract/candidates.ts'
import { kbSlug } from './deployment.ts'
import { type Ledger, type Submission, wordsOf } from './ledger.ts'

export type Answer = { status: number; body: unknown }

const Refusal = z.object({ error: z.string() })

/** Tolerated 5xx responses: none where nothing is broken, any where the test breaks something. */
export type Tolerance = 'no failures' | 'failures'

/** A client of the HTTP interface that writes every acknowledgement down. */
export class Api {
  readonly #url: string
  readonly #token: string
  readonly #ledger: Ledger
  readonly #tolerance: Tolerance

  constructor(url: string, token: string, ledger: Ledger, tolerance: Tolerance = 'no failures') {
    this.#url = url
    this.#token = token
    this.#ledger = ledger
    this.#tolerance = tolerance
  }

  /** The answer, or undefined when the connection broke first. */
  async request(method: 'GET' | 'POST', path: string, body?: unknown, headers = {}): Promise<Answer | undefined> {
    try {
      const response = await fetch(`${this.#url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      })
      return { status: response.status, body: await response.json() }
    } catch {
      return undefined
    }
  }

  /** @returns the receipt of a submission that was acknowledged. */
  async submit(submission: Submission): Promise<CandidateReceipt | undefined> {
    const { idempotencyKey, marker, body } = submission
    const answer = await this.request('POST', '/queue/candidates', body, { 'idempotency-key': idempotencyKey })
    if (answer?.status !== 201) {
      // The work may be done, or be done later by a retry: all that is known is that the retry must not do it twice.
      this.#ledger.cut.push(submission)
      this.#refused('submit', answer, [])
      return undefined
    }
    const receipt = CandidateReceipt.parse(answer.body)
    this.#ledger.candidates.set(receipt.candidateId, marker)
    const { seqId, commit } = receipt
    if (seqId !== undefined && commit !== undefined) {
      this.#ledger.approvals.set(receipt.candidateId, { seqId, commit, marker })
    }
    return receipt
  }

  async approve(candidateId: string): Promise<'done' | 'refused' | 'unknown'> {
    const answer = await this.request('POST', `/queue/candidates/${candidateId}/approve`, {})
    if (answer?.status !== 200) return this.#refused('approve', answer, ['merge_conflict', 'not_pending'])
    const { seqId, commit } = Approval.parse(answer.body)
    const marker = this.#ledger.candidates.get(candidateId) ?? ''
    const before = this.#ledger.approvals.get(candidateId)
    if (before !== undefined && (before.seqId !== seqId || before.commit !== commit)) {
      this.#ledger.unexpected.push(`${candidateId} was approved as ${before.commit}, then as ${commit}`)
    }
    this.#ledger.approvals.set(candidateId, { seqId, commit, marker })
    return 'done'
  }

  async dismiss(candidateId: string): Promise<'done' | 'refused' | 'unknown'> {
    const answer = await this.request('POST', `/queue/candidates/${candidateId}/dismiss`, { reason: 'no' })
    if (answer?.status !== 200) return this.#refused('dismiss', answer, ['not_pending'])
    this.#ledger.dismissals.add(candidateId)
    return 'done'
  }

  async reopen(candidateId: string): Promise<'done' | 'refused' | 'unknown'> {
    this.#ledger.dismissals.delete(candidateId)
    const answer = await this.request('POST', `/queue/candidates/${candidateId}/reopen`, {})
    return answer?.status === 200 ? 'done' : this.#refused('reopen', answer, [])
  }

  #refused(action: string, answer: Answer | undefined, expected: readonly string[]): 'refused' | 'unknown' {
    if (answer === undefined) return 'unknown'
    if (answer.status >= 500 && this.#tolerance === 'failures') {
      this.#ledger.failures++
      return 'unknown'
    }
    const refusal = Refusal.safeParse(answer.body).data?.error
    if (answer.status === 409 && refusal !== undefined && expected.includes(refusal)) return 'refused'
    this.#ledger.unexpected.push(`${action}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return 'unknown'
  }
}

/** A candidate like no other; `confidence` 0.95 is approved by policy, none waits for a curator. */
export function newSubmission({ confidence, target }: { confidence?: number; target?: string } = {}): Submission {
  const marker = randomUUID()
  const body = {
    kb: kbSlug,
    kind: target === undefined ? 'external-feed' : 'user-correction',
    title: `Note ${marker}`,
    content: `${wordsOf(marker)}\n\nSee [[Note ${marker}]] and more.\n`,
    ...(confidence === undefined ? {} : { confidence }),
    ...(target === undefined ? {} : { metadata: JSON.stringify({ targetNeuron: target }) }),
  }
  return { idempotencyKey: randomUUID(), marker, body }
}
