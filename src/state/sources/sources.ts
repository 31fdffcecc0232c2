import { type ExpressionBuilder, type Kysely, type SqlBool, sql, type Transaction } from 'kysely'
import type { SourceStatus } from '../../contract/documents.ts'
import { GanglionError } from '../../contract/errors.ts'
import { snakeCase } from '../database/row-values.ts'
import type { Schema } from '../database/schema.ts'
import { changedRows, deleteRows, findRow, findRows, Store, selectRows } from '../database/store.ts'
import { inTransaction, lockRow } from '../database/transaction.ts'
import type { EventLog } from '../event-store.ts'
import { servedKbs } from '../lifecycle.ts'
import { Tenants } from '../tenants.ts'
import { type AddOptions, insertSource, type NewSource, type Source, sourcesWithBytes, toSource } from './source.ts'

/** Fields that an ingest may change. */
export type SourceChange = Partial<
  Pick<Source, 'status' | 'errorMessage' | 'extractedAt' | 'tags' | 'attempt' | 'warnings'>
>

/** Filters of a list of Sources. */
export type SourceFilter = {
  /** Accepted statuses; absent: all. */
  statuses?: readonly SourceStatus[] | undefined
  /** Folder, including the folders below it. */
  folder?: string | undefined
  fileType?: string | undefined
  /** Part of the file name, ignoring the case of ASCII letters. */
  text?: string | undefined
}

/** Maximum ids in one query, since databases limit the number of parameters. */
const idsPerQuery = 500
/** Maximum number of folders that a filter offers. */
const maxFolders = 200

/** Uploaded files of all knowledge bases. Rows are kept because Neurons name them, except after a retention time or an erasure. */
export class Sources extends Store {
  readonly #events: EventLog

  constructor(db: Kysely<Schema>, events: EventLog) {
    super(db)
    this.#events = events
  }

  /**
   * Adds a Source and logs `source.uploaded`, in one transaction. A Source with the same id stays as it is.
   * @param options.together further writes in the same transaction
   * @throws {SourceExists} @throws {GanglionError} `quota_exceeded`, `not_found` if the knowledge base is not served any more
   */
  async add(
    source: NewSource,
    now: Date,
    options: AddOptions & { together?: (transaction: Transaction<Schema>) => Promise<void> },
  ): Promise<Source> {
    const add = async (transaction: Transaction<Schema>) => {
      await lockRow(transaction, 'knowledge_bases', source.kbId)
      const earlier = await sourceOf(transaction, source.id)
      if (earlier !== undefined) return earlier
      const served = servedKbs(transaction).where('knowledge_bases.id', '=', source.kbId)
      if ((await served.executeTakeFirst()) === undefined) throw new GanglionError('not_found')
      await requireRoom(transaction, source.tenantId, source.fileSize)
      const row = await insertSource(transaction, source, now, options)
      const { id: documentId, kbId, status } = source
      const data = { documentId, status }
      const event = { kbId, kind: 'source.uploaded', isCuratorOnly: false, data } as const
      await this.#events.insert(transaction, source.tenantId, [event], now)
      await options.together?.(transaction)
      return row
    }
    return inTransaction(this.db, add, 'read committed')
  }

  async find(tenantId: string, id: string): Promise<Source | undefined> {
    const source = await this.get(id)
    if (source?.tenantId !== tenantId) return undefined
    const isServed = await servedKbs(this.db).where('knowledge_bases.id', '=', source.kbId).executeTakeFirst()
    return isServed && source
  }

  /** Returns the tenant's Sources that have one of these ids, with the fields that decide who sees them. */
  async withIds(tenantId: string, ids: readonly string[]): Promise<Pick<Source, 'id' | 'tags' | 'uploader'>[]> {
    const found: Pick<Source, 'id' | 'tags' | 'uploader'>[] = []
    for (let at = 0; at < ids.length; at += idsPerQuery) {
      const some = ids.slice(at, at + idsPerQuery)
      const query = selectRows(this.db, 'sources', { tenant_id: tenantId }).where('id', 'in', some)
      found.push(...(await query.execute()).map(toSource))
    }
    return found
  }

  /** Returns the Source with an id, of any tenant. */
  get(id: string): Promise<Source | undefined> {
    return sourceOf(this.db, id)
  }

  /** Returns the first visible Source of a knowledge base with these bytes that is not archived. */
  async findDuplicate(
    kbId: string,
    contentHash: string,
    isVisible: (source: Source) => boolean,
  ): Promise<Source | undefined> {
    return (await sourcesWithBytes(this.db, kbId, contentHash)).find(isVisible)
  }

  /** Returns the number and total bytes of a tenant's Sources, archived ones included. */
  totalSize(tenantId: string): Promise<{ count: number; size: number }> {
    return totalSize(this.db, tenantId)
  }

  /** Checks the quota. @throws {GanglionError} `quota_exceeded` if a tenant would have more bytes of Sources than allowed */
  requireRoom(tenantId: string, bytes: number): Promise<void> {
    return requireRoom(this.db, tenantId, bytes)
  }

