import type { Kysely, Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { deleteRows, findRows, Store, updateRows } from '../database/store.ts'
import { inTransaction } from '../database/transaction.ts'
import { openUploads } from './upload-store.ts'

/** Bytes of an upload as one object of a store: where they begin, how many they are, and the object's key. */
export type UploadChunk = { start: number; size: number; key: string }

/** The upload has ended, or has another number of bytes than expected. */
class OtherBytes extends Error {}

/** Objects that hold the bytes of uploads, for nodes that share a store. */
export class UploadChunks extends Store {
  /** Returns the chunks of an upload in order: each begins where the one before ends, the first at 0. */
  of(uploadId: string): Promise<UploadChunk[]> {
    return chunksOf(this.db, uploadId)
  }

  /**
   * Adds a chunk at the end of an upload that is not over.
   * @param replaced the last chunk, if the new one begins with its bytes
   * @param check called before the commit. What it throws undoes the change.
   * @returns false where the upload is over, or another process was first: then nothing is changed
   */
  async add(
    uploadId: string,
    chunk: UploadChunk,
    { replaced, check, now }: { replaced: UploadChunk | undefined; check: () => void; now: Date },
  ): Promise<boolean> {
    const work = async (transaction: Transaction<Schema>) => {
      // Concurrent additions to the upload wait here.
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

  /** Forgets the chunks of an upload. @returns their keys */
  async take(uploadId: string): Promise<string[]> {
    const taken = this.db.deleteFrom('upload_chunks').where('upload_id', '=', uploadId).returning('key')
    return (await taken.execute()).map(({ key }) => key)
  }

  /** Forgets the chunks of uploads that are over. @returns their keys */
  async takeUnwanted(now: Date): Promise<string[]> {
    const taken = this.db
      .deleteFrom('upload_chunks')
      .where('upload_id', 'not in', openUploads(this.db, now))
      .returning('key')
    return (await taken.execute()).map(({ key }) => key)
  }

  /** Returns the keys that chunks have. */
  async named(keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.selectFrom('upload_chunks').select('key').where('key', 'in', keys).execute()
    return new Set(rows.map(({ key }) => key))
  }
}

/** Number of bytes up to the end of the last chunk. */
export function endOf(last: UploadChunk | undefined): number {
  return last === undefined ? 0 : last.start + last.size
}

function chunksOf(db: Kysely<Schema>, uploadId: string): Promise<UploadChunk[]> {
  return findRows(db, 'upload_chunks', { upload_id: uploadId }, 'start')
}
