import type { Readable } from 'node:stream'
import type { SourceDetail } from '../../contract/documents.ts'
import type { ByteRange } from '../../store/blobs/blob-store.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { findSource } from './find-source.ts'
import { toSourceDetail } from './source-view.ts'

/** @throws {GanglionError} `not_found` */
export async function readSource(ganglion: Ganglion, caller: Caller, docId: string): Promise<SourceDetail> {
  return toSourceDetail(await findSource(ganglion, caller, docId))
}

/** The bytes of a Source, as they were uploaded. */
export type SourceContent = {
  filename: string
  sha256: string
  /** Bytes. */
  size: number
  read: (range?: ByteRange) => Promise<Readable>
}

/** @throws {GanglionError} `not_found` */
export async function sourceContent(ganglion: Ganglion, caller: Caller, docId: string): Promise<SourceContent> {
  const { filename, contentHash: sha256, fileSize: size } = await findSource(ganglion, caller, docId)
  return { filename, sha256, size, read: (range) => ganglion.blobs.get(sha256, range) }
}
