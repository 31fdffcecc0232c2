import { type Kysely, sql, type Transaction } from 'kysely'
import { type Camel, camelCase, snakeCase, timeAfter } from '../database/row-values.ts'
import type { RowOf, Schema } from '../database/schema.ts'
import { changedRows, deleteRows, findRows, Store, selectRows, updateRows } from '../database/store.ts'
import { inTransaction, lockRow } from '../database/transaction.ts'
import { servedKbs } from '../lifecycle.ts'

type Told = 'isForced' | 'replaces' | 'receivedAt' | 'finalizedAt' | 'createdAt'

/** Upload of a file in chunks. */
export type Upload = Omit<Camel<RowOf<'uploads'>>, Told> & {
  isForced: boolean
  replaces: boolean
  /** Time of expiry: ISO 8601, UTC. */
  expiresAt: string
  isFinalized: boolean
}

export type NewUpload = Omit<Upload, 'bytesReceived' | 'expiresAt' | 'isFinalized'>

export class TooManyUploads extends Error {
  constructor() {
    super(`${maxOpen} uploads are open.`)
  }
}

const maxOpen = 10
/** Milliseconds after which an upload expires. */
const lifetime = 24 * 60 * 60 * 1000
/** Milliseconds without a byte after which a new upload may replace an idle one. */
const idleTime = 60 * 60 * 1000
/** Milliseconds for which an expired upload is reported as expired. */
const afterlife = 7 * lifetime

/** Uploads in chunks: everything but their bytes. */
export class Uploads extends Store {
  /** Begins an upload. If too many are open, it replaces the one that was idle longest. @throws {TooManyUploads} if none is idle */
  async begin(upload: NewUpload, now: Date): Promise<Upload> {
    const begin = async (transaction: Transaction<Schema>) => {
      await lockRow(transaction, 'tenants', upload.tenantId)
      const { open } = await transaction
        .selectFrom('uploads')
        .select((select) => select.fn.countAll<number>().as('open'))
        .where('tenant_id', '=', upload.tenantId)
        .where('created_at', '>', expiry(now))
        .where('finalized_at', 'is', null)
        .executeTakeFirstOrThrow()
      if (open >= maxOpen) await abandonIdle(transaction, upload.tenantId, now)
      const row = await transaction
        .insertInto('uploads')
        .values({
          ...snakeCase(upload),
          ...{ is_forced: Number(upload.isForced), replaces: Number(upload.replaces), created_at: now.toISOString() },
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      return toUpload(row)
    }
    return inTransaction(this.db, begin, 'read committed')
  }

  /** Returns a tenant's upload, even an expired one. */
  async find(tenantId: string, id: string): Promise<Upload | undefined> {
    const known = selectRows(this.db, 'uploads', { tenant_id: tenantId, id })
    const row = await known.where('kb_id', 'in', servedKbs(this.db)).executeTakeFirst()
    return row && toUpload(row)
  }

  /** Returns the open uploads of one uploader in a knowledge base, oldest first. */
  async openOf(kbId: string, uploaderId: string, now: Date): Promise<Upload[]> {
    const open = selectRows(this.db, 'uploads', { kb_id: kbId, uploader_id: uploaderId, finalized_at: null })
    const rows = await open.where('created_at', '>', expiry(now)).orderBy('created_at').execute()
    return rows.map(toUpload)
  }

  /** Returns the ids of a knowledge base's unfinished uploads, including expired ones. */
  async begunIn(kbId: string): Promise<string[]> {
    return (await findRows(this.db, 'uploads', { kb_id: kbId, finalized_at: null })).map(({ id }) => id)
  }

  async setBytesReceived(id: string, bytesReceived: number, now: Date): Promise<void> {
    const change = { bytes_received: bytesReceived, received_at: now.toISOString() }
    await updateRows(this.db, 'uploads', { id }, change)
  }

  /** Marks an upload as finished once its Source exists; `db` may be the transaction that adds it. @returns false if the upload is gone */
  async finalize(id: string, now: Date, db: Kysely<Schema> = this.db): Promise<boolean> {
    return (await updateRows(db, 'uploads', { id }, { finalized_at: now.toISOString() })) > 0
  }

  async remove(id: string): Promise<void> {
    await deleteRows(this.db, 'uploads', { id })
  }

  /** True if an upload is open, so that its bytes are needed. */
  async isOpen(id: string, now: Date): Promise<boolean> {
    return (await openUploads(this.db, now).where('id', '=', id).executeTakeFirst()) !== undefined
  }

  /** Removes uploads that expired long ago. Returns their number. */
  async sweep(now: Date): Promise<number> {
    return changedRows(this.db.deleteFrom('uploads').where('created_at', '<=', timeAfter(now, -lifetime - afterlife)))
  }
}

/** Returns a query of the ids of open uploads, whose bytes are needed. */
export function openUploads(db: Kysely<Schema>, now: Date) {
  return db.selectFrom('uploads').select('id').where('created_at', '>', expiry(now)).where('finalized_at', 'is', null)
}

/** Removes an idle upload. The sweep removes its bytes. @throws {TooManyUploads} */
async function abandonIdle(db: Kysely<Schema>, tenantId: string, now: Date): Promise<void> {
  const since = sql<string>`coalesce(received_at, created_at)`
  const idle = await db
    .selectFrom('uploads')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('created_at', '>', expiry(now))
    .where('finalized_at', 'is', null)
    .where(since, '<=', timeAfter(now, -idleTime))
    .orderBy(since)
    .limit(1)
    .executeTakeFirst()
  if (idle === undefined) throw new TooManyUploads()
  await deleteRows(db, 'uploads', { id: idle.id })
}

/** Returns the time at or before which an expired upload was begun. */
function expiry(now: Date): string {
  return timeAfter(now, -lifetime)
}

function toUpload({ received_at: _, created_at: createdAt, finalized_at: at, ...row }: RowOf<'uploads'>): Upload {
  return {
    ...camelCase(row),
    isForced: row.is_forced === 1,
    replaces: row.replaces === 1,
    expiresAt: timeAfter(new Date(createdAt), lifetime),
    isFinalized: at !== null,
  }
}
