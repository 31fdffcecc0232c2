import type { EventEmitter } from 'node:events'
import type { TestEffects, TestResult } from '../contract/answer-tests.ts'
import type { Urls } from '../contract/urls.ts'
import type { CandidateStatus } from '../contract/vocabulary.ts'
import type { ParserPool } from '../markdown/pool/parser-pool.ts'
import type { EmbeddingModel } from '../models/embedding-model.ts'
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

/** What is known of answer tests where search and chat are not; undefined where main has none. */
type AnswerTester = {
  /** What approvals change in their results. @throws {GanglionError} `not_found`, `not_pending` */
  effects: (kb: KnowledgeBase, candidateIds: readonly string[]) => Promise<TestEffects> | undefined
  /** On main. @throws {GanglionError} `unavailable` */
  results: (kb: KnowledgeBase) => Promise<TestResult[]> | undefined
}

export interface Context extends Stores {
  readonly directory: DataDirectory
  readonly database: Database
  /** Undefined: the file in the data directory. It may hold a password. */
  readonly databaseAddress: string | undefined
  /** For the bytes of Sources; undefined: they are in the data directory. */
  readonly bucket: S3Options | undefined
  /** The bucket in which several machines keep what they share. */
  readonly objects: S3Options | undefined
  /** Set if repositories are shared with other machines: those in the data directory are then copies. */
  readonly cluster: Cluster | undefined
  readonly urls: Urls
  readonly threads: Threads
  readonly parser: ParserPool
  readonly embeddingModel: EmbeddingModel | undefined
  readonly kbs: OpenKbs
  /** Opens a tenant's knowledge base by slug or UUID, up to date with its refs. @throws {GanglionError} `not_found` */
  readonly kb: (tenantId: string, slugOrId: string) => Promise<KnowledgeBase>
  /** The same as {@link kb}, for what reads main: waits for no candidates. @throws {GanglionError} `not_found` */
  readonly readableKb: (tenantId: string, slugOrId: string) => Promise<ReadableKb>
  readonly tests: AnswerTester
  readonly now: () => Date
  /** Tells of each act on a candidate, and the status that it left the candidate with. */
  readonly acts: EventEmitter<{ candidate: [act: CandidateAct, status: CandidateStatus] }>
  /** Reports what went wrong where no caller waits for it. */
  readonly onError: (error: unknown) => void
}

/** Returns a function that makes one value for each owner, when it is first asked for, and keeps it while the owner lives. */
export function onePer<Owner extends object, Rest extends unknown[], Value>(
  make: (owner: Owner, ...rest: Rest) => Value,
): (owner: Owner, ...rest: Rest) => Value {
  const made = new WeakMap<Owner, { value: Value }>()
  return (owner, ...rest) => made.getOrInsertComputed(owner, () => ({ value: make(owner, ...rest) })).value
}

/** Emits an act on a candidate, and returns the answer to it. */
export function emitAct<Answer extends { status: CandidateStatus }>(
  { acts }: Pick<Context, 'acts'>,
  act: CandidateAct,
  answer: Answer,
): Answer {
  acts.emit('candidate', act, answer.status)
  return answer
}
