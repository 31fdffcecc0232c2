import { keysOf, webhooksOf } from './administration.ts'
import { List } from './call.ts'
import { candidatesOf } from './candidates.ts'
import { chatOf } from './chat.ts'
import { Connection, type GanglionOptions, type RequestOptions } from './connection.ts'
import { type EventsOptions, followEvents } from './events.ts'
import { knowledgeBaseOf } from './knowledge-base.ts'
import { meOf } from './me.ts'
import type { Query } from './operation.ts'
import { sourcesOf } from './sources.ts'

/** Methods for one knowledge base. */
export type KnowledgeBase = ReturnType<typeof knowledgeBaseOf>

/** Client of a server, for all knowledge bases of the key's tenant. `kb` returns the methods for one of them. */
export class Ganglion {
  readonly candidates: ReturnType<typeof candidatesOf>
  readonly chat: ReturnType<typeof chatOf>
  readonly keys: ReturnType<typeof keysOf>
  readonly me: ReturnType<typeof meOf>
  readonly sources: ReturnType<typeof sourcesOf>
  readonly webhooks: ReturnType<typeof webhooksOf>
  readonly #connection: Connection

  constructor(options: GanglionOptions) {
    this.#connection = new Connection(options)
    this.candidates = candidatesOf(this.#connection)
    this.chat = chatOf(this.#connection)
    this.keys = keysOf(this.#connection)
    this.me = meOf(this.#connection)
    this.sources = sourcesOf(this.#connection)
    this.webhooks = webhooksOf(this.#connection)
  }

  /** Returns the methods for one knowledge base. @param id slug or UUID */
  kb(id: string): KnowledgeBase {
    return knowledgeBaseOf(this.#connection, id)
  }

  knowledgeBases(options?: RequestOptions) {
    return new List(
      () => this.#connection.run('get', '/api/v1/knowledge-bases', {}, options),
      ({ knowledgeBases }) => knowledgeBases,
    )
  }

  search(q: string, query: Omit<Query<'searchTenant'>, 'q'> = {}, options?: RequestOptions) {
    return this.#connection.call('get', '/api/v1/search', { query: { ...query, q } }, options)
  }

  /** Follows events without end. */
  events(events: EventsOptions = {}, options?: Pick<RequestOptions, 'signal'>) {
    return followEvents(this.#connection, events, options)
  }
}
