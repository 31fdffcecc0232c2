import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, openAsBlob } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import {
  DuplicateSource,
  fileTypes,
  maxChunkBytes,
  maxUploadBytes,
  SourceAnswer,
  UploadProgress,
  UploadStatus,
  UploadTicket,
} from '../../contract/documents.ts'
import { type ApiAnswer, type ApiRequest, type ApiServer, readAnswer, request, Unreachable } from './api-client.ts'

export type Uploaded =
  | { result: 'uploaded'; source: SourceAnswer }
  | { result: 'duplicate'; documentId: string; filename: string; folder: string }

export type UploadOptions = {
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
  /** Bytes beyond which a file goes in chunks. */
  chunkedAbove?: number
  /** Milliseconds until a first new attempt. */
  retryMs?: number
}

const uploadTimeout = 15 * 60_000
const chunkTimeout = 5 * 60_000
const maxAttempts = 6

/** Whether a server of this version takes files of this name, where a knowledge base allows it. */
export function isUploadable(file: string): boolean {
  return z.enum(fileTypes).safeParse(extname(file).slice(1).toLowerCase()).success
}

/**
 * Uploads a file: at once, or in chunks where it is large. Waits where the server asks for it, and goes on where the connection
 * broke. @throws {ApiRefusal} @throws {Error} with a sentence for people
 */
export async function uploadFile(server: ApiServer, file: string, options: UploadOptions): Promise<Uploaded> {
  const { size } = await stat(file)
  const isChunked = size > (options.chunkedAbove ?? maxUploadBytes) || options.resume !== undefined
  return isChunked ? uploadChunks(server, file, size, options) : uploadForm(server, file, options)
}

async function uploadForm(server: ApiServer, file: string, options: UploadOptions): Promise<Uploaded> {
  const { kb, folder, tags } = options
  const form = new FormData()
  form.append('path', folder)
  form.append('metadata', JSON.stringify({ tags }))
  form.append('file', await openAsBlob(file), basename(file))
  const path = `/knowledge-bases/${encodeURIComponent(kb)}/documents/upload?${queryOf(options)}`
  // The same key again and again: an answer that was lost on its way is given once more.
  const headers = { 'idempotency-key': randomUUID() }
  const answer = await patiently(server, path, { method: 'POST', headers, body: form, timeout: uploadTimeout }, options)
  return readUploaded(server, answer)
}

async function uploadChunks(server: ApiServer, file: string, size: number, options: UploadOptions): Promise<Uploaded> {
  const { kb, folder, tags, resume, onProgress } = options
  const ask = (path: string, asked: ApiRequest) => patiently(server, path, asked, options)
  let uploadId = resume
  let chunkSize = maxChunkBytes
  if (uploadId === undefined) {
    const contentHash = await hashOf(file)
    const body = JSON.stringify({
      filename: basename(file),
      fileSize: size,
      contentHash,
      path: folder,
      metadata: { tags },
    })
    const path = `/knowledge-bases/${encodeURIComponent(kb)}/documents/upload/init?${queryOf(options)}`
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
    const answer = await ask(path, { method: 'POST', headers, body })
    const known = DuplicateSource.safeParse(answer.json)
    if (known.success) return duplicate(known.data)
    const ticket = readAnswer(server, answer, UploadTicket)
    uploadId = ticket.uploadId
    chunkSize = ticket.chunkSize
  }
  const upload = `/uploads/${encodeURIComponent(uploadId)}`
  try {
    const status = readAnswer(server, await ask(upload, { method: 'GET' }), UploadStatus)
    if (status.fileSize !== size) throw new Error(`The upload is of a file of ${status.fileSize} bytes.`)
    const blob = await openAsBlob(file)
    for (let at = status.bytesReceived; status.status === 'open' && at < size; ) {
      onProgress?.(at)
      const end = Math.min(size, at + chunkSize)
      const headers = { 'content-type': 'application/octet-stream', 'content-range': `bytes ${at}-${end - 1}/${size}` }
      const asked = { method: 'PATCH', headers, body: blob.slice(at, end), timeout: chunkTimeout } as const
      at = readAnswer(server, await ask(`${upload}/chunk`, asked), UploadProgress).bytesReceived
    }
    onProgress?.(size)
    const answer = await ask(`${upload}/finalize?${queryOf(options)}`, { method: 'POST', timeout: uploadTimeout })
    return readUploaded(server, answer)
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    throw new Error(`${error.message} To go on where it broke off: --resume ${uploadId}`)
  }
}

function queryOf({ force, replace }: UploadOptions): string {
  return `force=${force}&replace=${replace}`
}

/** Asks again where there is no answer, or the server is busy. A chunk that has come already may be sent again. */
async function patiently(
  server: ApiServer,
  path: string,
  asked: ApiRequest,
  { retryMs = 1_000 }: UploadOptions,
): Promise<ApiAnswer> {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === maxAttempts
    let wait = retryMs * 2 ** (attempt - 1)
    try {
      const answer = await request(server, path, asked)
      if (isLast || (answer.status !== 429 && answer.status !== 503)) return answer
      wait = Math.min(60_000, Math.max(wait, Number(answer.retryAfter ?? 0) * 1_000 || 0))
    } catch (error) {
      if (isLast || !(error instanceof Unreachable)) throw error
    }
    await delay(wait)
  }
}

function readUploaded(server: ApiServer, answer: ApiAnswer): Uploaded {
  const known = DuplicateSource.safeParse(answer.json)
  if (answer.status === 409 && known.success) return duplicate(known.data)
  return { result: 'uploaded', source: readAnswer(server, answer, SourceAnswer) }
}

function duplicate(known: z.output<typeof DuplicateSource>): Uploaded {
  const { existingDocumentId: documentId, existingFilename: filename, existingPath: folder } = known
  return { result: 'duplicate', documentId, filename, folder }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}
