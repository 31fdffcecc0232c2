import { randomUUID } from 'node:crypto'
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { ExtractPool } from '../chat/extract/extract-pool.ts'
import { Cluster } from '../cluster/cluster.ts'
import type { DiffPool } from '../compare/diff-pool.ts'
import { GanglionError } from '../contract/errors.ts'
import { readRef } from '../git/refs/refs.ts'
import { Repository } from '../git/repository.ts'
import { candidateBelongsTo, isUuid } from '../knowledge/candidate-id.ts'
import type { ParserPool } from '../markdown/parse/parser-pool.ts'
import type { RenderPool } from '../markdown/render/render-pool.ts'
import type { SearchPool } from '../search/search-pool.ts'
import { ApiKeys } from '../store/accounts/api-keys.ts'
import { Audit } from '../store/accounts/audit.ts'
import { OneTimeLinks } from '../store/accounts/one-time-links.ts'
import { Sessions } from '../store/accounts/sessions.ts'
import { Tours } from '../store/accounts/tours.ts'
import { Users } from '../store/accounts/users.ts'
import { ChatSessions } from '../store/chat-sessions.ts'
import { DataDirectory } from '../store/data-directory.ts'
import type { Database } from '../store/database/database.ts'
import { RestoreUnfinished } from '../store/database/errors.ts'
import type { WhenOlder } from '../store/database/migrations/migrate.ts'
import { openDatabase } from '../store/database/open-database.ts'
import type { Schema } from '../store/database/schema.ts'
import { type Isolation, inTransaction } from '../store/database/transaction.ts'
import { EventLog } from '../store/events.ts'
import { ForgeLinks } from '../store/forge/forge-links.ts'
import { ForgePulls } from '../store/forge/forge-pulls.ts'
import { Idempotency } from '../store/idempotency.ts'
import { Jobs } from '../store/jobs.ts'
import { KnowledgeBases } from '../store/knowledge-bases.ts'
import { readProjectionAt } from '../store/projection/overview-queries.ts'
import { type AllTables, type ProjectionHeads, projectionFile } from '../store/projection/projection.ts'
import { Stamps } from '../store/projection/stamps.ts'
import { type RateCounter, rateCounter } from '../store/rate-counter.ts'
import type { S3Options } from '../store/s3/s3-bucket.ts'
import { Sources } from '../store/sources/sources.ts'
import { Tenants } from '../store/tenants.ts'
import { Webhooks } from '../store/webhooks.ts'
import { inUse } from './kb-use.ts'
import { mainRef, queueRef } from './knowledge-base/kb-refs.ts'
import type { KbIdentity, KnowledgeBase } from './knowledge-base/knowledge-base.ts'
import type { ReadableKb } from './knowledge-base/readable-kb.ts'
import { loadKb } from './load-kb.ts'
import { OpenKbs, openAtOnce } from './open-kbs.ts'
import { SignInThrottle, signInSpan } from './people/sign-in-throttle.ts'
import { FileStreams } from './read/attachments/file-streams.ts'
import { MainSettings } from './read/main-settings.ts'
import { NeuronAnswers } from './read/neuron-answers.ts'
import { CandidateRefs } from './review/candidate-refs.ts'
import type { EmbeddingModel } from './search/embedding-model.ts'
import { KbSearch } from './search/kb-search.ts'
import { SearchAnswers } from './search/search-answers.ts'
import { searchedSources } from './search/source-shelf.ts'
import { blobBucket, openSourceStores, type SourceStores } from './sources/source-stores.ts'
import { Threads } from './threads.ts'

export type GanglionOptions = {
  dataDir: string
  /** The address of a PostgreSQL database for the state that git does not hold; without it, it is a file in the data directory. */
  database?: string | undefined
  /** What is done with a database of an older version; without it, it is migrated. */
  whenOlder?: WhenOlder
  /** Where people reach the server; links begin with it. Without it they are relative. */
  publicUrl?: string | undefined
  /** The bucket for the bytes of Sources; without it they are in the data directory. */
  bucket?: S3Options | undefined
  /** The bucket in which several machines keep what they share, with one PostgreSQL database: packs, and the bytes of Sources. */
  objects?: S3Options | undefined
  /** For a server: follows what other programs do to the repositories, and reports what goes wrong on the way. */
  watch?: { onError: (error: unknown) => void }
  now?: () => Date
  /** Finds chunks by meaning, too; without it search knows words only. */
  embeddingModel?: EmbeddingModel | undefined
  /** Threads that others use too, who close them. Without it there are own ones. */
  threads?: Threads
}

