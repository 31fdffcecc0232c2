import type { Transaction } from 'kysely'
import type { SourceStatus } from '../../contract/documents.ts'
import { GanglionError } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { Schema } from '../../state/database/schema.ts'
import { inTransaction, lockRow } from '../../state/database/transaction.ts'
import type { Source } from '../../state/sources/source.ts'
import { findSource } from '../find-source.ts'
import { insertIngestEvent } from './ingest-source.ts'

/**
 * Archives a Source. Its Neurons stay, its bytes may be uploaded again, and a waiting ingest fails.
 * @throws {GanglionError} `not_found`, `already_processing`
 */
export async function archiveSource(ctx: Context, caller: Caller, docId: string): Promise<void> {
  const source = await findSource(ctx, caller, docId)
  await archive(ctx, source, ['pending', 'ready'], 'It was archived before it was ingested.')
}

/** Archives the editions of a document before this one, those that are not ingested yet as well. */
export async function archiveOlder(ctx: Context, { editionOf, seq }: Source): Promise<void> {
  const older = (await ctx.sources.editions(editionOf)).filter((one) => one.seq < seq && one.archivedAt === null)
  for (const one of older) {
    await archive(ctx, one, ['pending', 'ready', 'processing'], 'A newer edition was ingested before it.')
  }
}

/**
 * Archives a Source, cancels its job, and records the failure of an ingest that it ends.
 * @param from statuses in which the Source fails, since nothing will ingest it
 */
async function archive(
  ctx: Context,
  { id, tenantId, kbId }: Source,
  from: readonly SourceStatus[],
  error: string,
): Promise<void> {
  const { database, jobs, sources, now } = ctx
  const work = async (db: Transaction<Schema>) => {
    // Locks the job before the Source, in the order of an ingest, so that the two cannot deadlock.
    await jobs.inTransaction(db).cancel(id)
    await lockRow(db, 'sources', id)
    const end = { status: 'failed', errorMessage: error } as const
    if (await sources.change(id, from, end, db)) {
      const job = { tenantId, kbId, documentId: id }
      await insertIngestEvent(ctx, db, job, 'ingest.failed', { status: 'failed', error })
    }
    if (!(await sources.archive(tenantId, id, now(), db))) throw new GanglionError('already_processing')
  }
  await inTransaction(database.db, work, 'read committed')
}
