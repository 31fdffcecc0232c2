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
  return (job: Job, signal: AbortSignal): Promise<void> => ingestOne(ctx, steps, options, job, signal)
}

async function ingestOne(
  ctx: Context,
  steps: IngestSteps,
  { leaseMs = 30_000, retryMs = 5_000, onError }: IngestOptions,
  job: Job,
  signal: AbortSignal,
): Promise<void> {
  let telling = Promise.resolve()
  const progress = progressReporter((progress) => tellSoon('ingest.progress', progress))
  let current: IngestStage = 'extracting'
  /** Status of the Source while it waits. */
  let waits: 'pending' | 'ready' = 'ready'
  /** Warnings of the steps so far. */
  const told: string[] = []

  const source = await ctx.sources.find(job.tenantId, job.documentId)
  try {
    const isOver = source?.archivedAt !== null || source.status === 'success' || source.status === 'failed'
    if (source === undefined || isOver) await ctx.jobs.complete(job)
    else if (job.starts > maxStarts)
      await finish('failed', { error: `The server ended ${maxStarts} times while it was being ingested.` })
    else await ingest(source)
  } catch (error) {
    await fail(error)
  } finally {
    await telling
  }

  async function ingest(source: Source): Promise<void> {
    const context = { signal, onProgress: progress.show }
    waits = unreadStatus(source.fileType)
    const extract = () => {
      begin('extracting')
      return steps.extract(source, context)
    }
    let extracted: Extracted | undefined
    if (source.status === 'pending') {
      extracted = await extract()
      const extractedAt = ctx.now().toISOString()
      if (!(await move('pending', { status: 'ready', extractedAt }))) return
    }
    if (source.status !== 'processing') {
      // An ingest that continues after it was put back is not announced again.
      const isBegun = source.attempt > 0
      const change = { status: 'processing', attempt: Math.max(1, source.attempt) } as const
      if (!(await move('ready', change, isBegun ? undefined : 'ingest.started'))) return
    }
    const text = extracted ?? (await extract())
    waits = 'ready'
    told.push(...text.warnings)
    await compile(source, text, context)
  }

  async function compile(source: Source, extracted: Extracted, context: StepContext): Promise<void> {
    begin('compiling')
    const { pages, warnings } = await steps.compile(source, extracted, context)
    told.push(...warnings)
    begin('committing')
    const committed = await steps.commit(source, pages, context)
    const { seqIds, pending, commit } = committed
    told.push(...committed.warnings)
    await finish('success', { neurons: seqIds.length, pending, ...(commit === undefined ? {} : { commit }) })
  }

  function begin(stage: IngestStage): void {
    signal.throwIfAborted()
    current = stage
    progress.begin(stage)
  }

  async function fail(error: unknown): Promise<void> {
    const { now } = ctx
    if (signal.aborted) {
      if (signal.reason === 'stopping') await putBack((jobs) => jobs.release(job))
      return
    }
    const message = messageOf(error)
    if (message === undefined || isCrash(error)) onError(error)
    const { failures } = job
    // The jitter keeps jobs that failed together from being retried together.
    const after = (pauses: number) => new Date(now().getTime() + retryMs * pauses * (0.75 + Math.random() / 2))
    if (isOutage(error)) await putBack((jobs) => jobs.release(job, after(outagePauses)))
    else if (isPermanent(error) || failures + 1 >= maxFailures)
      await finish('failed', { error: message ?? `Something went wrong while ${current}; try again.` })
    else await putBack((jobs) => jobs.retry(job, after(4 ** failures)))
  }

  /** Puts the job back into the queue. Its Source is shown as waiting, and may be archived. */
  async function putBack(put: (jobs: Jobs) => Promise<boolean>): Promise<void> {
    await telling
    await write(async (db) => {
      if (!(await put(ctx.jobs.inTransaction(db)))) return
      await ctx.sources.change(job.documentId, ['processing'], { status: waits }, db)
    })
  }

  /** Ends the job. Does nothing if another owner has it by now. */
  async function finish(status: 'success' | 'failed', data: EventData): Promise<void> {
    await telling
    await write(async (db) => {
      if (!(await ctx.jobs.inTransaction(db).complete(job))) return
      const change = { status, errorMessage: data.error ?? null, warnings: [...new Set(told)] }
      const isSet = await ctx.sources.change(job.documentId, unfinished, change, db)
      if (isSet) await insert(db, status === 'success' ? 'ingest.completed' : 'ingest.failed', { ...data, status })
    })
  }

  /** Changes the status of the Source. @returns false if the Source or its job has changed: the job is released then */
  async function move(from: SourceStatus, change: SourceChange, kind?: EventKind): Promise<boolean> {
    await telling
    const isMoved = await write(async (db) => {
      const { documentId, owner } = job
      const lease = { now: ctx.now(), leaseMs, documentIds: [documentId] }
      const isHeld = (await ctx.jobs.inTransaction(db).heartbeat(owner, lease)).length > 0
      if (!isHeld || !(await ctx.sources.change(documentId, [from], change, db))) return false
      if (kind !== undefined) await insert(db, kind, { status: 'processing' })
      return true
    })
    if (!isMoved) await ctx.jobs.release(job)
    return isMoved
  }

  async function write<Result>(work: (db: Transaction<Schema>) => Promise<Result>): Promise<Result> {
    return inTransaction(ctx.database.db, work, 'read committed')
  }

  function insert(db: Transaction<Schema>, kind: EventKind, data: EventData): Promise<void> {
    return insertIngestEvent(ctx, db, job, kind, data)
  }

  function tellSoon(kind: EventKind, data: EventData): void {
    const tell = () => write((db) => insert(db, kind, data))
    telling = telling.then(tell).catch(onError)
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
