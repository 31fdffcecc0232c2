import type { Kysely, Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { deleteRows, findRows, Store, updateRows } from '../database/store.ts'
import { inTransaction } from '../database/transaction.ts'
import { openUploads } from './upload-store.ts'

/** Range of an upload's bytes that is one object of a store. */
export type UploadChunk = { start: number; size: number; key: string }

/** Thrown if the upload has ended, or has another number of bytes than expected. */
class OtherBytes extends Error {}

/** Objects with the bytes of uploads, for nodes that share a store. */
export class UploadChunks extends Store {
  /** Returns the chunks of an upload in order. Each begins where the previous one ends, the first at 0. */
  of(uploadId: string): Promise<UploadChunk[]> {
    return chunksOf(this.db, uploadId)
  }

  /**
   * Adds a chunk at the end of an open upload.
   * @param replaced the last chunk, if the new one begins with its bytes
   * @param check called before the commit; if it throws, the change is undone
   * @returns false if the upload has ended, or another process was first: then nothing is changed
   */
  async add(
    uploadId: string,
    chunk: UploadChunk,
    { replaced, check, now }: { replaced: UploadChunk | undefined; check: () => void; now: Date },
  ): Promise<boolean> {
    const work = async (transaction: Transaction<Schema>) => {
      // Concurrent additions to the upload wait at this update.
      const received = { bytes_received: chunk.start + chunk.size, received_at: now.toISOString() }
      const opened = await updateRows(transaction, 'uploads', { id: uploadId, finalized_at: null }, received)
      const last = (await chunksOf(transaction, uploadId)).at(-1)
      const isAsExpected = replaced === undefined ? endOf(last) === chunk.start : last?.key === replaced.key
      if (opened === 0 || !isAsExpected) throw new OtherBytes()
      if (replaced !== undefined) await deleteRows(transaction, 'upload_chunks', { key: replaced.key })
      await transaction
        .insertInto('upload_chunks')
        .values({ ...chunk, upload_id: uploadId })
        .execute()
      check()
      return true
    }
    try {
      return await inTransaction(this.db, work, 'read committed')
    } catch (error) {
      if (error instanceof OtherBytes) return false
      throw error
    }
  }

  /** Removes the rows of an upload's chunks. @returns their keys */
  async take(uploadId: string): Promise<string[]> {
    const taken = this.db.deleteFrom('upload_chunks').where('upload_id', '=', uploadId).returning('key')
    return (await taken.execute()).map(({ key }) => key)
  }

  /** Removes the rows of chunks of uploads that have ended. @returns their keys */
  async takeUnwanted(now: Date): Promise<string[]> {
    const taken = this.db
      .deleteFrom('upload_chunks')
      .where('upload_id', 'not in', openUploads(this.db, now))
      .returning('key')
    return (await taken.execute()).map(({ key }) => key)
  }

  /** Returns those keys that belong to chunks. */
  async named(keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.selectFrom('upload_chunks').select('key').where('key', 'in', keys).execute()
    return new Set(rows.map(({ key }) => key))
  }
}

/** Returns the number of bytes up to the end of the last chunk. */
export function endOf(last: UploadChunk | undefined): number {
  return last === undefined ? 0 : last.start + last.size
}

function chunksOf(db: Kysely<Schema>, uploadId: string): Promise<UploadChunk[]> {
  return findRows(db, 'upload_chunks', { upload_id: uploadId }, 'start')
}
