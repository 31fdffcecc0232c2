import type { ReceivedFile } from '../../system/received-file.ts'
import type { Upload } from '../sources/upload-store.ts'

/** Thrown if a chunk repeats a range of the upload with other bytes. */
export class ChunkDiffers extends Error {
  constructor() {
    super('The chunk differs from the received bytes.')
  }
}

/** Thrown if another process has finished, abandoned or changed the upload meanwhile. */
export class UploadChanged extends Error {
  constructor(id: string) {
    super(`The bytes of the upload ${id} have changed.`)
  }
}

export type ReceivedChunk = {
  /** Offset of the chunk, at most the number of received bytes. */
  start: number
  bytes: AsyncIterable<Uint8Array>
}

/** Number of received bytes of an upload, and the error of the chunk, if any. */
export type Appended = { received: number; failure: unknown }

/** Bytes of uploads in chunks. Acknowledged bytes survive a power cut. */
export interface UploadBytes {
  /** Returns the number of received bytes of an open upload, without gaps. */
  size(upload: Pick<Upload, 'id' | 'bytesReceived'>): Promise<number>
  /**
   * Adds a chunk's bytes, even if the chunk breaks off, and records their number. A repeated range must have the same bytes.
   * @param admit returns the number of received bytes, and throws to reject the chunk; called again if another process was first
   */
  append(id: string, chunk: ReceivedChunk, admit: () => Promise<number>): Promise<Appended>
  /** Calls `work` with a file of the whole upload. @throws {UploadChanged} */
  withFile<Result>(id: string, size: number, work: (file: ReceivedFile) => Promise<Result>): Promise<Result>
  remove(id: string): Promise<void>
  /** Removes the bytes of all ended uploads. */
  sweep(): Promise<void>
}
