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
  /** Folder in the tree of Sources; `/` is its root. */
  folder: string
  tags: readonly string[]
  /** True to upload the file even if the knowledge base already has its bytes. */
  force: boolean
  /** True to make the file the next edition of the Source with its name in the folder. */
  replace: boolean
  /** Id of an interrupted upload in chunks. */
  resume?: string | undefined
  /** Callback with the number of bytes that the server has received. */
  onProgress?: (bytes: number) => void
}

/** Timeout of a response in milliseconds. A server reads a large file once more before it accepts it. */
const timeout = 15 * 60_000
/** Maximum bytes of a file that is sent in one request. A larger one is sent in chunks. */
const chunkedAbove = 2 ** 24

/** True if a server of this version accepts the file's type, provided that the knowledge base does. */
export function isUploadable(file: string): boolean {
  return z.enum(fileTypes).safeParse(extname(file).slice(1).toLowerCase()).success
}

/** Uploads a file, and resumes after a lost connection. @throws {GanglionError} @throws {Error} with a sentence for people */
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
      // The hash lets the server reject bytes that it already has before they are sent.
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