/** Names of knowledge bases that are kept in memory. */
const maxIdentities = 1_000

/** One data directory, open: its state, and its knowledge bases as they are asked for. */
export class Ganglion {
  readonly directory: DataDirectory
  /** The state that git does not hold. */
  readonly database: Database
  /** Undefined: the file in the data directory. It may hold a password. */
  readonly databaseAddress: string | undefined
  readonly bucket: S3Options | undefined
  readonly objects: S3Options | undefined
  /** Set if repositories are shared with other machines: those in the data directory are then copies. */
  readonly cluster: Cluster | undefined
  readonly tenants: Tenants
  readonly knowledgeBases: KnowledgeBases
  readonly apiKeys: ApiKeys
  readonly users: Users
  readonly sessions: Sessions
  readonly oneTimeLinks: OneTimeLinks
  readonly audit: Audit
  readonly signIns: SignInThrottle
  readonly mainSettings: MainSettings
  /** Requests of callers, by what they count as. */
  readonly requestCounter: RateCounter
  readonly idempotency: Idempotency
  readonly chatSessions: ChatSessions
  readonly events: EventLog
  readonly sources: Sources
  readonly uploads: SourceStores['uploads']
  readonly uploadBytes: SourceStores['uploadBytes']
  readonly uploadLocks: SourceStores['uploadLocks']
  readonly blobs: SourceStores['blobs']
  readonly sourceTexts: SourceStores['sourceTexts']
  readonly modelDrafts: SourceStores['modelDrafts']
  readonly jobs: Jobs
  readonly webhooks: Webhooks
  readonly forgeLinks: ForgeLinks
  readonly forgePulls: ForgePulls
  readonly stamps: Stamps
  readonly tours: Tours
  readonly now: () => Date
  readonly embeddingModel: EmbeddingModel | undefined
  readonly parser: ParserPool
  readonly renderer: RenderPool
  readonly neuronAnswers: NeuronAnswers
  readonly searchAnswers: SearchAnswers
  readonly fileStreams = new FileStreams()
  readonly diffs: DiffPool
  readonly extracts: ExtractPool
  readonly #searchPool: SearchPool
  readonly #searches = new WeakMap<ReadableKb, KbSearch>()
  readonly #candidateRefs = new WeakMap<KnowledgeBase, CandidateRefs>()
  /** By tenant and name. They never change, and none is ever removed. */
  readonly #identities = new LRUCache<string, KbIdentity>({ max: maxIdentities })
  /** Where the server is reached, without a slash at the end; empty: it does not know. */
  readonly publicUrl: string
  readonly #onError: (error: unknown) => void
  readonly #ownThreads: Threads | undefined
  readonly #open: OpenKbs

  private constructor(directory: DataDirectory, database: Database, options: GanglionOptions) {
    this.directory = directory
    this.database = database
    this.now = options.now ?? database.now
    this.databaseAddress = options.database
    this.neuronAnswers = new NeuronAnswers(database.revision)
    this.searchAnswers = new SearchAnswers(database.revision)
    this.tenants = new Tenants(database.db)
    this.knowledgeBases = new KnowledgeBases(database.db)
    this.apiKeys = new ApiKeys(database)
    this.users = new Users(database.db)
    this.sessions = new Sessions(database.db)
    this.oneTimeLinks = new OneTimeLinks(database.db)
    this.audit = new Audit(database.db)
    this.mainSettings = new MainSettings(this)
    this.signIns = new SignInThrottle(
      rateCounter({ db: database.db, now: this.now }, { name: 'sign-in', span: signInSpan }),
    )
    this.requestCounter = rateCounter({ db: database.db, now: this.now }, { name: 'request', span: 60_000 })
    this.idempotency = new Idempotency(database.db, this.now)
    this.chatSessions = new ChatSessions(database.db)
    this.events = new EventLog(database.db, { notifications: database.notifications })
    this.sources = new Sources(database.db, this.events)
    const { objects } = options
    this.objects = objects
    this.cluster = objects && new Cluster(database, objects)
    this.bucket = blobBucket(options)
    const { now, bucket } = this
    const stores = openSourceStores({ directory, database, now, bucket, objects })
    this.uploads = stores.uploads
    this.uploadBytes = stores.uploadBytes
    this.uploadLocks = stores.uploadLocks
    this.blobs = stores.blobs
    this.sourceTexts = stores.sourceTexts
    this.modelDrafts = stores.modelDrafts
    this.jobs = new Jobs(database.db, database.notifications)
    this.webhooks = new Webhooks(database.db)
    this.forgeLinks = new ForgeLinks(database.db)
    this.forgePulls = new ForgePulls(database.db)
    this.stamps = new Stamps(database.db)
    this.tours = new Tours(database.db)
    this.embeddingModel = options.embeddingModel
    const threads = options.threads ?? new Threads()
    this.#ownThreads = options.threads === undefined ? threads : undefined
    this.parser = threads.parser
    this.renderer = threads.renderer
    this.diffs = threads.diffs
    this.extracts = threads.extracts
    this.#searchPool = threads.search
    this.#onError = (error) => options.watch?.onError(error)
    this.#open = new OpenKbs((identity) => loadKb(this, identity, options.watch), this.#onError)
    this.publicUrl = options.publicUrl?.replace(/\/+$/, '') ?? ''
  }

