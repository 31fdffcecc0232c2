import type { Kysely, Selectable } from 'kysely'
import type { Schema, UploadRow } from './schema.ts'

/** A file that comes in chunks. */
export type Upload = {
  /** UUIDv7: of the Source that it becomes, too. */
  id: string
  tenantId: string
  kbId: string
  filename: string
  /** Folder in the tree of Sources. */
  path: string
  metadata: string | null
  /** Bytes. */
  fileSize: number
  /** SHA-256 of the whole, as announced. */
  contentHash: string | null
  isForced: boolean
  /** Bytes from the beginning that are on the disk. */
  bytesReceived: number
  /** ISO 8601, UTC. */
  expiresAt: string
  isFinalized: boolean
}

export type NewUpload = Omit<Upload, 'bytesReceived' | 'expiresAt' | 'isFinalized'>

/** The tenant has too many uploads open. */
export class TooManyUploads extends Error {
  constructor() {
    super(`${maxOpen} uploads are open.`)
    this.name = 'TooManyUploads'
  }
}

const maxOpen = 10
/** Milliseconds. */
const lifetime = 24 * 60 * 60 * 1000
/** Milliseconds for which an upload that has expired is known as such. */
const afterlife = 7 * lifetime

/** Uploads that come in chunks: what is known of them beside their bytes. */
export class Uploads {
  readonly #db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /** @throws {TooManyUploads} */
  async begin(upload: NewUpload, now: Date): Promise<Upload> {
    return this.#db.transaction().execute(async (transaction) => {
      const { open } = await transaction
        .selectFrom('uploads')
        .select((select) => select.fn.countAll<number>().as('open'))
        .where('tenant_id', '=', upload.tenantId)
        .where('created_at', '>', expiry(now))
        .where('finalized_at', 'is', null)
        .executeTakeFirstOrThrow()
      if (open >= maxOpen) throw new TooManyUploads()
      const row = await transaction
        .insertInto('uploads')
        .values({
          id: upload.id,
          tenant_id: upload.tenantId,
          kb_id: upload.kbId,
          filename: upload.filename,
          path: upload.path,
          metadata: upload.metadata,
          file_size: upload.fileSize,
          content_hash: upload.contentHash,
          is_forced: Number(upload.isForced),
          created_at: now.toISOString(),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      return toUpload(row)
    })
  }

  /** A tenant's upload, also one that has expired. */
  async find(tenantId: string, id: string): Promise<Upload | undefined> {
    const row = await this.#db
      .selectFrom('uploads')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .executeTakeFirst()
    return row && toUpload(row)
  }

  async setBytesReceived(id: string, bytesReceived: number): Promise<void> {
    await this.#db.updateTable('uploads').set({ bytes_received: bytesReceived }).where('id', '=', id).execute()
  }

  /** Its Source is there; the database may be a transaction that makes it. */
  async finalize(id: string, now: Date, db: Kysely<Schema> = this.#db): Promise<void> {
    await db.updateTable('uploads').set({ finalized_at: now.toISOString() }).where('id', '=', id).execute()
  }

  async remove(id: string): Promise<void> {
    await this.#db.deleteFrom('uploads').where('id', '=', id).execute()
  }

  /** Whether an upload's bytes are still wanted. */
  async isOpen(id: string, now: Date): Promise<boolean> {
    const row = await this.#db
      .selectFrom('uploads')
      .select('id')
      .where('id', '=', id)
      .where('created_at', '>', expiry(now))
      .where('finalized_at', 'is', null)
      .executeTakeFirst()
    return row !== undefined
  }

  /** Forgets uploads that have expired long ago; answers how many. */
  async sweep(now: Date): Promise<number> {
    const end = expiry(new Date(now.getTime() - afterlife))
    const result = await this.#db.deleteFrom('uploads').where('created_at', '<=', end).executeTakeFirst()
    return Number(result.numDeletedRows)
  }
}

/** What was begun then or before has expired. */
function expiry(now: Date): string {
  return new Date(now.getTime() - lifetime).toISOString()
}

function toUpload(row: Selectable<UploadRow>): Upload {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    kbId: row.kb_id,
    filename: row.filename,
    path: row.path,
    metadata: row.metadata,
    fileSize: row.file_size,
    contentHash: row.content_hash,
    isForced: row.is_forced === 1,
    bytesReceived: row.bytes_received,
    expiresAt: new Date(Date.parse(row.created_at) + lifetime).toISOString(),
    isFinalized: row.finalized_at !== null,
  }
}
