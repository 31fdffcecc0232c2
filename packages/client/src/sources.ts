import { Call, List } from './call.ts'
import { type Connection, delay, type RequestOptions } from './connection.ts'
import { NotFoundError } from './error-classes.ts'
import type { Query, Schemas } from './operation.ts'
import { type UploadOptions, uploadFile } from './upload.ts'
import type { Uploadable } from './upload-content.ts'

/** Uploaded files, by their ids. */
export function sourcesOf(connection: Connection) {
  const path = '/api/v1/documents/{docId}'
  const get = (docId: string, options?: RequestOptions) => connection.call('get', path, { path: { docId } }, options)
  return {
    get,
    /** The response with the bytes of the file; its body is not read. */
    content: async (docId: string, options?: RequestOptions): Promise<Response> =>
      (await connection.run('get', `${path}/content`, { path: { docId } }, { ...options, accept: '*/*' })).response,
    /** Ingests a Source again. Not idempotent, so it is not repeated if its response is lost. */
    ingest: (docId: string, options?: RequestOptions) =>
      connection.call('post', `${path}/ingest`, { path: { docId } }, { ...options, kind: 'once' }),
    /** Waits until the ingest has ended: `status` is then `success`, or `failed`, and `errorMessage` says why. */
    wait: async (docId: string, options?: RequestOptions): Promise<Schemas['Source']> => {
      for (let pause = 250; ; pause = Math.min(5_000, pause * 1.5)) {
        const sent = connection.call('get', '/api/v1/me/sources/{docId}', { path: { docId } }, options)
        const source = await sent.catch((error) => {
          // A curator may also wait for what another key sent.
          if (error instanceof NotFoundError) return get(docId, options)
          throw error
        })
        if (source.status === 'success' || source.status === 'failed') return source
        await delay(pause, options?.signal)
      }
    },
    archive: (docId: string, options?: RequestOptions) => connection.call('delete', path, { path: { docId } }, options),
    /** Removes an upload in chunks that is not to go on. */
    abandon: (uploadId: string, options?: RequestOptions) =>
      connection.call('delete', '/api/v1/uploads/{uploadId}', { path: { uploadId } }, { ...options, kind: 'once' }),
  }
}

/** The same, and the Sources of one knowledge base. */
export function kbSourcesOf(connection: Connection, kbId: string) {
  return {
    ...sourcesOf(connection),
    /** Uploads a file at once or, if it is large, in chunks that go on where the connection broke. */
    upload: (file: Uploadable, options: UploadOptions = {}) => new Call(uploadFile(connection, kbId, file, options)),
    list: (query: Query<'listSources'> = {}, options?: RequestOptions) =>
      new List(
        (page) => {
          const input = { path: { kbId }, query: { ...query, ...page } }
          return connection.run('get', '/api/v1/knowledge-bases/{kbId}/documents', input, options)
        },
        ({ documents }) => documents,
      ),
  }
}
