import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { clearAbandonedQuarantines } from '../git/abandoned-quarantines.ts'
import { isAncestor } from '../git/ancestry.ts'
import { GroupCommit, type Heads } from '../git/group-commit.ts'
import { type HistoryEntry, isOnFirstParentLine, readHistory } from '../git/history.ts'
import type { Oid, Signature } from '../git/object.ts'
import { clearAbandonedPacks } from '../git/pack-files.ts'
import { clearAbandonedLocks } from '../git/refs.ts'
import { Repository, type TreeChange } from '../git/repository.ts'
import type { Staging } from '../git/staging.ts'
import { type Candidate, candidatePath } from '../knowledge/candidate.ts'
import type { KbSettings } from '../knowledge/kb-settings.ts'
import { CandidateFileError, formatCandidate, parseCandidate } from '../markdown/candidate-file.ts'
import { parseKbFile } from '../markdown/kb-file.ts'
import type { ParserPool } from '../markdown/parser-pool.ts'
import { forgetCandidate, indexCandidate } from '../store/candidate-index.ts'
import { type IndexedCommit, type IndexedFile, type IndexedNeuron, indexCommit } from '../store/neuron-index.ts'
import { blobAtPath } from '../store/neuron-queries.ts'
import { Projection, projectionFile } from '../store/projection.ts'
import { coalesce } from './coalesce.ts'
import { committer } from './commit-message.ts'
import { isStorageFull } from './failure.ts'
import { readNeuronForIndex } from './neuron-for-index.ts'
import { chunksOf, readAhead } from './read-ahead.ts'
import { parseRemoval, type Removal, removalTrailer } from './removal-trailer.ts'
import { parseSeqFloor, seqFloorPath } from './seq-floor.ts'

export const mainRef = 'refs/heads/main'
export const queueRef = 'refs/ganglion/queue'
/** A file of the queue that has changed; without `blob` and `text` it was removed. */
type QueueFile = { path: string; blob: Oid | undefined; text: string | undefined }

/** Text or bytes by path, or the id of a blob that the repository has; null removes the file. */
export type FileContents = ReadonlyMap<string, string | Buffer | { oid: Oid } | null>

export type MainCommit = {
  files: FileContents
  /** Neurons that the commit deletes; the message must hold their trailers. */
  removals?: readonly Removal[]
  message: string
  author: Signature
  at: Date
  /** What is merged: then `files` are all that differs from main. */
  mergeParent?: Oid
}

export type KbIdentity = { id: string; tenantId: string; slug: string; prefix: string }

type KbOptions = {
  gitDir: string
  indexDir: string
  parser: ParserPool
  /** Called when the projection has followed the refs to where they moved; never fails. What it does ends before closing. */
  onMoved?: () => Promise<void>
}

/** A ref that was there is gone, as where `packed-refs` was emptied. */
export class RefMissing extends Error {
  constructor(gitDir: string, ref: string, lastSeen: Oid) {
    super(`${ref} is gone; to put it back: git --git-dir=${gitDir} update-ref ${ref} ${lastSeen}`)
    this.name = 'RefMissing'
  }
}

/**
 * An open knowledge base: its repository, the one writer of this process, and the projection that follows the commits.
 */
export class KnowledgeBase {
  readonly identity: KbIdentity
  readonly repository: Repository
  readonly projection: Projection
  /** When work was last handed to the writer, in milliseconds since the epoch. */
  lastWriteAt = 0
  readonly #writer: GroupCommit
  readonly parser: ParserPool
  readonly #onMoved: () => Promise<void>
  #followedUp: Promise<void> | undefined
  #settings: { blob: Oid | undefined; value: KbSettings } | undefined

