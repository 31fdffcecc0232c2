import { List } from './call.ts'
import type { Connection, RequestOptions } from './connection.ts'
import type { Query } from './operation.ts'

/** Returns the methods for the caller: identity, sent candidates and Sources, with their outcomes. */
export function meOf(connection: Connection) {
  return {
    get: (options?: RequestOptions) => connection.call('get', '/api/v1/me', {}, options),
    candidates: (query: Query<'listSentCandidates'> = {}, options?: RequestOptions) =>
      new List(
        (page) => connection.run('get', '/api/v1/me/candidates', { query: { ...query, ...page } }, options),
        ({ candidates }) => candidates,
      ),
    candidate: (id: string, options?: RequestOptions) =>
      connection.call('get', '/api/v1/me/candidates/{id}', { path: { id } }, options),
    sources: (query: Query<'listSentSources'> = {}, options?: RequestOptions) =>
      new List(
        (page) => connection.run('get', '/api/v1/me/sources', { query: { ...query, ...page } }, options),
        ({ documents }) => documents,
      ),
    /** Returns a Source with the Neurons that were made of it. */
    source: (docId: string, options?: RequestOptions) =>
      connection.call('get', '/api/v1/me/sources/{docId}', { path: { docId } }, options),
  }
}
