import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { z } from 'zod'
import { ConnectionError, DuplicateSourceError, Ganglion } from '#client'
import { fileTypes, type SourceAnswer } from '../../contract/documents.ts'
import type { ApiServer } from './api-server.ts'
import { serverProblem } from './server-problem.ts'

export type Uploaded =
  | { result: 'uploaded'; source: Pick<SourceAnswer, 'id' | 'status' | 'errorMessage'> }
  | { result: 'duplicate'; documentId: string | undefined }

export type FileUpload = {
  /** Slug or UUID of the knowledge base. */
  kb: string
  /** In the tree of Sources; `/` is its root. */
  folder: string
  tags: readonly string[]
  /** Also where the knowledge base has the same bytes already. */
  force: boolean
  /** As the next edition of what stands in the folder under the file's name. */
  replace: boolean
  /** Of an upload in chunks that broke off. */
  resume?: string | undefined
  /** Bytes of the file that are on the server. */
  onProgress?: (bytes: number) => void
}

/** Milliseconds until an answer must be there: a server reads a large file once more before it takes it. */
const timeout = 15 * 60_000
/** Bytes beyond which a file goes in chunks. */
const chunkedAbove = 2 ** 24

/** Whether a server of this version takes files of this name, where a knowledge base allows it. */
export function isUploadable(file: string): boolean {
  return z.enum(fileTypes).safeParse(extname(file).slice(1).toLowerCase()).success
}

/** Uploads a file, and goes on where the connection broke. @throws {GanglionError} @throws {Error} with a sentence for people */
export async function uploadFile(
  server: ApiServer,
  file: string,
  { kb, folder: path, tags, force, replace, resume, onProgress }: FileUpload,
): Promise<Uploaded> {
  const { size } = await stat(file)
  let uploadId = resume
  try {
    const source = await new Ganglion(server).kb(kb).sources.upload(file, {
      ...{ path, metadata: { tags }, force, replace, resume, chunkedAbove, timeout },
      // Bytes that are there already need not be sent.
      ...(size > chunkedAbove && resume === undefined && { contentHash: await hashOf(file) }),
      onProgress: (progress) => {
        uploadId = progress.uploadId
        onProgress?.(progress.sent)
      },
    })
    return { result: 'uploaded', source }
  } catch (error) {
    if (error instanceof DuplicateSourceError)
      return { result: 'duplicate', documentId: z.uuid().safeParse(error.body.existingDocumentId).data }
    if (uploadId === undefined || !(error instanceof ConnectionError)) throw error
    throw new Error(`${serverProblem(error, server)} To go on where it broke off: --resume ${uploadId}`)
  }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}
