import { type ExpressionBuilder, type Kysely, sql, type Transaction } from 'kysely'
import { Notifications } from './database/notifications.ts'
import { timeAfter } from './database/row-values.ts'
import type { RowOf, Schema } from './database/schema.ts'
import { deleteRows, findRow, isPostgres, Store, updateRows } from './database/store.ts'
import { inOpenTransaction } from './database/transaction.ts'
import { servedKbs } from './lifecycle.ts'

/** Source to be ingested. */
export type NewJob = { documentId: string; tenantId: string; kbId: string }

/** Job that is leased to one owner. */
export type Job = NewJob & {
  owner: string
  /** Number of starts, including the current one. */
  starts: number
  /** Number of failures that may not recur. */
  failures: number
}

/** Callbacks of a runner of jobs. */
export type JobListener = { onWaiting: () => void; onCancelled: (documentId: string) => void }

/** Milliseconds, longer than any lease and any back-off. A time further in the future was written by a clock that was set back since. */
const farOff = 5 * 60_000

const jobOf = ['document_id as documentId', 'tenant_id as tenantId', 'kb_id as kbId', 'starts', 'failures'] as const

/**
 * Queue of ingests, with a row for each job that waits or runs. A runner holds a lease. When it expires, others may claim the job, so a
 * job runs at least once. Its methods also work {@link inOpenTransaction} a transaction.
 *
 * Knowledge bases take turns by start-time fair queueing (Goyal, Vin, Cheng 1996): the next job of a knowledge base gets the tag after
 * its last one's, but none before the first waiting job; the lowest tag is first. Of one document, only the oldest edition with a job
 * can be claimed, since each edition continues the one before.
 */
export class Jobs extends Store {
  readonly #notifications: Notifications

  constructor(db: Kysely<Schema>, notifications = new Notifications()) {
    super(db)
    this.#notifications = notifications
  }

