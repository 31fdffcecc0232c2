import type { Transaction } from 'kysely'
import { type SourceStatus, unreadStatus } from '../../contract/documents.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import type { EventData, EventKind, IngestStage } from '../../contract/events.ts'
import type { Context } from '../../kb/context.ts'
import { refusalFor } from '../../kb/failure.ts'
import type { Schema } from '../../state/database/schema.ts'
import { inTransaction } from '../../state/database/transaction.ts'
import type { Job, Jobs } from '../../state/jobs.ts'
import type { Source } from '../../state/sources/source.ts'
import type { SourceChange } from '../../state/sources/sources.ts'
import type { CompiledPage } from '../compile/compiled.ts'
import { type Extracted, ExtractionError, type OnProgress } from '../extracted.ts'

export type StepContext = {
  /** Aborts when nobody wants the result any more. */
  signal: AbortSignal
  /** Reports how much of the step's work is done, and how much there is. */
  onProgress: OnProgress
}

/** Steps of an ingest. Each is idempotent: it may be repeated after any interruption, with the same result. */
export type IngestSteps = {
  extract: (source: Source, context: StepContext) => Promise<Extracted>
  compile: (source: Source, extracted: Extracted, context: StepContext) => Promise<Compilation>
  commit: (source: Source, pages: CompiledPage[], context: StepContext) => Promise<IngestResult>
}

/** Compiled pages. `warnings`: messages for people on what the pages lack, or how they were made. */
export type Compilation = { pages: CompiledPage[]; warnings: readonly string[] }

/** Result of an ingest. `seqIds`: Neurons of the Source on main; `pending`: number of candidates that wait for a curator. */
export type IngestResult = {
  seqIds: readonly string[]
  pending: number
  commit: string | undefined
  warnings: readonly string[]
}

export type IngestOptions = {
  onError: (error: unknown) => void
  /** Milliseconds that a lease lasts; see `JobRunner`. */
  leaseMs?: number
  /** Milliseconds until the second attempt; the third waits four times as long. */
  retryMs?: number
}

const unfinished = ['pending', 'ready', 'processing'] as const
const maxFailures = 3
/** Multiple of the first pause during an outage of a part of the server, which may last for days. */
const outagePauses = 4
/** Maximum number of times that a job is started: one that never ends probably crashes the server. */
const maxStarts = 10

/**
 * Returns a worker that brings a Source from its present status to `success` or `failed`, and ends its job. A change of status, its event
 * and its effect on the job are written in one transaction.
 */
export function ingestSource(ctx: Context, steps: IngestSteps, options: IngestOptions) {
  return (job: Job, signal: AbortSignal): Promise<void> => new Run(ctx, steps, options, job, signal).run()
}

class Run {
  readonly #ctx: Context
  readonly #steps: IngestSteps
  readonly #options: Required<IngestOptions>
  readonly #job: Job
  readonly #signal: AbortSignal
  #telling = Promise.resolve()
  readonly #progress = progressReporter((progress) => this.#tellSoon('ingest.progress', progress))
  #stage: IngestStage = 'extracting'
  /** Status of the Source while it waits. */
  #waits: 'pending' | 'ready' = 'ready'
  /** Warnings of the steps so far. */
  #warnings: string[] = []

  constructor(ctx: Context, steps: IngestSteps, options: IngestOptions, job: Job, signal: AbortSignal) {
    this.#ctx = ctx
    this.#steps = steps
    this.#options = { leaseMs: 30_000, retryMs: 5_000, ...options }
    this.#job = job
    this.#signal = signal
  }

