import { List } from './call.ts'
import type { Connection, RequestOptions } from './connection.ts'
import type { Query, Schemas } from './operation.ts'

/** Returns the methods for webhooks. */
export function webhooksOf(connection: Connection) {
  const path = '/api/v1/webhooks'
  return {
    list: (options?: RequestOptions) =>
      new List(
        () => connection.run('get', path, {}, options),
        ({ webhooks }) => webhooks,
      ),
    /** Creates a webhook. Only this response has its secret; null if the request was repeated because its response was lost. */
    create: (body: Schemas['WebhookInput'], options?: RequestOptions) =>
      connection.call('post', path, { body }, options),
    /** Returns a webhook with its last deliveries. */
    get: (id: string, options?: RequestOptions) => connection.call('get', `${path}/{id}`, { path: { id } }, options),
    /** Changes, pauses or resumes a webhook, or sends events again. */
    change: (id: string, body: Schemas['WebhookChange'], options?: RequestOptions) =>
      connection.call('patch', `${path}/{id}`, { path: { id }, body }, options),
    remove: (id: string, options?: RequestOptions) =>
      connection.call('delete', `${path}/{id}`, { path: { id } }, options),
    /** Replaces the secret; the former one signs, too, for a day. Not retried if the response is lost. */
    rotate: (id: string, options?: RequestOptions) =>
      connection.call('post', `${path}/{id}/rotate`, { path: { id } }, { ...options, kind: 'once' }),
    /** Sends a test message, and returns its outcome. Not retried if the response is lost. */
    test: (id: string, options?: RequestOptions) =>
      connection.call('post', `${path}/{id}/test`, { path: { id } }, { ...options, kind: 'once' }),
  }
}

/** Returns the methods for API keys, which need a key of the role `admin`. */
export function keysOf(connection: Connection) {
  const path = '/api/v1/keys'
  return {
    list: (query: Query<'listKeys'> = {}, options?: RequestOptions) =>
      new List(
        (page) => connection.run('get', path, { query: { ...query, ...page } }, options),
        ({ keys }) => keys,
      ),
    /** Creates a key. Only this response has its token; null if the request was repeated because its response was lost. */
    create: (body: Schemas['ApiKeyInput'], options?: RequestOptions) =>
      connection.call('post', path, { body }, options),
    limit: (id: string, limits: Schemas['ApiKeyChange']['limits'], options?: RequestOptions) =>
      connection.call('patch', `${path}/{id}`, { path: { id }, body: { limits } }, options),
    revoke: (id: string, options?: RequestOptions) =>
      connection.call('delete', `${path}/{id}`, { path: { id } }, options),
  }
}
