import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Awaiting } from '../contract/envelope.ts'
import { GanglionError } from '../contract/errors.ts'
import { FolderRefs } from '../git/folder-refs.ts'
import { GroupCommit } from '../git/group-commit.ts'
import { trailersOf } from '../git/history/trailers.ts'
import type { GitObject, Oid, Signature } from '../git/objects/object.ts'
import { clearAbandonedPacks } from '../git/objects/pack-files.ts'
import { clearAbandonedLocks } from '../git/refs/ref-lock.ts'
import type { Heads, RefStore } from '../git/refs/ref-store.ts'
import { Repository } from '../git/repository.ts'
import { clearAbandonedQuarantines } from '../git/serve/abandoned-quarantines.ts'
import type { Staging } from '../git/staging.ts'
import { formatCandidate } from '../markdown/file/candidate-file.ts'
import { parseKbFile } from '../markdown/file/kb-file.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { allTags } from '../markdown/page-tags.ts'
import type { ParserPool } from '../markdown/pool/parser-pool.ts'
import { type Actor, type Candidate, candidatePath, type VotedPage } from '../rules/candidates/candidate.ts'
import { awaitingText, isOpenToCurators, mayBeAmong } from '../rules/deciding.ts'
import type { KbSettings } from '../rules/kb-settings.ts'
import { firstComeNeurons } from '../rules/neurons/first-come.ts'
import { isNeuronPath } from '../rules/paths/neuron-path.ts'
import { inZone } from '../rules/policy.ts'
import { coalesce } from '../system/concurrency/coalesce.ts'
import { onceInTurn } from '../system/concurrency/shared-turn.ts'
import { observed } from '../system/work.ts'
import type { Cluster } from './cluster/cluster.ts'
import { isStorageFull } from './failure.ts'
import { KbFollower, readNeuronForIndex } from './follow/kb-follower.ts'
import type { KbIdentity } from './kb-identity.ts'
import { authorsAmong, type Decided, missingApprovals } from './missing-approvals.ts'
import { openProjection } from './open-projection.ts'
import { countPending, findCandidate, indexCandidate } from './projection/candidate-index.ts'
import type { ChangedRows } from './projection/changed-rows.ts'
import { blobAtPath } from './projection/file-queries.ts'
import { type IndexedFile, type IndexedNeuron, indexCommit } from './projection/neuron-index.ts'
import { findNeuron, tagsAtPath } from './projection/neuron-queries.ts'
import type { MainTables, Projection, ProjectionHeads } from './projection/projection.ts'
import { committer, type Removal } from './refs/commit-message.ts'
import { mainRef, queueRef, RepositoryMissing } from './refs/kb-refs.ts'
import { type DecidedPage, type JudgedPage, standingVotes, votedPage, type WhoIs } from './standing-votes.ts'
import { type LimitsOf, requirePlaces, requireWaitingRoom, withinLimits } from './within-limits.ts'

/** Text or bytes by path, or the id of a blob that the repository has; null removes the file. */
export type FileContents = ReadonlyMap<string, string | Buffer | { oid: Oid } | null>

export type MainCommit = {
  files: FileContents
  /** Neurons that the commit deletes; the message must have their trailers. */
  removals?: readonly Removal[]
  /** Neurons that already have a candidate's text; only if no file changes. */
  unchanged?: readonly Removal[]
  message: string
  /** Decision on the commit; `operator`: anybody who may write the repository itself. */
  decided: (Decided & { by: Actor }) | 'operator'
  author: Signature
  at: Date
  /** Merged commit: then `files` are all differences from main. */
  mergeParent?: Oid
}

type QueueCommit = {
  candidates: readonly Candidate[]
  isTaken?: boolean
  message: string
  author: Signature
  at: Date
}

/** Maximum number of pending candidates of one knowledge base. */
export const maxPending = 10_000

/** Result that work would have on main; `objects`: those that its commit `head` needs and nobody has. */
export type TriedOut<T> = {
  result: T
  main: Oid | undefined
  head: Oid | undefined
  objects: ReadonlyMap<Oid, GitObject>
  changes: ChangedRows[]
}

