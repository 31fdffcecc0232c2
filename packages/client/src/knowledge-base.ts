import { List } from './call.ts'
import { candidatesOf, type NewCandidate } from './candidates.ts'
import { chatOf } from './chat.ts'
import type { Connection, RequestOptions } from './connection.ts'
import { type EventsOptions, followEvents } from './events.ts'
import type { Query, Schemas } from './operation.ts'
import { kbSourcesOf } from './sources.ts'

/** A new text for a Neuron. Without `title`, it keeps its own. */
type Correction = Pick<NewCandidate, 'content' | 'confidence' | 'impactEstimate'> & {
  title?: string
  metadata?: Record<string, unknown>
}

/** What there is to call of one knowledge base. */
export function knowledgeBaseOf(connection: Connection, kbId: string) {
  const kb = '/api/v1/knowledge-bases/{kbId}'
  const path = { kbId }
  return {
    candidates: candidatesOf(connection, kbId),
    chat: chatOf(connection, kbId),
    neurons: neuronsOf(connection, kbId),
    sources: kbSourcesOf(connection, kbId),
    search: (q: string, query: Omit<Query<'search'>, 'q'> = {}, options?: RequestOptions) =>
      connection.call('get', `${kb}/search`, { path, query: { ...query, q } }, options),
    /** Passages for a question, for a language model. */
    retrieve: (query: string, input: Omit<Schemas['RetrieveInput'], 'query'> = {}, options?: RequestOptions) =>
      connection.call('post', `${kb}/retrieve`, { path, body: { ...input, query } }, { ...options, kind: 'read' }),
    feedback: (body: Schemas['FeedbackInput'], options?: RequestOptions) =>
      connection.call('post', `${kb}/reader-feedback`, { path, body }, options),
    /** Proposes to take back what one key, person, connector, Source or model has changed since a time. */
    undo: (body: Schemas['UndoInput'], options?: RequestOptions) =>
      connection.call('post', `${kb}/undo`, { path, body }, options),
    /** Runs the answer tests, for curators. */
    tests: (options?: RequestOptions) => connection.call('get', `${kb}/tests`, { path }, options),
    /** Adds an answer test; without an expectation, today's answer becomes one. */
    addTest: (body: Schemas['AnswerTestInput'], options?: RequestOptions) =>
      connection.call('post', `${kb}/tests`, { path, body }, options),
    /** Dismisses what proposes a test of a question. */
    dismissTest: (body: Schemas['TestDismissal'], options?: RequestOptions) =>
      connection.call('post', `${kb}/tests/dismiss`, { path, body }, options),
    graph: (query: Query<'readGraph'> = {}, options?: RequestOptions) =>
      connection.call('get', `${kb}/graph`, { path, query }, options),
    /** An index for language models. */
    llms: async (options?: RequestOptions): Promise<string> =>
      (await connection.run('get', `${kb}/llms.txt`, { path }, { ...options, accept: 'text/plain' })).response.text(),
    /** The response with an attachment of a Neuron, by its path in the repository; its body is not read. */
    file: async (file: string, options?: RequestOptions): Promise<Response> => {
      const input = { path: { kbId, path: file } }
      return (await connection.run('get', `${kb}/files/{path}`, input, { ...options, accept: '*/*' })).response
    },
    /** Follows events without end. */
    events: (events: Omit<EventsOptions, 'kb'> = {}, options?: Pick<RequestOptions, 'signal'>) =>
      followEvents(connection, { ...events, kb: kbId }, options),
  }
}

function neuronsOf(connection: Connection, kb: string) {
  /** `at`: a commit, to read the Neuron as it was then. */
  const get = (seqId: string, query: Query<'readNeuron'> = {}, options?: RequestOptions) =>
    connection.call('get', '/api/v1/neurons/{kb}/{seqId}', { path: { kb, seqId }, query }, options)
  return {
    get,
    /** Proposes a correction of the version that `get` returned: what others have changed since is kept. `content` is the whole text. */
    correct: (
      { seqId, version, title }: Pick<Schemas['Neuron'], 'seqId' | 'version' | 'title'>,
      { metadata = {}, ...changes }: Correction,
      options?: RequestOptions,
    ) =>
      candidatesOf(connection, kb).submit(
        {
          ...{ kind: 'user-correction', title, ...changes },
          metadata: { ...metadata, targetNeuron: seqId, baseVersion: version },
        },
        options,
      ),
    list: (query: Query<'listNeurons'> = {}, options?: RequestOptions) =>
      new List(
        (page) => {
          const input = { path: { kbId: kb }, query: { ...query, ...page } }
          return connection.run('get', '/api/v1/knowledge-bases/{kbId}/neurons', input, options)
        },
        ({ neurons }) => neurons,
      ),
    /** Who said each sentence. */
    blame: (seqId: string, query: Query<'readBlame'> = {}, options?: RequestOptions) =>
      connection.call('get', '/api/v1/neurons/{kb}/{seqId}/blame', { path: { kb, seqId }, query }, options),
    /** Says that a Neuron is still true: `until` a day, or as `kb.yaml` says. */
    stillTrue: (seqId: string, body: Schemas['StillTrue'] = {}, options?: RequestOptions) =>
      connection.call('post', '/api/v1/neurons/{kb}/{seqId}/still-true', { path: { kb, seqId }, body }, options),
    /** Links of a Neuron in both directions, and those that lead nowhere. */
    links: async (seqId: string, options?: RequestOptions) => {
      const { links, backlinks, unresolved } = await get(seqId, {}, options)
      return { links, backlinks, unresolved }
    },
  }
}