  constructor(identity: KbIdentity, options: KbOptions) {
    this.identity = identity
    this.repository = new Repository(options.gitDir)
    mkdirSync(options.indexDir, { recursive: true })
    this.projection = new Projection(join(options.indexDir, projectionFile))
    this.parser = options.parser
    this.#onMoved = options.onMoved ?? (async () => {})
    this.#writer = new GroupCommit(this.repository, [queueRef, mainRef], {
      begin: () => this.projection.begin(),
      follow: (heads) => this.#follow(heads),
      savepoint: () => this.projection.savepoint(),
      rollbackToSavepoint: () => this.projection.rollbackToSavepoint(),
      commit: (heads) => this.#commit(heads),
      rollback: () => this.projection.rollback(),
    })
  }

  /** Clears what a crash left behind. */
  async recover(): Promise<void> {
    await clearAbandonedLocks(this.repository.gitDir, [mainRef, queueRef])
    await clearAbandonedPacks(this.repository.gitDir)
    await clearAbandonedQuarantines(this.repository.gitDir)
  }

  /** Runs work that may commit to `main` and the queue; see {@link GroupCommit.run}. */
  write<T>(work: (staging: Staging) => Promise<T>): Promise<T> {
    this.lastWriteAt = Date.now()
    return this.#writer.run(work)
  }

  /**
   * Brings the projection up to the refs as they are now, whoever moved them. On a full disk it cannot follow: what it
   * holds is then served until there is space.
   */
  readonly sync = coalesce(() => this.#followRefs())

  async #followRefs(): Promise<void> {
    const { main, queue } = this.projection.heads(this.projection.read)
    const heads = await this.#writer.readHeads()
    if (heads.get(mainRef) === main && heads.get(queueRef) === queue) return
    try {
      await this.#writer.run(async () => {})
    } catch (error) {
      if (main === undefined || !isStorageFull(error)) throw error
    }
  }

  /** The settings that `kb.yaml` on main holds now. */
  async settings(): Promise<KbSettings> {
    const blob = blobAtPath(this.projection.read, 'kb.yaml')
    if (this.#settings === undefined || this.#settings.blob !== blob) {
      const text = blob === undefined ? '' : await this.repository.readText(blob)
      this.#settings = { blob, value: parseKbFile(text).settings }
    }
    return this.#settings.value
  }

  /**
   * Stages one commit on main and its place in the projection; the only way to main in this process. Within {@link write}.
   */
  async commitToMain(
    staging: Staging,
    { files, removals = [], message, author, at, mergeParent }: MainCommit,
  ): Promise<Oid> {
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
        const neuron = isBlob ? await this.#load(path, blob) : await this.#readNew(path, content)
        return { path, mode: '100644', blob, neuron }
      })
    const indexed = await Promise.all(indexing)
    const commit = await staging.commit(mainRef, {
      changes,
      message,
      author,
      committer: committer(at),
      ...(mergeParent === undefined ? {} : { mergeParent }),
    })
    // Git keeps whole seconds, and the projection must not know more than git.
    const seconds = new Date(Math.floor(at.getTime() / 1000) * 1000)
    await indexCommit(this.projection, { commit, at: seconds, files: indexed, removals }, this.#load)
    return commit
  }

  /** Stages one commit on the queue with these candidates' records as they are now. Within {@link write}. */
  async commitToQueue(
    staging: Staging,
    {
      candidates,
      message,
      author,
      at,
    }: { candidates: readonly Candidate[]; message: string; author: Signature; at: Date },
  ): Promise<void> {
    const blobs = candidates.map((candidate) => ({ candidate, oid: staging.putBlob(formatCandidate(candidate)) }))
    const changes = new Map(blobs.map(({ candidate, oid }) => [candidatePath(candidate.id), { oid }]))
    await staging.commit(queueRef, { changes, message, author, committer: committer(at) })
    for (const { candidate, oid } of blobs) indexCandidate(this.projection, candidate, oid)
  }

  /** Brings the projection to commits that the refs were at, instead of to the refs. Not beside {@link write}. */
  async followTo(heads: { main: Oid | undefined; queue: Oid | undefined }): Promise<void> {
    const refs = new Map([
      [mainRef, heads.main],
      [queueRef, heads.queue],
    ])
    await this.projection.begin()
    try {
      await this.#follow(refs)
      this.#commit(refs)
    } catch (error) {
      this.projection.rollback()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#writer.settled()
    await this.#followedUp
    this.projection.close()
    this.repository.close()
  }

  async #follow(heads: Heads): Promise<void> {
    const known = this.projection.heads(this.projection.write)
    const [main, queue] = [heads.get(mainRef), heads.get(queueRef)]
    const isContinued = await this.#continues(known.main, main)
    if (!isContinued) await this.#noteIfLost('main', mainRef, known.main, main)
    const isQueueLost = await this.#noteIfLost('queue', queueRef, known.queue, queue)
    const isRewritten = isQueueLost || !isContinued
    if (isRewritten) this.projection.clear() // also the queue's listing, which says what main approved
    if (known.main !== main || isRewritten) await this.#followMain(isRewritten ? undefined : known.main, main)
    if (known.queue !== queue || isRewritten) await this.#followQueue(isRewritten ? undefined : known.queue, queue)
  }

  /** Whether a ref was moved to where its last known commit is no longer in its history. @throws {RefMissing} */
  async #noteIfLost(name: 'main' | 'queue', ref: string, from: Oid | undefined, to: Oid | undefined): Promise<boolean> {
    if (from === undefined || from === to) return false
    // Not followed: what is written next would begin a second history.
    if (to === undefined) throw new RefMissing(this.repository.gitDir, ref, from)
    if (await isAncestor(this.repository.gitDir, from, to)) return false
    this.projection.noteLostHead(name, from)
    return true
  }

  /** Whether what follows a head of main is a plain list of commits. */
  async #continues(from: Oid | undefined, to: Oid | undefined): Promise<boolean> {
    if (from === undefined || from === to) return true
    return to !== undefined && (await isOnFirstParentLine(this.repository.gitDir, to, from))
  }

  #commit(heads: Heads): void {
    const before = this.projection.heads(this.projection.read)
    const [main, queue] = [heads.get(mainRef), heads.get(queueRef)]
    this.projection.setHead('main', main)
    this.projection.setHead('queue', queue)
    this.projection.commit()
    if (main !== before.main || queue !== before.queue) this.#followedUp = this.#onMoved()
  }

  async #followMain(from: Oid | undefined, to: Oid | undefined): Promise<void> {
    if (to === undefined) return
    const history = chunksOf(
      readHistory(this.repository.gitDir, to, from, { trailer: removalTrailer }),
      ({ changes }) => changes.length,
    )
    for await (const commits of readAhead(history, (entries) => this.#readCommits(entries))) {
      for (const commit of commits) await indexCommit(this.projection, commit, this.#load)
    }
    this.projection.setHead('main', to)
  }

  async #readCommits(entries: readonly HistoryEntry[]): Promise<IndexedCommit[]> {
    const read = entries.map(async ({ commit, at, changes, trailers }) => {
      const files = changes.map(async ({ path, mode, after: blob }): Promise<IndexedFile> => {
        const isText = blob !== undefined && mode.startsWith('100')
        return { path, mode, blob, neuron: isText ? await this.#load(path, blob) : undefined }
      })
      const removals = trailers.flatMap((value) => parseRemoval(value) ?? [])
      return { commit, at, files: await Promise.all(files), removals }
    })
    return Promise.all(read)
  }

  async #followQueue(from: Oid | undefined, to: Oid | undefined): Promise<void> {
    const before = from === undefined ? undefined : await this.repository.treeOf(from)
    const after = to === undefined ? undefined : await this.repository.treeOf(to)
    const changes = chunksOf(this.repository.diffTrees(before, after), () => 1)
    for await (const files of readAhead(changes, (chunk) => this.#readQueueFiles(chunk))) {
      for (const file of files) this.#indexQueueFile(file)
    }
    this.projection.setHead('queue', to)
  }

  #readQueueFiles(changes: readonly TreeChange[]): Promise<QueueFile[]> {
    return Promise.all(
      changes.map(async ({ path, after: blob }) => {
        return { path, blob, text: blob === undefined ? undefined : await this.repository.readTextOnce(blob) }
      }),
    )
  }

  /** A file that is damaged or stands elsewhere than at its candidate's path is none: `verify` tells of it. */
  #indexQueueFile({ path, blob, text }: QueueFile): void {
    if (path === seqFloorPath) this.projection.setSeqFloor(parseSeqFloor(text ?? '') ?? 0)
    const id = path.slice(path.lastIndexOf('/') + 1, -'.md'.length)
    if (path !== candidatePath(id)) return
    const candidate = text === undefined ? undefined : readCandidateFile(text)
    if (candidate?.id === id && blob !== undefined) indexCandidate(this.projection, candidate, blob)
    else forgetCandidate(this.projection, id)
  }

  async #readNew(path: string, content: string | Buffer): Promise<IndexedNeuron | undefined> {
    const isNeuron = typeof content === 'string' && isNeuronPath(path)
    return isNeuron ? readNeuronForIndex(path, content, this.parser) : undefined
  }

  #load = async (path: string, blob: Oid): Promise<IndexedNeuron | undefined> => {
    if (!isNeuronPath(path)) return undefined
    return readNeuronForIndex(path, await this.repository.readTextOnce(blob), this.parser)
  }
}

/** Undefined where it is damaged. */
export function readCandidateFile(text: string): Candidate | undefined {
  try {
    return parseCandidate(text)
  } catch (error) {
    if (error instanceof CandidateFileError) return undefined
    throw error
  }
}

/** Whether a path on main is a Neuron's. */
export function isNeuronPath(path: string): boolean {
  return path.startsWith('neurons/') && path.endsWith('.md')
}
