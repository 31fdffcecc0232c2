import type { IngestReceipt } from '../../contract/documents.ts'
import { GanglionError } from '../../contract/errors.ts'
import { sourceSight, viewFor } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { unlessUnavailable } from '../../kb/failure.ts'
import { readTables } from '../../kb/kb-access.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import { neuronsOfDocument } from '../../kb/projection/neuron-queries.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { inTransaction } from '../../state/database/transaction.ts'
import { insertIngestEvent } from './ingest-source.ts'

/**
 * Starts the ingest of a Source that was ingested or has failed. The ingest of a ready Source is queued already. A Source that is hidden
 * from the caller counts as missing.
 * @throws {GanglionError} `not_found`; `not_a_source` for a Neuron; `already_processing` while its file is read or an ingest runs
 */
export async function ingestDocument(ctx: Context, caller: Caller, docId: string): Promise<IngestReceipt> {
  const { tenantId } = caller
  const found = await ctx.sources.find(tenantId, docId)
  const isKnown = found !== undefined && (await sourceSight(ctx, caller, found.kbId))(found)
  const source = isKnown ? found : undefined
  if (source === undefined) throw new GanglionError((await isNeuron(ctx, caller, docId)) ? 'not_a_source' : 'not_found')
  if (source.archivedAt !== null) throw new GanglionError('not_found')
  const job = { documentId: source.id, tenantId, kbId: source.kbId }
  const receipt = (what: string) => ({ ok: true, message: `The ingest of ${source.filename} ${what}.` })
  if (source.status === 'ready') {
    // It has a job since its upload, which moves it to `processing`.
    await ctx.jobs.enqueue(job, ctx.now())
    return receipt('is already queued')
  }
  await inTransaction(
    ctx.database.db,
    async (db) => {
      const change = { status: 'processing', errorMessage: null, attempt: source.attempt + 1 } as const
      const isFree = await ctx.sources.change(source.id, ['failed', 'success'], change, db)
      if (!isFree || !(await ctx.jobs.inTransaction(db).enqueue(job, ctx.now())))
        throw new GanglionError('already_processing')
      await insertIngestEvent(ctx, db, job, 'ingest.started', { status: 'processing' })
    },
    'read committed',
  )
  return receipt('begins')
}

async function isNeuron(ctx: Context, caller: Caller, docId: string): Promise<boolean> {
  if (!isUuid(docId)) return false
  for (const identity of await ctx.knowledgeBases.list(caller.tenantId)) {
    if (await holdsNeuron(ctx, caller, identity, docId).catch(unlessUnavailable)) return true
  }
  return false
}

async function holdsNeuron(ctx: Context, caller: Caller, identity: KbIdentity, docId: string): Promise<boolean> {
  const [neuron] = await readTables(ctx, identity, (sql) => neuronsOfDocument(sql, docId))
  return neuron !== undefined && (await viewFor(caller, await ctx.kbs.open(identity))).seesNeuron(neuron.seqId)
}