  async run(): Promise<void> {
    const source = await this.#ctx.sources.find(this.#job.tenantId, this.#job.documentId)
    try {
      const isOver = source?.archivedAt !== null || source.status === 'success' || source.status === 'failed'
      if (source === undefined || isOver) await this.#ctx.jobs.complete(this.#job)
      else if (this.#job.starts > maxStarts)
        await this.#finish('failed', { error: `The server ended ${maxStarts} times while it was being ingested.` })
      else await this.#ingest(source)
    } catch (error) {
      await this.#fail(error)
    } finally {
      await this.#telling
    }
  }

  async #ingest(source: Source): Promise<void> {
    const context = { signal: this.#signal, onProgress: this.#progress.show }
    this.#waits = unreadStatus(source.fileType)
    const extract = () => {
      this.#begin('extracting')
      return this.#steps.extract(source, context)
    }
    let extracted: Extracted | undefined
    if (source.status === 'pending') {
      extracted = await extract()
      const extractedAt = this.#ctx.now().toISOString()
      if (!(await this.#move('pending', { status: 'ready', extractedAt }))) return
    }
    if (source.status !== 'processing') {
      // An ingest that continues after it was put back is not announced again.
      const isBegun = source.attempt > 0
      const change = { status: 'processing', attempt: Math.max(1, source.attempt) } as const
      if (!(await this.#move('ready', change, isBegun ? undefined : 'ingest.started'))) return
    }
    const text = extracted ?? (await extract())
    this.#waits = 'ready'
    this.#warnings.push(...text.warnings)
    await this.#compile(source, text, context)
  }

  async #compile(source: Source, extracted: Extracted, context: StepContext): Promise<void> {
    this.#begin('compiling')
    const { pages, warnings } = await this.#steps.compile(source, extracted, context)
    this.#warnings.push(...warnings)
    this.#begin('committing')
    const committed = await this.#steps.commit(source, pages, context)
    const { seqIds, pending, commit } = committed
    this.#warnings.push(...committed.warnings)
    await this.#finish('success', { neurons: seqIds.length, pending, ...(commit === undefined ? {} : { commit }) })
  }

  #begin(stage: IngestStage): void {
    this.#signal.throwIfAborted()
    this.#stage = stage
    this.#progress.begin(stage)
  }

  async #fail(error: unknown): Promise<void> {
    const { now } = this.#ctx
    if (this.#signal.aborted) {
      if (this.#signal.reason === 'stopping') await this.#putBack((jobs) => jobs.release(this.#job))
      return
    }
    const message = messageOf(error)
    if (message === undefined || isCrash(error)) this.#options.onError(error)
    const { failures } = this.#job
    // The jitter keeps jobs that failed together from being retried together.
    const after = (pauses: number) =>
      new Date(now().getTime() + this.#options.retryMs * pauses * (0.75 + Math.random() / 2))
    if (isOutage(error)) await this.#putBack((jobs) => jobs.release(this.#job, after(outagePauses)))
    else if (isPermanent(error) || failures + 1 >= maxFailures)
      await this.#finish('failed', { error: message ?? `Something went wrong while ${this.#stage}; try again.` })
    else await this.#putBack((jobs) => jobs.retry(this.#job, after(4 ** failures)))
  }

  /** Puts the job back into the queue. Its Source is shown as waiting, and may be archived. */
  async #putBack(put: (jobs: Jobs) => Promise<boolean>): Promise<void> {
    await this.#telling
    await this.#write(async (db) => {
      if (!(await put(this.#ctx.jobs.inTransaction(db)))) return
      await this.#ctx.sources.change(this.#job.documentId, ['processing'], { status: this.#waits }, db)
    })
  }

  /** Ends the job. Does nothing if another owner has it by now. */
  async #finish(status: 'success' | 'failed', data: EventData): Promise<void> {
    await this.#telling
    await this.#write(async (db) => {
      if (!(await this.#ctx.jobs.inTransaction(db).complete(this.#job))) return
      const change = { status, errorMessage: data.error ?? null, warnings: [...new Set(this.#warnings)] }
      const isSet = await this.#ctx.sources.change(this.#job.documentId, unfinished, change, db)
      if (isSet)
        await this.#insert(db, status === 'success' ? 'ingest.completed' : 'ingest.failed', { ...data, status })
    })
  }

  /** Changes the status of the Source. @returns false if the Source or its job has changed: the job is released then */
  async #move(from: SourceStatus, change: SourceChange, kind?: EventKind): Promise<boolean> {
    await this.#telling
    const isMoved = await this.#write(async (db) => {
      const { documentId, owner } = this.#job
      const lease = { now: this.#ctx.now(), leaseMs: this.#options.leaseMs, documentIds: [documentId] }
      const isHeld = (await this.#ctx.jobs.inTransaction(db).heartbeat(owner, lease)).length > 0
      if (!isHeld || !(await this.#ctx.sources.change(documentId, [from], change, db))) return false
      if (kind !== undefined) await this.#insert(db, kind, { status: 'processing' })
      return true
    })
    if (!isMoved) await this.#ctx.jobs.release(this.#job)
    return isMoved
  }

  async #write<Result>(work: (db: Transaction<Schema>) => Promise<Result>): Promise<Result> {
    return inTransaction(this.#ctx.database.db, work, 'read committed')
  }

  #insert(db: Transaction<Schema>, kind: EventKind, data: EventData): Promise<void> {
    return insertIngestEvent(this.#ctx, db, this.#job, kind, data)
  }

  #tellSoon(kind: EventKind, data: EventData): void {
    const tell = () => this.#write((db) => this.#insert(db, kind, data))
    this.#telling = this.#telling.then(tell).catch(this.#options.onError)
  }
}

export async function insertIngestEvent(
  { events, now }: Context,
  db: Transaction<Schema>,
  { tenantId, kbId, documentId }: Pick<Job, 'tenantId' | 'kbId' | 'documentId'>,
  kind: EventKind,
  data: EventData,
): Promise<void> {
  const event = { kbId, kind, isCuratorOnly: false, data: { documentId, ...data } }
  await events.insert(db, tenantId, [event], now())
}

/** Returns the message of an error that people may read; undefined if it is for the log only. */
function messageOf(error: unknown): string | undefined {
  return error instanceof ExtractionError || error instanceof GanglionError ? error.message : undefined
}

/** True if a part of the server failed, such as its database, its store or its disk, so that the document is not to blame. */
function isOutage(error: unknown): boolean {
  if (error instanceof ExtractionError) return false
  const { code } = error instanceof GanglionError ? error : refusalFor(error)
  return code === 'unavailable' || code === 'insufficient_storage'
}

function isCrash(error: unknown): boolean {
  return error instanceof ExtractionError && error.problem === 'crashed'
}

function isPermanent(error: unknown): boolean {
  if (error instanceof ExtractionError) return error.problem !== 'starved' && !isCrash(error)
  return error instanceof ValidationError || (error instanceof GanglionError && error.status < 500)
}

export type Progress = { stage: IngestStage; done: number; total: number }

/** Milliseconds between two reports within a stage. */
const intervalMs = 1_000

/**
 * Reports the progress of some work: the start of each stage, and then at most one report a second.
 * @param clock monotonic clock, in milliseconds
 */
export function progressReporter(tell: (progress: Progress) => void, clock: () => number = () => performance.now()) {
  let at: { stage: IngestStage; told: number } | undefined
  return {
    begin: (stage: IngestStage): void => {
      at = { stage, told: clock() }
      tell({ stage, done: 0, total: 0 })
    },
    show: (done: number, total: number): void => {
      const now = clock()
      if (at === undefined || now - at.told < intervalMs) return
      at.told = now
      tell({ stage: at.stage, done, total })
    },
  }
}
