import type { ReceivedFile } from '../../system/received-file.ts'
import type { Upload } from '../sources/upload-store.ts'

/** A chunk repeats other bytes than those that came before. */
export class ChunkDiffers extends Error {
  constructor() {
    super('The chunk differs from the received bytes.')
  }
}

/** Another process has finished, abandoned or changed the upload meanwhile. */
export class UploadChanged extends Error {
  constructor(id: string) {
    super(`The bytes of the upload ${id} have changed.`)
  }
}

export type ReceivedChunk = {
  /** Offset of the chunk: not behind the bytes that are there. */
  start: number
  bytes: AsyncIterable<Uint8Array>
}

/** Number of bytes of an upload that are there now, and the error that the chunk threw. */
export type Appended = { received: number; failure: unknown }

/** The bytes of uploads that come in chunks. Bytes that were reported survive a power cut. */
export interface UploadBytes {
  /** Returns how many bytes from the beginning of an open upload are there. */
  size(upload: Pick<Upload, 'id' | 'bytesReceived'>): Promise<number>
  /**
   * Adds a chunk's bytes, even if the chunk broke off, and records their number. Bytes that the upload already has must be the same.
   * @param admit receives the number of bytes present; called again if another process was first. Throws to reject the chunk.
   */
  append(id: string, chunk: ReceivedChunk, admit: () => Promise<number>): Promise<Appended>
  /** Calls `work` with a file of the whole upload. @throws {UploadChanged} */
  withFile<Result>(id: string, size: number, work: (file: ReceivedFile) => Promise<Result>): Promise<Result>
  remove(id: string): Promise<void>
  /** Removes the bytes of all ended uploads. */
  sweep(): Promise<void>
}