  /** @throws {RestoreUnfinished}; what {@link openDatabase} throws */
  static async open(options: GanglionOptions): Promise<Ganglion> {
    const directory = DataDirectory.open(options.dataDir)
    const database = await openDatabase(options.database ?? directory.database, options.whenOlder)
    const ganglion = new Ganglion(directory, database, options)
    if ((await ganglion.stamps.find('restore')) === undefined) return ganglion
    await ganglion.close()
    throw new RestoreUnfinished()
  }

  /** A tenant's knowledge base by slug or UUID, up to date with its refs. @throws {GanglionError} `not_found` */
  async kb(tenantId: string, slugOrId: string): Promise<KnowledgeBase> {
    return this.openKb(await this.#identityOf(tenantId, slugOrId))
  }

  /** The same as {@link kb}, for what reads main: waits for no candidates. @throws {GanglionError} `not_found` */
  async readableKb(tenantId: string, slugOrId: string): Promise<ReadableKb> {
    return this.openToRead(await this.#identityOf(tenantId, slugOrId))
  }

  async #identityOf(tenantId: string, slugOrId: string): Promise<KbIdentity> {
    const name = `${tenantId} ${slugOrId}`
    const identity = this.#identities.get(name) ?? (await this.knowledgeBases.find(tenantId, slugOrId))
    if (identity === undefined) throw new GanglionError('not_found')
    this.#identities.set(name, identity)
    return identity
  }

  /** The knowledge base that a candidate's id names. @throws {GanglionError} `not_found` */
  async kbOfCandidate(tenantId: string, candidateId: string): Promise<KnowledgeBase> {
    if (!isUuid(candidateId)) throw new GanglionError('not_found')
    const isNamed = (kb: KbIdentity) => kb.tenantId === tenantId && candidateBelongsTo(candidateId, kb.id)
    const identity = this.#open.identities().find(isNamed) ?? (await this.knowledgeBases.list(tenantId)).find(isNamed)
    if (identity === undefined) throw new GanglionError('not_found')
    return this.openKb(identity)
  }

  /** Opens a knowledge base, finishing what a crash interrupted, or brings the open one up to its refs. */
  async openKb(identity: KbIdentity): Promise<KnowledgeBase> {
    return this.#open.open(identity)
  }

  /** The same as {@link openKb}, for what reads main: waits for no candidates. */
  async openToRead(identity: KbIdentity): Promise<ReadableKb> {
    return this.#open.openToRead(identity)
  }

  /**
   * Brings the repository in the data directory up to date where it is a copy: for who reads it without opening it. Lets others run
   * first: reading one is synchronous, and a tenant may have many.
   */
  async bringUp({ id }: Pick<KbIdentity, 'id'>): Promise<void> {
    await nextTurn()
    const gitDir = this.directory.repository(id)
    if (this.cluster === undefined || !(await this.cluster.prepare(id, gitDir))) return
    const repository = new Repository(gitDir)
    await this.cluster
      .refsOf(id, repository, [queueRef, mainRef])
      .readHeads()
      .finally(() => repository.close())
  }

  /** Reads the tables of a knowledge base as its refs are now. It is opened only if they are behind: a tenant may have many. */
  async readTables<Result>(identity: KbIdentity, read: (sql: AllTables) => Result): Promise<Result> {
    const { id } = identity
    if (!this.#open.has(id)) {
      const file = join(this.directory.index(id), projectionFile)
      const result = readProjectionAt(file, await this.headsOf(identity), (sql) => ({ value: read(sql) }))
      if (result !== undefined) return result.value
    }
    return inUse(async () => read((await this.openKb(identity)).projection.read))
  }

  /** The commits of a knowledge base, which is not opened. */
  async headsOf(identity: KbIdentity): Promise<ProjectionHeads> {
    await this.bringUp(identity)
    const gitDir = this.directory.repository(identity.id)
    return { main: await readRef(gitDir, mainRef), queue: await readRef(gitDir, queueRef) }
  }

  /**
   * Opens knowledge bases of a tenant, as many as stay open: what reaches a repository around the server is noticed only where it is
   * open, else when it is opened. One that cannot be opened says so to whoever asks for it.
   */
  async openSome(tenantId: string): Promise<void> {
    const identities = (await this.knowledgeBases.list(tenantId)).slice(0, openAtOnce)
    await Promise.allSettled(identities.map((identity) => inUse(() => this.openKb(identity))))
  }

  /**
   * Takes the copy of a repository and its index out of their places, unless its knowledge base is open.
   * @returns the paths that are to be removed
   */
  setAside(id: string): string[] {
    if (this.#open.has(id)) return []
    // At once, so that nobody opens it meanwhile. A start removes what a crash leaves there.
    const paths = [this.directory.repository(id), this.directory.index(id)].filter((path) => existsSync(path))
    return paths.map((path) => {
      const aside = join(this.directory.incoming, `evicted-${randomUUID()}`)
      renameSync(path, aside)
      return aside
    })
  }

  /** The knowledge bases that are open now. */
  async openKbs(): Promise<KnowledgeBase[]> {
    return this.#open.all()
  }

  /** Those that are open or being opened. */
  openIdentities(): KbIdentity[] {
    return this.#open.identities()
  }

  /** So many may be open at once. */
  get mostOpen(): number {
    return this.#open.most
  }

  /** The search index of an open knowledge base. */
  search(kb: ReadableKb): KbSearch {
    const known = this.#searches.get(kb)
    if (known !== undefined) return known
    const directory = this.directory.index(kb.identity.id)
    const sources = searchedSources(kb.identity, this)
    const { embeddingModel: model, now } = this
    const vectors = model && { file: this.directory.vectors(kb.identity.id), model: model.name }
    const embedding = model && { model, now }
    const options = { pool: this.#searchPool, parser: this.parser, directory, sources, vectors, embedding }
    const search = new KbSearch(kb, options)
    this.#searches.set(kb, search)
    return search
  }

  /** The heads of an open knowledge base's pending candidates. */
  candidateRefs(kb: KnowledgeBase): CandidateRefs {
    const known = this.#candidateRefs.get(kb)
    if (known !== undefined) return known
    const refs = new CandidateRefs(kb, { onError: this.#onError })
    this.#candidateRefs.set(kb, refs)
    return refs
  }

  /** Writes to several stores: all of it, or, where something throws, nothing. See {@link inTransaction}. */
  async transaction<Result>(
    work: (transaction: Transaction<Schema>) => Promise<Result>,
    isolation?: Isolation,
  ): Promise<Result> {
    return inTransaction(this.database.db, work, isolation)
  }

  /** Where a curator finds a candidate. */
  queueUrl(candidateId: string): string {
    return `${this.publicUrl}/queue/${candidateId}`
  }

  /** Where a one-time link leads. Its token is in the query, which no log holds. */
  setUpUrl(token: string): string {
    return `${this.publicUrl}/set-up?link=${token}`
  }

  /** Where a forge sends the webhooks of a link to. */
  forgeEventsUrl(linkId: string): string {
    return `${this.publicUrl}/forge/${linkId}/events`
  }

  /** Where an identity provider sends browsers back to. */
  signInCallbackUrl(): string {
    return `${this.publicUrl}/sign-in/oidc/callback`
  }

  /** Where a Neuron can be read. */
  neuronUrl(kbSlug: string, seqId: string): string {
    return `${this.publicUrl}/api/v1/neurons/${kbSlug}/${seqId}`
  }

  /** Where a knowledge base's repository is cloned from. */
  cloneUrl(tenantSlug: string, kbSlug: string): string {
    return `${this.publicUrl}/git/${tenantSlug}/${kbSlug}.git`
  }

  fileUrl(kbSlug: string, path: string): string {
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    return `${this.publicUrl}/api/v1/knowledge-bases/${kbSlug}/files/${encoded}`
  }

  /** Finishes what is under way, then closes everything. */
  async close(): Promise<void> {
    await this.#open.close()
    await this.#ownThreads?.close()
    await this.database.close()
  }
}
