import type { Answered } from './call.ts'
import { type Metadata, metadataText } from './candidates.ts'
import { backOff, type Connection, type RequestOptions } from './connection.ts'
import { OffsetMismatchError } from './error-classes.ts'
import type { Schemas } from './operation.ts'
import { isTemporary } from './refusals.ts'
import { openContent, type Uploadable, type UploadContent } from './upload-content.ts'

type Ticket = Pick<Schemas['UploadTicket'], 'uploadId' | 'chunkSize'>

export type UploadProgress = {
  sent: number
  size: number
  /** Id of an upload in chunks. Store it to `resume` the upload after a restart. */
  uploadId?: string
}

export type UploadOptions = RequestOptions & {
  /** File name with its extension. Default: the name of the `File` or path. */
  filename?: string | undefined
  /** Size of a stream, in bytes. Without it, the whole stream is read into memory. */
  size?: number | undefined
  /** Folder in the tree of Sources. */
  path?: string | undefined
  metadata?: Metadata | undefined
  /** True to upload a file whose bytes the knowledge base already has. */
  force?: boolean | undefined
  /** True to replace the Source with the same name and path by a new edition. */
  replace?: boolean | undefined
  /** `uploadId` of an interrupted upload in chunks. */
  resume?: string | undefined
  /** SHA-256 in hexadecimal digits, which the server checks at the end of an upload in chunks. */
  contentHash?: string | undefined
  /** Size in bytes above which a file is sent in chunks. Default: 16 MB. A server accepts at most 100 MB in one request. */
  chunkedAbove?: number | undefined
  onProgress?: ((progress: UploadProgress) => void) | undefined
}

/** Uploads a file in one request or in chunks, by its size. An upload in chunks resumes after a broken connection. */
export async function uploadFile(
  connection: Connection,
  kbId: string,
  file: Uploadable,
  options: UploadOptions,
): Promise<Answered<Schemas['Source']>> {
  const content = await openContent(file, options.size)
  try {
    const filename = options.filename ?? content.name
    if (filename === undefined) throw new TypeError('The upload needs a filename.')
    const isChunked = content.size > (options.chunkedAbove ?? 2 ** 24) || options.resume !== undefined
    const upload = isChunked ? uploadChunks : uploadForm
    return await upload(connection, kbId, content, { ...options, filename })
  } finally {
    await content.close?.()
  }
}

type Named = UploadOptions & { filename: string }

async function uploadForm(
  connection: Connection,
  kbId: string,
  { size, slice }: UploadContent,
  options: Named,
): Promise<Answered<Schemas['Source']>> {
  const { filename, path, onProgress } = options
  const fields = { ...(path !== undefined && { path }), ...metadataText(options.metadata) }
  const raw = new FormData()
  for (const [name, value] of Object.entries(fields)) raw.set(name, value)
  raw.set('file', await slice(0, size), filename)
  onProgress?.({ sent: 0, size })
  const input = { path: { kbId }, query: queryOf(options), raw }
  const answered = await connection.run('post', '/api/v1/knowledge-bases/{kbId}/documents/upload', input, options)
  onProgress?.({ sent: size, size })
  return answered
}

async function uploadChunks(
  connection: Connection,
  kbId: string,
  { size, slice }: UploadContent,
  options: Named,
): Promise<Answered<Schemas['Source']>> {
  const { signal, timeout, resume, onProgress } = options
  const { uploadId, chunkSize } = resume === undefined ? await begin(connection, kbId, size, options) : resumed(resume)
  const path = { uploadId }
  const receivedBytes = async () => {
    const { data } = await connection.run('get', '/api/v1/uploads/{uploadId}', { path }, { signal, timeout })
    if (data.fileSize !== size) throw new Error(`The upload is of a file of ${data.fileSize} bytes, not ${size}.`)
    return data.status === 'finalized' ? size : data.bytesReceived
  }
  const send = async (from: number, to: number) => {
    const headers = { 'content-range': `bytes ${from}-${to - 1}/${size}`, 'content-type': 'application/octet-stream' }
    const sending = { signal, timeout, headers, retries: 0 }
    const raw = await slice(from, to)
    return (await connection.run('patch', '/api/v1/uploads/{uploadId}/chunk', { path, raw }, sending)).data
      .bytesReceived
  }
  let at = resume === undefined ? 0 : await receivedBytes()
  for (let failures = 0; at < size; ) {
    onProgress?.({ sent: at, size, uploadId })
    try {
      at = await send(at, Math.min(size, at + chunkSize))
      failures = 0
    } catch (error) {
      const mayGoOn = isTemporary(error) || error instanceof OffsetMismatchError
      if (!mayGoOn || failures >= connection.retries) throw error
      await backOff(error, failures++, signal)
      at = await receivedBytes()
    }
  }
  onProgress?.({ sent: size, size, uploadId })
  const input = { path, query: queryOf(options) }
  return connection.run('post', '/api/v1/uploads/{uploadId}/finalize', input, { signal, timeout })
}

async function begin(connection: Connection, kbId: string, fileSize: number, options: Named): Promise<Ticket> {
  const { filename, path, contentHash } = options
  const body = {
    ...{ filename, fileSize },
    ...(path !== undefined && { path }),
    ...(contentHash !== undefined && { contentHash }),
    ...metadataText(options.metadata),
  }
  const input = { path: { kbId }, query: queryOf(options), body }
  return (await connection.run('post', '/api/v1/knowledge-bases/{kbId}/documents/upload/init', input, options)).data
}

const resumed = (uploadId: string): Ticket => ({ uploadId, chunkSize: 2 ** 22 })

function queryOf({ force, replace }: UploadOptions): { force?: boolean; replace?: boolean } {
  return { ...(force && { force }), ...(replace && { replace }) }
}
