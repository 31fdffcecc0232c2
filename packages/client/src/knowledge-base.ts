import { List } from './call.ts'
import { candidatesOf, type NewCandidate } from './candidates.ts'
import { chatOf } from './chat.ts'
import type { Connection, RequestOptions } from './connection.ts'
import { type EventsOptions, followEvents } from './events.ts'
import type { Query, Schemas } from './operation.ts'
import { kbSourcesOf } from './sources.ts'

/** New text of a Neuron. Without `title`, the Neuron keeps its title. */
type Correction = Pick<NewCandidate, 'content' | 'confidence' | 'impactEstimate'> & {
  title?: string
  metadata?: Record<string, unknown>
}

/** Returns the methods for one knowledge base. */
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
    /** Retrieves passages that answer a question, for a language model. */
    retrieve: (query: string, input: Omit<Schemas['RetrieveInput'], 'query'> = {}, options?: RequestOptions) =>
      connection.call('post', `${kb}/retrieve`, { path, body: { ...input, query } }, { ...options, kind: 'read' }),
    feedback: (body: Schemas['FeedbackInput'], options?: RequestOptions) =>
      connection.call('post', `${kb}/reader-feedback`, { path, body }, options),
    /** Proposes to undo the changes of one key, person, connector, Source or model since a time. */
    undo: (body: Schemas['UndoInput'], options?: RequestOptions) =>
      connection.call('post', `${kb}/undo`, { path, body }, options),
    /** Runs the answer tests. Requires the role curator. */
    tests: (options?: RequestOptions) => connection.call('get', `${kb}/tests`, { path }, options),
    /** Adds an answer test. Without an expectation, the test expects the current answer. */
    addTest: (body: Schemas['AnswerTestInput'], options?: RequestOptions) =>
      connection.call('post', `${kb}/tests`, { path, body }, options),
    /** Dismisses the proposals of answer tests for a question. */
    dismissTest: (body: Schemas['TestDismissal'], options?: RequestOptions) =>
      connection.call('post', `${kb}/tests/dismiss`, { path, body }, options),
    graph: (query: Query<'readGraph'> = {}, options?: RequestOptions) =>
      connection.call('get', `${kb}/graph`, { path, query }, options),
    /** Returns an index for language models (`llms.txt`). */
    llms: async (options?: RequestOptions): Promise<string> =>
      (await connection.run('get', `${kb}/llms.txt`, { path }, { ...options, accept: 'text/plain' })).response.text(),
    /** Returns the response with an attachment, by its path in the repository. The caller reads the body. */
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
  /** Reads a Neuron. `at` in the query names the commit whose version is read. */
  const get = (seqId: string, query: Query<'readNeuron'> = {}, options?: RequestOptions) =>
    connection.call('get', '/api/v1/neurons/{kb}/{seqId}', { path: { kb, seqId }, query }, options)
  return {
    get,
    /** Returns a Neuron as Markdown: its title and its text. */
    markdown: async (
      seqId: string,
      query: Query<'readNeuronMarkdown'> = {},
      options?: RequestOptions,
    ): Promise<string> => {
      const input = { path: { kb, seqId }, query }
      const reading = { ...options, accept: 'text/markdown' }
      return (await connection.run('get', '/api/v1/neurons/{kb}/{seqId}.md', input, reading)).response.text()
    },
    /** Proposes a correction, with `content` as the whole text, of the version that `get` returned. Later changes by others are kept. */
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
    /** Returns the origin of each sentence. */
    blame: (seqId: string, query: Query<'readBlame'> = {}, options?: RequestOptions) =>
      connection.call('get', '/api/v1/neurons/{kb}/{seqId}/blame', { path: { kb, seqId }, query }, options),
    /** Confirms that a Neuron is still true, `until` a day. Default: the period set in `kb.yaml`. */
    stillTrue: (seqId: string, body: Schemas['StillTrue'] = {}, options?: RequestOptions) =>
      connection.call('post', '/api/v1/neurons/{kb}/{seqId}/still-true', { path: { kb, seqId }, body }, options),
    /** Returns the links from and to a Neuron, and its broken links. */
    links: async (seqId: string, options?: RequestOptions) => {
      const { links, backlinks, unresolved } = await get(seqId, {}, options)
      return { links, backlinks, unresolved }
    },
  }
}
