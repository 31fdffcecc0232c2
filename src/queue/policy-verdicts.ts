import { setTimeout as delay } from 'node:timers/promises'
import { GanglionError } from '../contract/errors.ts'
import { type Context, onePer } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate, firstUnfinished, type Unfinished } from '../kb/projection/candidate-index.ts'
import { runUnlessRunning } from '../state/database/engines/advisory-lock.ts'
import { isPostgres } from '../state/database/store.ts'
import { KeyedLock } from '../system/concurrency/keyed-lock.ts'
import { inUse } from '../system/concurrency/present-work.ts'
import { withTimeout } from '../system/concurrency/with-timeout.ts'
import { approveTested, leaveToCurator } from './policy-approval.ts'

/** Maximum milliseconds that a submission waits for the verdict. */
const patienceMs = 2_000
/** Milliseconds before the first retry after an error, and maximum before later ones. */
const [firstPauseMs, longestPauseMs] = [1_000, 60_000]

export const policyVerdicts = onePer((kb: KnowledgeBase, ctx: Context) => new PolicyVerdicts(kb, ctx))

/** Each verdict holds a connection, so a process with PostgreSQL decides for one knowledge base at a time. */
const connections = new KeyedLock()

/**
 * Decides, in the background, the candidates of an open knowledge base that the policy approves once their answer tests have run. They are
 * derived from the queue: pending candidates whose record has the policy's approval. So a restart or another node continues. They are
 * tested one at a time, since each approval moves main; senders take turns.
 */
class PolicyVerdicts {
  readonly #kb: KnowledgeBase
  readonly #ctx: Context
  readonly #closing = new AbortController()
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()
  #isDue = false
  #background: Promise<void> | undefined

  constructor(kb: KnowledgeBase, ctx: Context) {
    this.#kb = kb
    this.#ctx = ctx
  }

  followSoon(): void {
    this.#isDue = true
    this.#background ??= this.#followWhileDue()
  }

  /** Waits at most two seconds for the verdict on a candidate. Returns at once if the policy does not approve it. */
  async settled(id: string, patience = patienceMs): Promise<void> {
    const row = findCandidate(this.#kb.projection.read, id)
    if (row?.status !== 'pending' || !row.approvedByPolicy) return
    const decided = this.#waiting.getOrInsertComputed(id, () => Promise.withResolvers())
    this.followSoon()
    await withTimeout(patience, decided.promise, () => {})
    this.#waiting.delete(id)
  }

  /** Stops without a verdict on the candidate in progress. */
  close(): void {
    this.#closing.abort()
    for (const { resolve } of this.#waiting.values()) resolve()
  }

  async #followWhileDue(): Promise<void> {
    const { signal } = this.#closing
    for (let pause = firstPauseMs; this.#isDue && !signal.aborted; ) {
      this.#isDue = false
      if (await this.#follow().catch((error) => this.#failed(error))) continue
      this.#isDue = true
      await delay(pause, undefined, { signal, ref: false }).catch(() => {})
      pause = Math.min(2 * pause, longestPauseMs)
    }
    this.#background = undefined
  }

  /** Decides the unfinished candidates. @returns false if some are left */
  #follow(): Promise<boolean> {
    const { identity, projection } = this.#kb
    if (firstUnfinished(projection.read).length === 0) return Promise.resolve(true)
    return inUse(async () => {
      await this.#ctx.kb(identity.tenantId, identity.id) // Keeps the knowledge base open until all is decided.
      const failed = new Set<string>()
      const served = new Map<string, number>()
      for (let turn = 1; !this.#closing.signal.aborted; turn++) {
        const next = await this.#next(failed, served)
        if (next === undefined) return failed.size === 0
        served.set(next.sender, turn)
        if (!(await this.#decideAlone(next, failed))) return false
      }
      return true
    })
  }

  /** Returns the first candidate of the sender that has waited longest. */
  async #next(failed: ReadonlySet<string>, served: ReadonlyMap<string, number>): Promise<Unfinished | undefined> {
    const turnOf = ({ sender }: Unfinished) => served.get(sender) ?? 0
    const first = firstUnfinished(this.#kb.projection.read, [...failed])
    for (const candidate of first.toSorted((a, b) => turnOf(a) - turnOf(b))) {
      // A Source's pages are tested together by its ingest job.
      if (candidate.source === undefined || !(await this.#ctx.jobs.has(candidate.source))) return candidate
    }
    return undefined
  }

  /** Decides a candidate. @returns false if another node decides instead */
  #decideAlone(candidate: Unfinished, failed: Set<string>): Promise<boolean> {
    const { db } = this.#ctx.database
    const decide = async () => {
      await this.#decide(candidate).catch((error) => {
        if (!this.#failed(error)) failed.add(candidate.id)
      })
      this.#waiting.get(candidate.id)?.resolve()
      return true
    }
    if (!isPostgres(db)) return decide()
    const name = `verdicts ${this.#kb.identity.id}`
    return connections.run('', async () => (await runUnlessRunning(db, name, decide)) ?? false)
  }

  async #decide({ id, source }: Unfinished): Promise<void> {
    if (source === undefined) return approveTested(this.#ctx, this.#kb, id)
    const reason = 'the ingest of its Source ended before its answer tests were run'
    await this.#kb.write((staging) => leaveToCurator(this.#kb, staging, id, { reason }, this.#ctx.now()))
  }

  /** Handles a failure. @returns true if there is nothing to retry: work continues when the knowledge base is opened or served again */
  #failed(error: unknown): boolean {
    if (this.#closing.signal.aborted) return true
    if (error instanceof GanglionError && error.code === 'not_found') return true
    this.#ctx.onError(error)
    return false
  }
}
