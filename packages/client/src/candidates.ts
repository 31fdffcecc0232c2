import { List } from './call.ts'
import type { Connection, RequestOptions, Sending } from './connection.ts'
import type { Query, Schemas } from './operation.ts'

export type Metadata = Record<string, unknown> | string | null

/** A proposed Neuron. `metadata` may be an object; a client of one knowledge base fills in `knowledgeBaseId`. */
export type NewCandidate = Omit<Schemas['CandidateInput'], 'kb' | 'metadata'> & { metadata?: Metadata }

/** Next version of a candidate. Its title and `metadata` stay as they are unless given. */
export type NewVersion = Omit<Schemas['CandidateVersion'], 'metadata'> & { metadata?: Metadata }

/** Next version of one of many candidates, or its withdrawal. `version`: the one that was read. */
export type Revision = Omit<Schemas['CandidateRevision'], 'metadata'> & { metadata?: Metadata }

/** Returns the methods of the queue of one knowledge base, or of all. */
export function candidatesOf(connection: Connection, kb?: string) {
  const path = '/api/v1/queue/candidates'
  const bodyOf = ({ metadata, ...candidate }: NewCandidate): Schemas['CandidateInput'] => ({
    ...(kb !== undefined && { knowledgeBaseId: kb }),
    ...candidate,
    ...metadataText(metadata),
  })
  return {
    /** Submits one candidate. `ifMatch` is the `ETag` of the Neuron that a correction is based on. */
    submit: (candidate: NewCandidate, options?: Matching) =>
      connection.call('post', path, { body: bodyOf(candidate) }, matching(options)),
    /** Submits up to 100 candidates; each has its own result. */
    submitAll: (candidates: readonly NewCandidate[], options?: RequestOptions) =>
      connection.call('post', `${path}/batch`, { body: { candidates: candidates.map(bodyOf) } }, options),
    list: (query: Query<'listCandidates'> = {}, options?: RequestOptions) =>
      new List(
        (page) =>
          connection.run('get', path, { query: { ...(kb !== undefined && { kb }), ...query, ...page } }, options),
        ({ candidates }) => candidates,
      ),
    get: (id: string, options?: RequestOptions) => connection.call('get', `${path}/{id}`, { path: { id } }, options),
    /** Makes the next version of a pending candidate. `ifMatch`, here and in {@link withdraw}, is its `ETag`, which `me.candidate` returns. */
    revise: (id: string, { metadata, ...version }: NewVersion, options?: Matching) => {
      const body = { ...version, ...metadataText(metadata) }
      return connection.call('put', `${path}/{id}`, { path: { id }, body }, matching(options))
    },
    /** Revises or withdraws up to 100 pending candidates; each has its own result. */
    reviseAll: (revisions: readonly Revision[], options?: RequestOptions) => {
      const candidates = revisions.map(({ metadata, ...revision }) => ({ ...revision, ...metadataText(metadata) }))
      return connection.call('put', `${path}/batch`, { body: { candidates } }, options)
    },
    withdraw: (id: string, options?: Matching) =>
      connection.call('delete', `${path}/{id}`, { path: { id } }, matching(options)),
    /** Approves a candidate. `ifMatch`, here and below, is its `ETag`, which {@link get} returns through `withResponse()`. */
    approve: (id: string, body: Schemas['CandidateEdit'] = {}, options?: Matching) =>
      connection.call('post', `${path}/{id}/approve`, { path: { id }, body }, matching(options)),
    dismiss: (id: string, body: Schemas['Dismissal'] = {}, options?: Matching) =>
      connection.call('post', `${path}/{id}/dismiss`, { path: { id }, body }, matching(options)),
    comment: (id: string, body: Schemas['CandidateComment'], options?: RequestOptions) =>
      connection.call('post', `${path}/{id}/comment`, { path: { id }, body }, options),
    requestChanges: (id: string, body: Schemas['ChangeRequest'], options?: Matching) =>
      connection.call('post', `${path}/{id}/request-changes`, { path: { id }, body }, matching(options)),
    /** Assigns a candidate to a curator, by e-mail address or key name. `null` removes the assignment. */
    assign: (id: string, assignee: string | null, options?: RequestOptions) =>
      connection.call('post', `${path}/{id}/assign`, { path: { id }, body: { assignee } }, options),
    /** Reopens a dismissed candidate. The request is not idempotent, so it is not retried if its response is lost. */
    reopen: (id: string, options?: Matching) =>
      connection.call('post', `${path}/{id}/reopen`, { path: { id } }, { ...matching(options), kind: 'once' }),
  }
}

type Matching = RequestOptions & { ifMatch?: string | undefined }

function matching({ ifMatch, ...options }: Matching = {}): Sending {
  return ifMatch === undefined ? options : { ...options, headers: { 'if-match': ifMatch } }
}

/** Serializes metadata, which the API expects as the text of a JSON object. */
export function metadataText(metadata: Metadata | undefined): { metadata?: string } {
  if (metadata === undefined || metadata === null) return {}
  return { metadata: typeof metadata === 'string' ? metadata : JSON.stringify(metadata) }
}
