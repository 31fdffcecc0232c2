import { type ExpressionBuilder, type Kysely, sql, type Transaction } from 'kysely'
import { Notifications } from './database/notifications.ts'
import { timeAfter } from './database/row-values.ts'
import type { RowOf, Schema } from './database/schema.ts'
import { deleteRows, findRow, isPostgres, Store, updateRows } from './database/store.ts'
import { inOpenTransaction } from './database/transaction.ts'
import { servedKbs } from './lifecycle.ts'

/** A Source that is to be ingested. */
export type NewJob = { documentId: string; tenantId: string; kbId: string }

/** A job, leased to one owner. */
export type Job = NewJob & {
  owner: string
  /** Number of starts, this one included. */
  starts: number
  /** Number of failures that another attempt may not repeat. */
  failures: number
}

/** Callbacks of a runner of jobs. */
export type JobListener = { onWaiting: () => void; onCancelled: (documentId: string) => void }

/** Longer than any lease and any back-off, in milliseconds: a time further off was written by a clock that was set back since. */
const farOff = 5 * 60_000

const jobOf = ['document_id as documentId', 'tenant_id as tenantId', 'kb_id as kbId', 'starts', 'failures'] as const

/**
 * Queue of ingests, with a row for each that waits or runs. A runner holds a lease, which others may
 * take over once it ends: a job runs at least once. Its methods also run {@link inOpenTransaction} a transaction.
 *
 * Knowledge bases take turns by start-time fair queueing (Goyal, Vin, Cheng 1996): the next job of a knowledge base gets the tag
 * after its last one's, but none before the first that waits now; the lowest tag is first. Of one document, the oldest edition that has
 * a job is first, since each edition continues the one before: the next one cannot be claimed until that job is over.
 */
export class Jobs extends Store {
  readonly #notifications: Notifications

  constructor(db: Kysely<Schema>, notifications = new Notifications()) {
    super(db)
    this.#notifications = notifications
  }

  /** The same queue within a transaction. */
  inTransaction(transaction: Transaction<Schema>): Jobs {
    return new Jobs(transaction, this.#notifications)
  }

  /** @returns false where the Source has a job already. */
  enqueue(job: NewJob, now: Date): Promise<boolean> {
    return inOpenTransaction(this.db, async (transaction) => {
      const isNew = await insertJob(transaction, job, now)
      if (isNew) await this.wake(transaction)
      return isNew
    })
  }

  /** Whether a Source waits for its ingest, or is being ingested. */
  async has(documentId: string): Promise<boolean> {
    return (await findRow(this.db, 'jobs', { document_id: documentId })) !== undefined
  }

  /** Leases the next job that is due, or whose lease has ended; none of `except`. Undefined where there is none. */
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
          // Concurrent claims skip each other's rows.
          .$if(isPostgres(this.db), (query) => query.forUpdate('jobs').skipLocked()),
      )
      .returning(jobOf)
      .executeTakeFirst()
    return row && { ...row, owner }
  }

  /** Holds an owner's leases of some documents' jobs for longer. @returns those that it still has. */
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

  /** Ends a job, successful or not. @returns false if the owner has lost it: then its result must not be used. */
  async complete({ documentId, owner }: Job): Promise<boolean> {
    return (await deleteRows(this.db, 'jobs', { document_id: documentId, owner })) === 1
  }

  /** Puts a job that has failed back, to be tried again later. @returns as {@link complete} does. */
  async retry(job: Job, dueAt: Date): Promise<boolean> {
    return this.#release(job, { due_at: dueAt.toISOString(), failures: job.failures + 1 })
  }

  /** Gives back a job that was not finished for no fault of its own. @param dueAt at once without it. @returns as {@link complete} does. */
  async release(job: Job, dueAt?: Date): Promise<boolean> {
    return this.#release(job, { starts: job.starts - 1, ...(dueAt && { due_at: dueAt.toISOString() }) })
  }

  /** Ends the job of a Source, also one that runs. @returns false where it has none. */
  cancel(documentId: string): Promise<boolean> {
    return inOpenTransaction(this.db, async (transaction) => {
      const isCancelled = (await deleteRows(transaction, 'jobs', { document_id: documentId })) === 1
      await this.#notifications.send(transaction, 'job-cancelled', documentId)
      if (isCancelled) await this.wake(transaction) // the next edition may have waited for it
      return isCancelled
    })
  }

  /** Frees the jobs of all owners: for a process that has the state for itself, when it starts. */
  async recover(): Promise<void> {
    await this.db.updateTable('jobs').set({ owner: null, leased_until: null }).where('owner', 'is not', null).execute()
  }

  /**
   * Returns when the next job that waits, or is leased to another owner, may be claimed; undefined if there is none. An edition whose turn comes
   * with the end of another one is left out: who ends that claims the next.
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

  /** Returns the number of jobs by state, and since when the job that has been due longest waits. */
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

  /** @returns how to stop listening. A cancelling that is missed is noticed by {@link heartbeat}. */
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

/** Whether no older edition of a job's document has one. */
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