/** Source of settings. Without tables: the state that a write sees. */
type SettingsView = { sql?: MainTables; readText(oid: Oid): Promise<string> }

type KbOptions = {
  /** Git directory of the repository or, in a cluster, of this machine's copy. */
  gitDir: string
  indexDir: string
  parser: ParserPool
  /** Store of refs and packs that several machines share; absent: they are in the repository. */
  cluster?: Cluster | undefined
  /** Throws if the knowledge base is not served any more. Each write calls it, since the knowledge base may have been opened before. */
  requireServed?: () => Promise<unknown>
  /** Returns what a key may propose; absent: every key may propose everything. */
  limitsOf?: LimitsOf
  /** Returns the person behind an actor; absent: nobody has a name. */
  whoIs?: WhoIs
  /** Called when the projection has followed moved refs; never fails. Closing waits for it. */
  onMoved?: () => Promise<void>
}

/**
 * An open knowledge base: its repository, the one writer of this process, and the projection that follows the commits.
 */
export class KnowledgeBase {
  readonly identity: KbIdentity
  readonly repository: Repository
  readonly projection: Projection
  /** Time of the last write, in milliseconds since the epoch. */
  lastWriteAt = 0
  readonly #cluster: Cluster | undefined
  readonly #refs: RefStore
  readonly #writer: GroupCommit
  readonly #follower: KbFollower
  readonly parser: ParserPool
  readonly #requireServed: () => Promise<unknown>
  readonly #limitsOf: LimitsOf
  readonly whoIs: WhoIs
  readonly #onMoved: () => Promise<void>
  /** True only if the refs have certainly not moved since the projection followed them. */
  #areRefsUnchanged: () => boolean | Promise<boolean> = () => false
  #followingSince: number | undefined
  /** True if the present transaction contains work that was rolled back. */
  #hasTriedOut = false
  /** Staging of the work in progress that will be rolled back. */
  #triedIn: Staging | undefined
  /** Number of pending candidates when the present work first wrote to the queue. */
  #waited: number | undefined
  #followedUp: Promise<void> | undefined
  #heads: (ProjectionHeads & { revision: number }) | undefined
  #settings: { revision: number; blob: Oid | undefined; value: KbSettings } | undefined

