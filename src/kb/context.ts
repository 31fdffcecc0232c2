import type { EventEmitter } from 'node:events'
import type { TestEffects, TestResult } from '../contract/answer-tests.ts'
import type { Urls } from '../contract/urls.ts'
import type { CandidateStatus } from '../contract/vocabulary.ts'
import type { ParserPool } from '../markdown/pool/parser-pool.ts'
import type { EmbeddingModel } from '../models/embeddings.ts'
import type { Database } from '../state/database/database.ts'
import type { DataDirectory } from '../state/directory/data-directory.ts'
import type { Stores } from '../state/open-stores.ts'
import type { S3Options } from '../state/s3/s3-bucket.ts'
import type { Threads } from '../system/threads.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import type { OpenKbs } from './open/open-kbs.ts'
import type { ReadableKb } from './readable-kb.ts'

export type CandidateAct = 'submit' | 'approve' | 'dismiss' | 'reopen' | 'comment' | 'request-changes' | 'assign'

/** Runs answer tests for code that may not import search and chat. Methods return undefined if main has no tests. */
type AnswerTester = {
  /** Returns how approvals change the results of tests. @throws {GanglionError} `not_found`, `not_pending` */
  effects: (kb: KnowledgeBase, candidateIds: readonly string[]) => Promise<TestEffects> | undefined
  /** Returns the results of the answer tests of main. @throws {GanglionError} `unavailable` */
  results: (kb: KnowledgeBase) => Promise<TestResult[]> | undefined
}

export interface Context extends Stores {
  readonly directory: DataDirectory
  readonly database: Database
  /** URL of the database; undefined: the file in the data directory. It may contain a password. */
  readonly databaseAddress: string | undefined
  /** Bucket for the bytes of Sources; undefined: they are in the data directory. */
  readonly bucket: S3Options | undefined
  /** Bucket for what several machines share. */
  readonly objects: S3Options | undefined
  /** Repositories shared with other machines. If present, those in the data directory are copies. */
  readonly cluster: Cluster | undefined
  readonly urls: Urls
  readonly threads: Threads
  readonly parser: ParserPool
  readonly embeddingModel: EmbeddingModel | undefined
  readonly kbs: OpenKbs
  /** Opens a tenant's knowledge base by slug or UUID, up to date with its refs. @throws {GanglionError} `not_found` */
  readonly kb: (tenantId: string, slugOrId: string) => Promise<KnowledgeBase>
  /** Opens a knowledge base like {@link kb}, but to read main only: does not wait for candidates. @throws {GanglionError} `not_found` */
  readonly readableKb: (tenantId: string, slugOrId: string) => Promise<ReadableKb>
  readonly tests: AnswerTester
  readonly now: () => Date
  /** Emits each act on a candidate, with the resulting status. */
  readonly acts: EventEmitter<{ candidate: [act: CandidateAct, status: CandidateStatus] }>
  /** Reports an error that no caller waits for. */
  readonly onError: (error: unknown) => void
}

/** Returns a function that creates one value for each owner on first use, and keeps it while the owner lives. */
export function onePer<Owner extends object, Rest extends unknown[], Value>(
  make: (owner: Owner, ...rest: Rest) => Value,
): (owner: Owner, ...rest: Rest) => Value {
  const made = new WeakMap<Owner, { value: Value }>()
  return (owner, ...rest) => made.getOrInsertComputed(owner, () => ({ value: make(owner, ...rest) })).value
}

/** Reports an act on a candidate to the metrics, and returns its answer. Events come from git; see `events/derive-events.ts`. */
export function emitAct<Answer extends { status: CandidateStatus }>(
  { acts }: Pick<Context, 'acts'>,
  act: CandidateAct,
  answer: Answer,
): Answer {
  acts.emit('candidate', act, answer.status)
  return answer
}
