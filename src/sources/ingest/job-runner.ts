import { v7 as uuidv7 } from 'uuid'
import type { Context } from '../../kb/context.ts'
import type { Job, Jobs } from '../../state/jobs.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { observed } from '../../system/work.ts'
import { type IngestOptions, type IngestSteps, ingestSource } from './ingest-source.ts'

export type JobRunnerOptions = {
  /** Name of this process in its leases. */
  owner: string
  now: () => Date
  onError: (error: unknown) => void
  /** Maximum number of jobs that run at once. */
  concurrency?: number
  leaseMs?: number
  /** Milliseconds between two extensions of the leases. */
  heartbeatMs?: number
}

/** Reason why a job's signal is aborted. */
export type JobEnd = 'stopping' | 'cancelled' | 'lost'

/** Maximum milliseconds of a timer, after which a clock that was set is noticed. */
const longestWaitMs = 60_000

/**
 * Runs the jobs of a queue, some at a time, when they arrive or become due. The work ends its job itself. A job whose work throws is run
 * again once its lease has expired.
 */
export class JobRunner {
  readonly #jobs: Jobs
  readonly #work: (job: Job, signal: AbortSignal) => Promise<void>
  readonly #options: Required<JobRunnerOptions>
  readonly #running = new Map<string, { done: Promise<void>; ending: AbortController }>()
  #isStopping = false
  #waiting = Promise.withResolvers<void>()

  /** Creates a runner. @param work gets a signal that is aborted with a {@link JobEnd} */
  constructor(jobs: Jobs, work: (job: Job, signal: AbortSignal) => Promise<void>, options: JobRunnerOptions) {
    this.#jobs = jobs
    this.#work = work
    this.#options = { concurrency: 2, leaseMs: 30_000, heartbeatMs: 10_000, ...options }
  }

  /** Starts the runner. @returns a function that asks running work to end, and waits for it */
  start(): () => Promise<void> {
    const stopListening = this.#jobs.listen({
      onWaiting: () => this.#waiting.resolve(),
      onCancelled: (documentId) => this.#end(documentId, 'cancelled'),
    })
    const looping = this.#loop()
    const heartbeat = setInterval(() => this.#heartbeat().catch(this.#options.onError), this.#options.heartbeatMs)
    return async () => {
      this.#isStopping = true
      this.#waiting.resolve()
      for (const documentId of this.#running.keys()) this.#end(documentId, 'stopping')
      await looping
      await Promise.all([...this.#running.values()].map(({ done }) => done))
      clearInterval(heartbeat)
      stopListening()
    }
  }

  async #loop(): Promise<void> {
    while (!this.#isStopping) {
      this.#waiting = Promise.withResolvers()
      const wait = await this.#fill().catch((error) => {
        this.#options.onError(error)
        return this.#options.heartbeatMs // the disk may be full
      })
      const timer = setTimeout(() => this.#waiting.resolve(), wait)
      await this.#waiting.promise
      clearTimeout(timer)
    }
  }

  /** Claims jobs that are due. @returns milliseconds until the next one may be due */
  async #fill(): Promise<number> {
    const { owner, now, leaseMs, concurrency } = this.#options
    while (!this.#isStopping && this.#running.size < concurrency) {
      const job = await this.#jobs.claim(owner, { now: now(), leaseMs, except: [...this.#running.keys()] })
      if (job !== undefined) this.#run(job)
      else {
        const due = await this.#jobs.nextDue(owner)
        return Math.min(longestWaitMs, Math.max(0, (due?.getTime() ?? Number.POSITIVE_INFINITY) - now().getTime()) + 1)
      }
    }
    return longestWaitMs
  }

  #run(job: Job): void {
    const ending = new AbortController()
    const { documentId, kbId } = job
    const attributes = { 'ganglion.kb': kbId, 'ganglion.source': documentId }
    const work = { kind: 'job', name: 'ingest', attributes } as const
    const done = inUse(() => observed(work, () => this.#work(job, ending.signal)))
      .catch(this.#options.onError)
      .finally(() => {
        this.#running.delete(job.documentId)
        this.#waiting.resolve()
      })
    this.#running.set(job.documentId, { done, ending })
    if (this.#isStopping) this.#end(job.documentId, 'stopping')
  }

  #end(documentId: string, reason: JobEnd): void {
    this.#running.get(documentId)?.ending.abort(reason)
  }

  async #heartbeat(): Promise<void> {
    if (this.#running.size === 0) return
    const asked = [...this.#running.keys()]
    const { owner, now, leaseMs } = this.#options
    const held = new Set(await this.#jobs.heartbeat(owner, { now: now(), leaseMs, documentIds: asked }))
    for (const documentId of asked.filter((id) => !held.has(id))) this.#end(documentId, 'lost')
  }
}

type Options = IngestOptions & Pick<JobRunnerOptions, 'concurrency' | 'heartbeatMs'>

/**
 * Ingests Sources as they arrive, and those that another process left unfinished. This process must own the data directory.
 * @returns a function that stops it, and puts running jobs back
 */
export async function startIngest(ctx: Context, steps: IngestSteps, options: Options): Promise<() => Promise<void>> {
  // With a shared database other nodes may run jobs, whose leases expire by themselves.
  if (ctx.databaseAddress === undefined) await ctx.jobs.recover()
  for (const { id: documentId, tenantId, kbId } of await ctx.sources.unfinished()) {
    await ctx.jobs.enqueue({ documentId, tenantId, kbId }, ctx.now())
  }
  const work = ingestSource(ctx, steps, options)
  return new JobRunner(ctx.jobs, work, { owner: uuidv7(), now: ctx.now, ...options }).start()
}
