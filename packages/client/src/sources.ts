import { Call, List } from './call.ts'
import { type Connection, delay, type RequestOptions } from './connection.ts'
import { NotFoundError } from './error-classes.ts'
import type { Query, Schemas } from './operation.ts'
import { type UploadOptions, uploadFile } from './upload.ts'
import type { Uploadable } from './upload-content.ts'

/** Returns the methods for uploaded files, by their ids. */
export function sourcesOf(connection: Connection) {
  const path = '/api/v1/documents/{docId}'
  const get = (docId: string, options?: RequestOptions) => connection.call('get', path, { path: { docId } }, options)
  return {
    get,
    /** Returns the response with the bytes of the file. The caller reads the body. */
    content: async (docId: string, options?: RequestOptions): Promise<Response> =>
      (await connection.run('get', `${path}/content`, { path: { docId } }, { ...options, accept: '*/*' })).response,
    /** Ingests a Source again. The request is not idempotent, so it is not retried if its response is lost. */
    ingest: (docId: string, options?: RequestOptions) =>
      connection.call('post', `${path}/ingest`, { path: { docId } }, { ...options, kind: 'once' }),
    /** Waits until the ingest has ended. `status` is then `success`, or `failed` with a reason in `errorMessage`. */
    wait: async (docId: string, options?: RequestOptions): Promise<Schemas['Source']> => {
      for (let pause = 250; ; pause = Math.min(5_000, pause * 1.5)) {
        const sent = connection.call('get', '/api/v1/me/sources/{docId}', { path: { docId } }, options)
        const source = await sent.catch((error) => {
          // A curator may also wait for a Source that another key sent.
          if (error instanceof NotFoundError) return get(docId, options)
          throw error
        })
        if (source.status === 'success' || source.status === 'failed') return source
        await delay(pause, options?.signal)
      }
    },
    archive: (docId: string, options?: RequestOptions) => connection.call('delete', path, { path: { docId } }, options),
    /** Removes an unfinished upload in chunks. */
    abandon: (uploadId: string, options?: RequestOptions) =>
      connection.call('delete', '/api/v1/uploads/{uploadId}', { path: { uploadId } }, { ...options, kind: 'once' }),
  }
}

/** Returns the methods for the Sources of one knowledge base, and those by id. */
export function kbSourcesOf(connection: Connection, kbId: string) {
  return {
    ...sourcesOf(connection),
    /** Uploads a file in one request or, if it is large, in chunks, which resume after a broken connection. */
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