  constructor(identity: KbIdentity, options: KbOptions) {
    this.identity = identity
    this.repository = new Repository(options.gitDir)
    this.projection = openProjection(options.indexDir)
    this.parser = options.parser
    this.#requireServed = options.requireServed ?? (async () => {})
    this.#limitsOf = options.limitsOf ?? (async () => null)
    this.whoIs = options.whoIs ?? (async (id) => ({ id, names: [], mayDecide: true }))
    this.#onMoved = options.onMoved ?? (async () => {})
    this.#follower = new KbFollower(this.repository, this.projection, options.parser)
    this.#cluster = options.cluster
    this.#refs =
      options.cluster?.refsOf(identity.id, this.repository) ?? new FolderRefs(this.repository, [queueRef, mainRef])
    this.#writer = new GroupCommit(this.repository, this.#refs, {
      begin: () => {
        this.#hasTriedOut = false
        return this.projection.begin()
      },
      follow: (heads) => this.#follower.follow(heads),
      savepoint: () => this.projection.savepoint(),
      rollbackToSavepoint: () => this.projection.rollbackToSavepoint(),
      commit: (heads) => this.#commit(heads),
      rollback: () => this.projection.rollback(),
    })
  }

  /** Removes what a crash left behind. @throws {RepositoryMissing} */
  async recover(): Promise<void> {
    const { gitDir } = this.repository
    if ((await this.#cluster?.prepare(this.identity.id, gitDir)) === false) throw new RepositoryMissing(gitDir)
    for (const path of [gitDir, join(gitDir, 'objects/pack')]) {
      await access(path).catch((cause: unknown) => {
        throw new RepositoryMissing(path, { cause })
      })
    }
    await clearAbandonedLocks(gitDir, [mainRef, queueRef])
    await clearAbandonedPacks(gitDir)
    await clearAbandonedQuarantines(gitDir)
    if (this.projection.hasAllIndexes()) return
    // It works without them, more slowly, and the next opening tries again.
    await this.#alone(() => this.projection.completeIndexes()).catch((error: unknown) => {
      if (!isStorageFull(error)) throw error
    })
  }

  /**
   * Runs work that may commit to `main` and the queue; see {@link GroupCommit.run}.
   * @throws {GanglionError} `not_found` if it was disabled or deleted since it was opened; `queue_full` if more than {@link maxPending}
   * candidates would be pending afterwards, whatever made them pending
   */
  write<T>(work: (staging: Staging) => Promise<T>): Promise<T> {
    this.lastWriteAt = Date.now()
    const attributes = { 'ganglion.kb': this.identity.id }
    return observed({ kind: 'commit', name: 'commit', attributes }, () =>
      this.#writer.run(async (staging) => {
        await this.#requireServed()
        this.#waited = undefined
        const result = await work(staging)
        const waiting = this.#waited === undefined ? 0 : countPending(this.projection.write)
        if (waiting > Math.max(maxPending, this.#waited ?? 0)) throw new GanglionError('queue_full')
        return result
      }),
    )
  }

  /**
   * Runs work as {@link write} does, and rolls all of it back.
   * @returns its result, and what it would have made of `main`, the commit it was based on
   */
  tryOut<T>(work: (staging: Staging) => Promise<T>): Promise<TriedOut<T>> {
    return this.write(async (staging) => {
      this.#hasTriedOut = true
      this.#triedIn = staging
      const [mark, main] = [staging.mark(), staging.head(mainRef)]
      const changesNow = this.projection.noteChanges()
      let changes: ChangedRows[] = []
      try {
        const result = await work(staging).finally(async () => {
          changes = await changesNow()
        })
        const objects = new Map([...staging.objects].slice(mark.objects))
        return { result, main, head: staging.head(mainRef), objects, changes }
      } finally {
        this.#triedIn = undefined
        staging.resetTo(mark)
        this.projection.rollbackToSavepoint()
      }
    })
  }

  /** Resolves once no process of this machine is writing. Later writes check anew whether the knowledge base is served. */
  async writesEnded(): Promise<void> {
    await this.#writer.follow()
  }

  /**
   * Brings the projection up to the present refs, whoever moved them. On a full disk it cannot follow: then its content is served until
   * there is space.
   */
  async sync(): Promise<void> {
    if (!(await this.#areRefsUnchanged())) await this.#followRefs()
  }

  /** Returns this knowledge base once its candidates are followed, too. */
  async whole(): Promise<KnowledgeBase> {
    await this.sync()
    return this
  }

  /**
   * Follows main in empty tables, so that it can be read before the candidates are followed. After a crash the queue is followed next. Must
   * run before anything is written or followed.
   */
  async followMainFirst(): Promise<void> {
    if (this.heads().main !== undefined) return
    await this.#alone(async () => this.#follower.followMainFirst(await this.#refs.readHeads()))
  }

  /** Runs one transaction of the projection, before anything is written or followed. */
  async #alone(work: () => Promise<void>): Promise<void> {
    await this.projection.begin()
    try {
      await work()
      this.projection.commit()
    } catch (error) {
      this.projection.rollback()
      throw error
    }
  }

  /**
   * Runs work that writes many large commits.
   * @param isFirst true if it adds more than there is, needs none of the scattered indexes, and nobody else reads meanwhile: they are
   * created at its end, or after a crash at the next opening
   */
  inBulk<T>(isFirst: boolean, work: () => Promise<T>): Promise<T> {
    return this.projection.inBulk(async () => {
      if (!isFirst) return work()
      await this.#writer.run(async () => this.projection.dropScatteredIndexes())
      try {
        return await work()
      } finally {
        await this.#writer.run(() => this.projection.completeIndexes())
      }
    })
  }

  /** True if main is followed to its present head, whether the candidates are or not. */
  async isReadable(): Promise<boolean> {
    const { main, queue } = this.heads()
    if (main === undefined || queue !== undefined) return false
    return (await this.#refs.readHeads()).get(mainRef) === main
  }

  readonly #followRefs = coalesce(async () => {
    const { main, queue } = this.heads()
    const areUnchanged = this.#refs.stamp()
    const heads = await this.#refs.readHeads()
    if (heads.get(mainRef) === main && heads.get(queueRef) === queue) {
      this.#areRefsUnchanged = onceInTurn(areUnchanged)
      return
    }
    this.#followingSince ??= performance.now()
    const attributes = { 'ganglion.kb': this.identity.id }
    try {
      await observed({ kind: 'follow', name: 'follow', attributes }, () => this.#writer.follow())
      this.#followingSince = undefined
    } catch (error) {
      if (main === undefined || !isStorageFull(error)) throw error
    }
  })

  /**
   * Time since which the tables are behind commits of others, on the clock of `performance.now`; undefined if they are not, as far as is
   * known.
   */
  get followingSince(): number | undefined {
    return this.#followingSince
  }

  /** Returns the commits that the projection stands for. */
  heads(): ProjectionHeads {
    const revision = this.projection.revision()
    if (this.#heads?.revision !== revision) this.#heads = { revision, ...this.projection.heads(this.projection.read) }
    return this.#heads
  }

  /** Returns the present settings of `kb.yaml` on main. */
  async settings(): Promise<KbSettings> {
    const revision = this.projection.revision()
    if (this.#settings?.revision === revision) return this.#settings.value
    const blob = blobAtPath(this.projection.read, 'kb.yaml')
    let known = this.#settings
    if (known === undefined || known.blob !== blob) {
      const text = blob === undefined ? '' : await this.repository.readText(blob)
      known = { revision, blob, value: parseKbFile(text).settings }
    }
    this.#settings = { ...known, revision }
    return known.value
  }

  /** Stages one commit on main and its place in the projection; the only way to main in this process. Must run within {@link write}. */
  async commitToMain(
    staging: Staging,
    { files, removals = [], unchanged = [], message, decided, author, at, mergeParent }: MainCommit,
  ): Promise<Oid> {
    const awaiting = decided === 'operator' ? undefined : await this.missing(staging, files, decided)
    if (awaiting !== undefined) throw new GanglionError('approval_needed', awaitingText(awaiting), { awaiting })
    // Changes by candidates are limited when the candidates are written.
    const isBare = decided !== 'operator' && decided.of.length === 0
    if (isBare) await this.requirePlaces(decided.by, { neurons: [], files: files.keys() })
    const changes = new Map<string, { oid: Oid } | null>()
    const indexing = [...files]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(async ([path, content]): Promise<IndexedFile> => {
        if (content === null) {
          changes.set(path, null)
          return { path, mode: '100644', blob: undefined, neuron: undefined }
        }
        const isBlob = typeof content === 'object' && 'oid' in content
        const blob = isBlob ? content.oid : staging.putBlob(content)
        changes.set(path, { oid: blob })
        const neuron = isBlob ? await this.#follower.load(path, blob) : await this.#readNew(path, content)
        const settings = isBlob ? await this.#follower.readSettings(path, blob) : settingsIn(path, content)
        return { path, mode: '100644', blob, neuron, ...settings }
      })
    const indexed = await Promise.all(indexing)
    const commit = await staging.commit(mainRef, {
      changes,
      message,
      author,
      committer: committer(at),
      ...(mergeParent === undefined ? {} : { mergeParent }),
    })
    // Git stores whole seconds, and the projection must not be more precise than git.
    const seconds = new Date(Math.floor(at.getTime() / 1000) * 1000)
    const told = { removals, unchanged, firstCome: firstComeNeurons(trailersOf(message)) }
    await indexCommit(this.projection, { commit, at: seconds, files: indexed, ...told }, this.#follower.load)
    return commit
  }

  /**
   * Returns the approvals that these changes still need to go to main, by the settings on main in this very write; undefined if none, and
   * for work that is only tried out. Must run within {@link write}, or on a view of main for readers.
   * @throws {GanglionError} `approval_needed` if the settings cannot be read
   */
  async missing(view: SettingsView, files: FileContents, decided: Decided): Promise<Awaiting | undefined> {
    if (view === this.#triedIn) return undefined
    const { sql = this.projection.write } = view
    const settings = await this.#settingsWithin(view)
    if (settings.deciding !== null && isOpenToCurators(settings.deciding)) return undefined
    const touched = [...files].map(async ([path, content]) => {
      const text = content === null || !isNeuronPath(path) ? '' : await textOf(view, content)
      return { path, tags: [...tagsAtPath(sql, path), ...allTags(parseNeuronFile(text), settings)] }
    })
    const judged = { ...decided, of: await this.#judgedPages(view, decided.of) }
    return missingApprovals(settings, await Promise.all(touched), judged, this.whoIs)
  }

  /** Returns trailers with the approvers of a commit: those who voted for its pages, and last its author. Must run within {@link write}. */
  async approvers(staging: Staging, { by, of, writes }: Decided & { by: Actor }): Promise<[string, string][]> {
    const judged = { of: await this.#judgedPages(staging, of), writes }
    const votes = await standingVotes(await this.#settingsWithin(staging), judged, this.whoIs)
    if (votes.size > 0) votes.delete((await this.whoIs(by.id)).id)
    return [...votes.values(), by].map(({ id, name }) => ['Approved-By', `${name} <${id}>`])
  }

  /**
   * Returns the records of somebody's vote on pages, for each page that they have no standing vote on; undefined if they have no vote,
   * since they may have written one of them. Must run within {@link write}.
   */
  async votesBy(
    staging: Staging,
    of: readonly DecidedPage[],
    { id }: Actor,
  ): Promise<{ candidate: Candidate; for: VotedPage }[] | undefined> {
    const settings = await this.#settingsWithin(staging)
    const { deciding } = settings
    const candidates = of.map(({ candidate }) => candidate)
    const person = await this.whoIs(id)
    if (deciding === null || mayBeAmong(await authorsAmong(candidates, deciding, this.whoIs), person)) return undefined
    const missing = (await this.#judgedPages(staging, of)).map(async (page) => {
      const votes = await standingVotes(settings, { of: [page] }, this.whoIs)
      return votes.has(person.id) ? [] : [{ candidate: page.candidate, for: votedPage(page, settings) }]
    })
    return (await Promise.all(missing)).flat()
  }

  /** Returns who has voted for a candidate's page as an approval would make it now; see {@link standingVotes}. */
  async standingVotes(view: SettingsView, page: DecidedPage): Promise<Map<string, Actor>> {
    const of = await this.#judgedPages(view, [page])
    return standingVotes(await this.#settingsWithin(view), { of }, this.whoIs)
  }

  /** Adds the text of each page on main. */
  #judgedPages(view: SettingsView, of: readonly DecidedPage[]): Promise<JudgedPage[]> {
    const { sql = this.projection.write } = view
    const judged = of.map(async (page): Promise<JudgedPage> => {
      const { target } = page.candidate
      const blob = target === null ? undefined : findNeuron(sql, target)?.blob
      return { ...page, before: blob === undefined ? undefined : await view.readText(blob) }
    })
    return Promise.all(judged)
  }

  async #settingsWithin(view: SettingsView): Promise<KbSettings> {
    const blob = blobAtPath(view.sql ?? this.projection.write, 'kb.yaml')
    if (this.#settings?.blob === blob && this.#settings) return this.#settings.value
    return parseKbFile(blob === undefined ? '' : await view.readText(blob)).settings
  }

  /** Returns candidates as the limits of their keys admit them; see {@link withinLimits}. Must run within {@link write}. */
  admitted(candidates: readonly Candidate[], isTaken = false): Promise<readonly Candidate[]> {
    return withinLimits(this.projection.write, candidates, this.#limitsOf, isTaken)
  }

  /** See {@link requirePlaces}. Must run within {@link write}. */
  requirePlaces(by: Actor, brought: Parameters<typeof requirePlaces>[2]): Promise<void> {
    return requirePlaces(this.projection.write, by, brought, this.#limitsOf)
  }

  /** See {@link requireWaitingRoom}. Must run within {@link write}. */
  requireWaitingRoom(by: Actor): Promise<void> {
    return requireWaitingRoom(this.projection.write, by, this.#limitsOf)
  }

  /**
   * Stages one commit on the queue with the present records of candidates. It is the only way for candidates, and so enforces the limits of
   * keys, and gives new ones their zone. Must run within {@link write}.
   * @param isTaken true if they are on their way to main
   */
  async commitToQueue(
    staging: Staging,
    { candidates: sent, isTaken, message, author, at }: QueueCommit,
  ): Promise<void> {
    this.#waited ??= countPending(this.projection.write)
    const settings = await this.#settingsWithin(staging)
    const isNew = ({ id }: Candidate) => findCandidate(this.projection.write, id) === undefined
    const zoned = sent.map((candidate) => (!isTaken && isNew(candidate) ? inZone(candidate, settings) : candidate))
    const candidates = await this.admitted(zoned, isTaken)
    const blobs = candidates.map((candidate) => ({ candidate, oid: staging.putBlob(formatCandidate(candidate)) }))
    const changes = new Map(blobs.map(({ candidate, oid }) => [candidatePath(candidate.id), { oid }]))
    await staging.commit(queueRef, { changes, message, author, committer: committer(at) })
    for (const { candidate, oid } of blobs) indexCandidate(this.projection, candidate, oid)
  }

  /** Brings the projection to former commits of the refs instead of the present ones. Must not run concurrently with {@link write}. */
  async followTo(heads: { main: Oid | undefined; queue: Oid | undefined }): Promise<void> {
    const refs = new Map([
      [mainRef, heads.main],
      [queueRef, heads.queue],
    ])
    await this.projection.begin()
    try {
      await this.#follower.follow(refs)
      this.#commit(refs)
    } catch (error) {
      this.projection.rollback()
      throw error
    }
  }

  async close(): Promise<void> {
    let followedUp: Promise<void> | undefined
    do {
      await this.#writer.settled()
      followedUp = this.#followedUp
      await followedUp
    } while (followedUp !== this.#followedUp) // A follow-up commit may need follow-ups itself.
    this.projection.close()
    this.repository.close()
  }

  #commit(heads: Heads): void {
    const before = this.projection.heads(this.projection.read)
    const [main, queue] = [heads.get(mainRef), heads.get(queueRef)]
    if (this.#hasTriedOut && main === before.main && queue === before.queue) {
      // A commit would write work that was rolled back.
      this.projection.rollback()
      return
    }
    this.projection.setHead('main', main)
    this.projection.setHead('queue', queue)
    this.projection.commit()
    if (main !== before.main || queue !== before.queue) this.#followedUp = this.#onMoved()
  }

  async #readNew(path: string, content: string | Buffer): Promise<IndexedNeuron | undefined> {
    const isNeuron = typeof content === 'string' && isNeuronPath(path)
    return isNeuron ? readNeuronForIndex(path, content, this.parser) : undefined
  }
}

async function textOf(view: SettingsView, content: string | Buffer | { oid: Oid }): Promise<string> {
  if (typeof content === 'string' || Buffer.isBuffer(content)) return content.toString()
  return view.readText(content.oid)
}

function settingsIn(path: string, content: string | Buffer): Pick<IndexedFile, 'inlineTags'> {
  return path === 'kb.yaml' ? { inlineTags: parseKbFile(content.toString()).settings.inlineTags } : {}
}
