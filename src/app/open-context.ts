import { EventEmitter } from 'node:events'
import { LRUCache } from 'lru-cache'
import { mainResults } from '../answer-tests/main-run.ts'
import { testEffects } from '../answer-tests/test-effects.ts'
import type { Answerer } from '../chat/answerer.ts'
import { ExtractPool } from '../chat/extract/extract-pool.ts'
import { GanglionError } from '../contract/errors.ts'
import { Urls } from '../contract/urls.ts'
import { Cluster } from '../kb/cluster/cluster.ts'
import type { Context } from '../kb/context.ts'
import type { KbIdentity } from '../kb/kb-identity.ts'
import { OpenKbs } from '../kb/open/open-kbs.ts'
import { ParserPool } from '../markdown/pool/parser-pool.ts'
import type { EmbeddingModel } from '../models/embeddings.ts'
import type { IdentityProviderOptions } from '../people/identity-provider.ts'
import { writeQuestions } from '../search/kb/question-log.ts'
import { blobBucket } from '../state/blobs/open-source-stores.ts'
import type { Database } from '../state/database/database.ts'
import { ErasureUnfinished, RestoreUnfinished } from '../state/database/database-errors.ts'
import type { WhenOlder } from '../state/database/migrations/migrate.ts'
import { openDatabase } from '../state/database/open-database.ts'
import { DataDirectory } from '../state/directory/data-directory.ts'
import { shareDirectory } from '../state/directory/directory-lock.ts'
import { noteRowsPlace, requireRepositories, requireRows } from '../state/directory/rows-place.ts'
import type { KnowledgeBases } from '../state/kb-store.ts'
import { openStores } from '../state/open-stores.ts'
import type { S3Options } from '../state/s3/s3-bucket.ts'
import { Threads } from '../system/threads.ts'
import { loadKb } from './load-kb.ts'

export type ContextOptions = {
  dataDir: string
  /** URL of a PostgreSQL database for the state that git does not hold; absent: a file in the data directory. */
  database?: string | undefined
  /** Handling of a database of another version; absent: it is migrated or created. */
  whenOlder?: WhenOlder
  /** Public URL of the server, with which links begin. Absent: links are relative. */
  publicUrl?: string | undefined
  /** Bucket for the bytes of Sources; absent: they are in the data directory. */
  bucket?: S3Options | undefined
  /** Bucket in which several machines with one PostgreSQL database share packs and the bytes of Sources. */
  objects?: S3Options | undefined
  /** Watcher of a server: follows changes of the repositories by other programs, and reports errors. */
  watch?: { onError: (error: unknown) => void }
  now?: () => Date
  /** Finds chunks by meaning, too; absent: search knows words only. */
  embeddingModel?: EmbeddingModel | undefined
  /** Threads shared with other contexts; the caller closes them. Absent: own threads, closed with the context. */
  threads?: Threads
  /** Answers questions; absent: answers are composed of extracts. */
  answerer?: Answerer
  identityProvider?: IdentityProviderOptions | undefined
  webhookPrivate?: boolean
  /** Set by the command that resumes an interrupted erasure. Without it, opening fails while one is unfinished. */
  finishes?: 'erasure' | undefined
  /** True for a process that holds the whole data directory; see `acquireWhole`. */
  isAlone?: boolean | undefined
  /** True if people are notified by e-mail. */
  sendsMail?: boolean
}

/** Context of routes: an open data directory, and the server's options. */
export interface AppContext extends Context {
  readonly answerer: Answerer
  readonly identityProvider: IdentityProviderOptions | undefined
  /** True if webhooks may go to private addresses. */
  readonly webhookPrivate: boolean
  /** True if people are notified by e-mail. */
  readonly sendsMail: boolean
}

export type OpenContext = AppContext & AsyncDisposable & { close(): Promise<void> }

/** Maximum number of knowledge base names in the cache. */
const maxIdentities = 1_000

/** Opens a data directory. @throws {RestoreUnfinished} @throws {ErasureUnfinished}; errors of {@link openDatabase} */
export async function openContext(options: ContextOptions): Promise<OpenContext> {
  const rows = { directory: DataDirectory.at(options.dataDir), address: options.database }
  requireRows(rows, { mayCreate: options.whenOlder !== 'refuse', isCache: options.objects !== undefined })
  const directory = DataDirectory.open(options.dataDir)
  const release = options.isAlone ? () => {} : shareDirectory(directory)
  const opening = openDatabase(options.database ?? directory.database, options.whenOlder)
  const database = await opening.catch((error: unknown) => {
    release()
    throw error
  })
  const { now = database.now, objects, watch, threads = new Threads() } = options
  const bucket = blobBucket(options)
  const onError = (error: unknown) => watch?.onError(error)
  const kbs = new OpenKbs(
    (identity) => loadKb(ctx, identity, watch, () => find(identity.tenantId, identity.id)),
    onError,
  )
  const stores = openStores({ directory, database, now, bucket, objects })
  const find = identityFinder(stores.knowledgeBases, database)
  const ctx: OpenContext = {
    ...stores,
    directory,
    database,
    databaseAddress: options.database,
    bucket,
    objects,
    cluster: objects && new Cluster(database, objects),
    urls: new Urls(options.publicUrl),
    threads,
    parser: threads.of(ParserPool),
    embeddingModel: options.embeddingModel,
    kbs,
    kb: async (tenantId, slugOrId) => kbs.open(await find(tenantId, slugOrId)),
    readableKb: async (tenantId, slugOrId) => kbs.openToRead(await find(tenantId, slugOrId)),
    tests: { effects: (kb, ids) => testEffects(ctx, kb, ids), results: (kb) => mainResults(ctx, kb) },
    now,
    onError,
    acts: new EventEmitter(),
    answerer: options.answerer ?? threads.of(ExtractPool),
    identityProvider: options.identityProvider,
    webhookPrivate: options.webhookPrivate ?? false,
    sendsMail: options.sendsMail ?? false,
    async close() {
      await kbs.close()
      await writeQuestions(ctx)
      if (options.threads === undefined) await threads.close()
      await database.close()
      release()
    },
    [Symbol.asyncDispose]: () => ctx.close(),
  }
  try {
    if ((await ctx.markers.find('restore')) !== undefined) throw new RestoreUnfinished()
    if (options.finishes === undefined) {
      if ((await ctx.markers.find('erasure')) !== undefined) throw new ErasureUnfinished()
      if (objects === undefined) await requireRepositories(rows, ctx.knowledgeBases)
    }
    noteRowsPlace(rows)
    await ctx.cluster?.dropErasedCopies(directory)
    return ctx
  } catch (error) {
    await ctx.close()
    throw error
  }
}

/**
 * Returns a cached look-up of served knowledge bases by tenant and name. The cache is cleared when any may have been renamed or disabled.
 */
function identityFinder(knowledgeBases: KnowledgeBases, { notifications, revision }: Database) {
  const none = () => new LRUCache<string, KbIdentity>({ max: maxIdentities })
  let identities = none()
  let known = revision()
  notifications.listen('life', () => {
    identities = none()
  })
  return async (tenantId: string, slugOrId: string): Promise<KbIdentity> => {
    // The command line writes to the same file, without notifying other processes.
    const current = revision()
    if (current !== known) identities = none()
    known = current
    const cache = identities
    const name = `${tenantId} ${slugOrId}`
    const identity = cache.get(name) ?? (await knowledgeBases.find(tenantId, slugOrId))
    if (identity === undefined) throw new GanglionError('not_found')
    cache.set(name, identity)
    return identity
  }
}