  /** Returns the same queue within a transaction. */
  inTransaction(transaction: Transaction<Schema>): Jobs {
    return new Jobs(transaction, this.#notifications)
  }

  /** Adds a job. @returns false if the Source has one already */
  enqueue(job: NewJob, now: Date): Promise<boolean> {
    return inOpenTransaction(this.db, async (transaction) => {
      const isNew = await insertJob(transaction, job, now)
      if (isNew) await this.wake(transaction)
      return isNew
    })
  }

  /** True if a Source is waiting for its ingest, or is being ingested. */
  async has(documentId: string): Promise<boolean> {
    return (await findRow(this.db, 'jobs', { document_id: documentId })) !== undefined
  }

  /** Leases the next job that is due, or whose lease has expired, except some documents' jobs. Undefined if there is none. */
  async claim(
    owner: string,
    { now, leaseMs, except = [] }: { now: Date; leaseMs: number; except?: readonly string[] },
  ): Promise<Job | undefined> {
    const row = await this.db
      .updateTable('jobs')
      .set(({ eb }) => ({ owner, leased_until: timeAfter(now, leaseMs), starts: eb('starts', '+', 1) }))
      .where('document_id', '=', (where) =>
        where
          .selectFrom('jobs')
          .select('document_id')
          .where(({ eb, or, and }) => {
            const isPast = (column: 'due_at' | 'leased_until') =>
              or([eb(column, '<=', now.toISOString()), eb(column, '>', timeAfter(now, farOff))])
            return or([and([eb('owner', 'is', null), isPast('due_at')]), isPast('leased_until')])
          })
          .where(hasNoOlderEdition)
          .where('kb_id', 'in', servedKbs(this.db))
          .$if(except.length > 0, (query) => query.where('document_id', 'not in', except))
          .orderBy('turn')
          .orderBy('document_id')
          .limit(1)
          // Concurrent claims skip each other's locked rows.
          .$if(isPostgres(this.db), (query) => query.forUpdate('jobs').skipLocked()),
      )
      .returning(jobOf)
      .executeTakeFirst()
    return row && { ...row, owner }
  }

  /** Extends an owner's leases of some documents' jobs. @returns the documents whose leases it still has */
  async heartbeat(
    owner: string,
    { now, leaseMs, documentIds }: { now: Date; leaseMs: number; documentIds: readonly string[] },
  ): Promise<string[]> {
    const rows = await this.db
      .updateTable('jobs')
      .set({ leased_until: timeAfter(now, leaseMs) })
      .where('owner', '=', owner)
      .where('document_id', 'in', documentIds)
      .returning('document_id')
      .execute()
    return rows.map(({ document_id }) => document_id)
  }

  /** Ends a job, successful or not. @returns false if the owner has lost the lease: then its result must not be used */
  async complete({ documentId, owner }: Job): Promise<boolean> {
    return (await deleteRows(this.db, 'jobs', { document_id: documentId, owner })) === 1
  }

  /** Returns a failed job to the queue, for a later attempt. @returns as {@link complete} */
  async retry(job: Job, dueAt: Date): Promise<boolean> {
    return this.#release(job, { due_at: dueAt.toISOString(), failures: job.failures + 1 })
  }

  /** Returns an unfinished job to the queue without counting a failure. @param dueAt absent: at once @returns as {@link complete} */
  async release(job: Job, dueAt?: Date): Promise<boolean> {
    return this.#release(job, { starts: job.starts - 1, ...(dueAt && { due_at: dueAt.toISOString() }) })
  }

  /** Removes the job of a Source, even a running one. @returns false if there is none */
  cancel(documentId: string): Promise<boolean> {
    return inOpenTransaction(this.db, async (transaction) => {
      const isCancelled = (await deleteRows(transaction, 'jobs', { document_id: documentId })) === 1
      await this.#notifications.send(transaction, 'job-cancelled', documentId)
      if (isCancelled) await this.wake(transaction) // The next edition may have waited for it.
      return isCancelled
    })
  }

  /** Releases the leases of all owners. For the start of a process that has the state to itself. */
  async recover(): Promise<void> {
    await this.db.updateTable('jobs').set({ owner: null, leased_until: null }).where('owner', 'is not', null).execute()
  }

  /**
   * Returns when the next job that is waiting, or leased to another owner, may be claimed; undefined if there is none. Ignores editions that
   * wait for an earlier one, since its owner claims the next.
   */
  async nextDue(owner: string): Promise<Date | undefined> {
    const { at } = await this.db
      .selectFrom('jobs')
      .select(({ fn }) => fn.min(sql<string>`coalesce(leased_until, due_at)`).as('at'))
      .where('owner', 'is distinct from', owner)
      .where(hasNoOlderEdition)
      .where('kb_id', 'in', servedKbs(this.db))
      .executeTakeFirstOrThrow()
    return at === null ? undefined : new Date(at)
  }

  /** Returns the number of jobs by state, and the time since which the longest waiting job has been due. */
  async figures(): Promise<{ waiting: number; running: number; retrying: number; dueSince: string | null }> {
    const rows = await this.db
      .selectFrom('jobs')
      .select(({ fn, eb }) => [
        fn.countAll<number>().as('count'),
        fn.min('due_at').as('due'),
        eb('owner', 'is not', null).as('isRunning'),
        eb('failures', '>', 0).as('isRetry'),
      ])
      .groupBy(['isRunning', 'isRetry'])
      .execute()
    const figures = { waiting: 0, running: 0, retrying: 0, dueSince: null as string | null }
    for (const { count, due, isRunning, isRetry } of rows) {
      figures[isRunning ? 'running' : isRetry ? 'retrying' : 'waiting'] += Number(count)
      if (!isRunning && due !== null && due < (figures.dueSince ?? '~')) figures.dueSince = due
    }
    return figures
  }

  /** Notifies runners that a job may be waiting, once the transaction is committed. */
  async wake(db: Kysely<Schema> = this.db): Promise<void> {
    await this.#notifications.send(db, 'job-waiting', '')
  }

  /** Adds a listener. @returns a function that removes it. A missed cancellation is detected by {@link heartbeat}. */
  listen({ onWaiting, onCancelled }: JobListener): () => void {
    const stops = [
      this.#notifications.listen('job-waiting', onWaiting),
      this.#notifications.listen('job-cancelled', (documentId) => documentId !== undefined && onCancelled(documentId)),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  #release({ documentId, owner }: Job, changes: Partial<RowOf<'jobs'>>): Promise<boolean> {
    return inOpenTransaction(this.db, async (transaction) => {
      const freed = { owner: null, leased_until: null, ...changes }
      const isReleased = (await updateRows(transaction, 'jobs', { document_id: documentId, owner }, freed)) === 1
      if (isReleased) await this.wake(transaction)
      return isReleased
    })
  }
}

/** Returns the SQL condition of a job that no older edition of its document has a job. */
function hasNoOlderEdition({ not, exists, selectFrom }: ExpressionBuilder<Schema, 'jobs'>) {
  return not(
    exists(
      selectFrom('sources as own')
        .innerJoin('sources as older', 'older.edition_of', 'own.edition_of')
        .innerJoin('jobs as first', 'first.document_id', 'older.id')
        .select('older.id')
        .whereRef('own.id', '=', 'jobs.document_id')
        .whereRef('older.seq', '<', 'own.seq'),
    ),
  )
}

async function insertJob(db: Transaction<Schema>, { documentId, tenantId, kbId }: NewJob, now: Date): Promise<boolean> {
  const result = await db
    .insertInto('jobs')
    .values({
      ...{ document_id: documentId, tenant_id: tenantId, kb_id: kbId, owner: null, leased_until: null },
      ...{ due_at: now.toISOString(), starts: 0, failures: 0 },
      turn: sql<number>`(select max(tag) from (
        select coalesce((select max(turn) + 1 from jobs where kb_id = ${kbId}), 0) as tag union all
        select coalesce((select min(turn) from jobs where starts = 0), (select max(turn) from jobs), 0)) as tags)`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}