  /** Counts the failed Sources of a tenant that are not archived, by knowledge base. */
  async countFailed(tenantId: string): Promise<Map<string, number>> {
    const rows = await this.db
      .selectFrom('sources')
      .select((select) => ['kb_id', select.fn.countAll<number>().as('count')])
      .where('tenant_id', '=', tenantId)
      // Literals, so that SQLite uses the index of failed Sources.
      .where(sql<SqlBool>`status = 'failed' and archived_at is null`)
      .groupBy('kb_id')
      .execute()
    return new Map(rows.map(({ kb_id, count }) => [kb_id, Number(count)]))
  }

  /** Counts the Sources of a knowledge base that are not archived. */
  async countOf(kbId: string): Promise<number> {
    const row = await this.db
      .selectFrom('sources')
      .select((select) => select.fn.countAll<number>().as('count'))
      .where('kb_id', '=', kbId)
      .where('archived_at', 'is', null)
      .executeTakeFirst()
    return Number(row?.count ?? 0)
  }

  /** Returns Sources of a knowledge base that are not archived, newest first, below a number. */
  async list(
    kbId: string,
    { below, limit, statuses, folder, fileType, text }: SourceFilter & { below?: number | undefined; limit: number },
  ): Promise<Source[]> {
    const rows = await selectRows(this.db, 'sources', { kb_id: kbId, archived_at: null })
      .$if(below !== undefined, (query) => query.where('seq', '<', below ?? 0))
      .$if(statuses !== undefined, (query) => query.where('status', 'in', statuses ?? []))
      .$if(folder !== undefined, (query) => query.where(inFolder(folder ?? '/')))
      .$if(fileType !== undefined, (query) => query.where('file_type', '=', fileType ?? ''))
      .$if(text !== undefined, (query) => query.where(isNamed(text ?? '')))
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute()
    return rows.map(toSource)
  }

  /** Returns Sources of a tenant that a client uploaded and that are not archived, newest first, below an id. */
  async uploadedBy(
    { tenantId, uploader }: { tenantId: string; uploader: string },
    { status, below, limit }: { status?: SourceStatus | undefined; below?: string | undefined; limit: number },
  ): Promise<Source[]> {
    const rows = await selectRows(this.db, 'sources', { tenant_id: tenantId, uploader_id: uploader, archived_at: null })
      .where('kb_id', 'in', servedKbs(this.db))
      .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'pending'))
      .$if(below !== undefined, (query) => query.where('id', '<', below ?? ''))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map(toSource)
  }

  /** Returns the first folders of a knowledge base, by name, that contain or contained a Source. Takes one step in an index for each. */
  async folders(kbId: string): Promise<string[]> {
    const { rows } = await sql<{ path: string }>`WITH RECURSIVE folders(path, nth) AS (
        SELECT min(path), 1 FROM sources WHERE kb_id = ${kbId}
        UNION ALL
        SELECT (SELECT min(path) FROM sources WHERE kb_id = ${kbId} AND path > folders.path), nth + 1 FROM folders
        WHERE folders.path IS NOT NULL AND nth < ${maxFolders}
      ) SELECT path FROM folders WHERE path IS NOT NULL`.execute(this.db)
    return rows.map(({ path }) => path)
  }

  /** Returns all editions of a document, including archived ones, newest first. */
  async editions(editionOf: string): Promise<Source[]> {
    return (await findRows(this.db, 'sources', { edition_of: editionOf }, 'seq')).reverse().map(toSource)
  }

  /** Returns the Sources of some senders in a knowledge base, archived or not, and whether a later edition by others was ingested. */
  async editionsBy(
    tenantId: string,
    kbId: string,
    uploaders: readonly string[],
  ): Promise<{ id: string; isReplaced: boolean }[]> {
    const rows = await this.db
      .selectFrom('sources')
      .select(({ selectFrom, exists }) => {
        const later = selectFrom('sources as later')
          .select('later.id')
          .whereRef('later.edition_of', '=', 'sources.edition_of')
          .whereRef('later.seq', '>', 'sources.seq')
          .where('later.status', '=', 'success')
          .where('later.uploader_id', 'not in', uploaders)
        return ['sources.id', exists(later).as('isReplaced')]
      })
      .where('tenant_id', '=', tenantId)
      .where('uploader_id', 'in', uploaders)
      .where('kb_id', '=', kbId)
      .execute()
    return rows.map(({ id, isReplaced }) => ({ id, isReplaced: Boolean(isReplaced) }))
  }

  /** Returns Sources whose ingest is due or was interrupted and that are not archived, oldest first. */
  async unfinished(): Promise<Source[]> {
    const unread = selectRows(this.db, 'sources', { archived_at: null })
    const rows = await unread.where('status', 'in', ['pending', 'ready', 'processing']).orderBy('id').execute()
    return rows.map(toSource)
  }

  /**
   * Changes a Source that has one of some statuses and is not archived.
   * @returns false if it has another status, or is gone: then nothing is changed
   */
  async change(
    id: string,
    from: readonly SourceStatus[],
    change: SourceChange,
    db: Kysely<Schema> = this.db,
  ): Promise<boolean> {
    const { warnings, ...values } = change
    const changed = db
      .updateTable('sources')
      .set({ ...snakeCase(values), ...(warnings !== undefined && { warnings: JSON.stringify(warnings) }) })
      .where('id', '=', id)
      .where('status', 'in', from)
      .where('archived_at', 'is', null)
    return (await changedRows(changed)) > 0
  }

  /** Archives a Source. An archived one stays as it is. @returns false if it is being processed, or does not exist */
  async archive(tenantId: string, id: string, now: Date, db: Kysely<Schema> = this.db): Promise<boolean> {
    const changed = db
      .updateTable('sources')
      .set((row) => ({ archived_at: row.fn.coalesce('archived_at', row.val(now.toISOString())) }))
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .where('status', '!=', 'processing')
    return (await changedRows(changed)) > 0
  }

  /** Returns all ingested Sources of every knowledge base, archived ones last. */
  async ingested(): Promise<Source[]> {
    const ingested = selectRows(this.db, 'sources', { status: 'success' })
    const rows = await ingested.orderBy(sql`archived_at is not null`).orderBy('id').execute()
    return rows.map(toSource)
  }

  /** Returns every Source of a knowledge base. */
  async all(kbId: string): Promise<Source[]> {
    return (await findRows(this.db, 'sources', { kb_id: kbId }, 'seq')).map(toSource)
  }

  /** Returns Sources of a knowledge base that are not archived and whose text was extracted. */
  async read(kbId: string): Promise<Source[]> {
    const present = selectRows(this.db, 'sources', { kb_id: kbId, archived_at: null })
    return (await present.where('extracted_at', 'is not', null).execute()).map(toSource)
  }

  /** Returns a mark that changes whenever the Sources that {@link read} returns, or their texts, change. */
  async readMark(kbId: string): Promise<string> {
    const row = await this.db
      .selectFrom('sources')
      .select(({ fn }) => [
        fn.countAll<number>().as('count'),
        fn.max('extracted_at').as('latest'),
        fn.count<number>('archived_at').as('archived'),
      ])
      .where('kb_id', '=', kbId)
      .where('extracted_at', 'is not', null)
      .executeTakeFirstOrThrow()
    return `${row.count} ${row.archived} ${row.latest}`
  }

  /** Returns at most 500 Sources that were archived at a time or before. */
  async archivedBefore(at: string): Promise<{ id: string }[]> {
    const query = this.db.selectFrom('sources').select('id').where('archived_at', '<=', at)
    return query.orderBy('id').limit(500).execute()
  }

  /** Removes a Source. Its bytes are left to the sweep. */
  async remove({ id }: { id: string }): Promise<void> {
    await deleteRows(this.db, 'sources', { id })
  }

  /** True if a Source of any tenant has these bytes. Archived ones count. */
  async hasBytes(contentHash: string): Promise<boolean> {
    const query = this.db.selectFrom('sources').select('id').where('content_hash', '=', contentHash).limit(1)
    return (await query.executeTakeFirst()) !== undefined
  }
}

async function sourceOf(db: Kysely<Schema>, id: string): Promise<Source | undefined> {
  const row = await findRow(db, 'sources', { id })
  return row && toSource(row)
}

function inFolder(folder: string) {
  const below = folder === '/' ? '/' : `${folder}/`
  return ({ or, and, eb }: ExpressionBuilder<Schema, 'sources'>) =>
    or([eb('path', '=', folder), and([eb('path', '>=', below), eb('path', '<', `${below}\u{10FFFF}`)])])
}

/** Returns the condition that a file name contains a text, ignoring the case of ASCII letters, as both engines do. */
function isNamed(text: string) {
  const spellings = new Set([text, text.toLowerCase(), text.toUpperCase()])
  return ({ or }: ExpressionBuilder<Schema, 'sources'>) =>
    or([...spellings].map((spelling) => sql<SqlBool>`lower(filename) like ${patternOf(spelling)} escape '\\'`))
}

function patternOf(text: string): string {
  const folded = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return `%${folded.replace(/[\\%_]/g, '\\$&')}%`
}

async function totalSize(db: Kysely<Schema>, tenantId: string): Promise<{ count: number; size: number }> {
  const row = await db
    .selectFrom('sources')
    .select((select) => [
      select.fn.countAll<number>().as('count'),
      select.fn.sum<number | null>('file_size').as('size'),
    ])
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst()
  return { count: Number(row?.count ?? 0), size: Number(row?.size ?? 0) }
}

/** Checks that a tenant has room for bytes. In a transaction, concurrent additions to a tenant with a quota wait until it ends. */
async function requireRoom(db: Kysely<Schema>, tenantId: string, bytes: number): Promise<void> {
  const most = (await new Tenants(db).get(tenantId))?.quotas.sourceBytes ?? null
  if (most === null) return
  if (db.isTransaction) await lockRow(db as Transaction<Schema>, 'tenants', tenantId)
  if ((await totalSize(db, tenantId)).size + bytes > most) {
    throw new GanglionError('quota_exceeded', `The tenant may have ${most} bytes of Sources.`)
  }
}
