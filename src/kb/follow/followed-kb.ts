import { type HistoryEntry, isAncestor, isOnFirstParentLine, readCommits } from '../../git/history/history.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Heads } from '../../git/ref-store.ts'
import { Repository, type TreeChange } from '../../git/repository.ts'
import type { Staging } from '../../git/staging.ts'
import { tryParseCandidate } from '../../markdown/file/candidate-file.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import type { IndexedNeuron } from '../../markdown/pool/indexed-neuron.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { candidatePath } from '../../rules/candidates/candidate.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'
import { firstComeNeurons } from '../../rules/neurons/first-come.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { pauses } from '../../system/pauses.ts'
import type { KbIdentity } from '../kb-identity.ts'
import { openProjection } from '../open-projection.ts'
import { forgetCandidate, indexCandidate } from '../projection/candidate-index.ts'
import { blobAtPath } from '../projection/file-queries.ts'
import { type IndexedCommit, type IndexedFile, indexCommit } from '../projection/neuron-index.ts'
import type { MainTables, Projection, ProjectionHeads } from '../projection/projection.ts'
import { parseRemovals, parseUnchanged } from '../refs/commit-message.ts'
import { erasedCommits, mainRef, parseSeqFloor, queueRef, RefMissing, seqFloorPath } from '../refs/kb-refs.ts'

/** Git directory of a repository or, in a cluster, of this machine's copy, and the folder of its indexes. */
export type KbFiles = { gitDir: string; indexDir: string; parser: ParserPool }

/** Tables and blobs from which settings are read: those of the write in progress, or of a view. */
type SettingsView = Staging | { sql: MainTables; readText(oid: Oid): Promise<string> }

/** Repository of a knowledge base, and the projection that follows its commits. */
export class FollowedKb {
  readonly identity: KbIdentity
  readonly repository: Repository
  readonly projection: Projection
  readonly parser: ParserPool
  protected readonly follower: KbFollower
  #heads: (ProjectionHeads & { revision: number }) | undefined
  #settings: { revision: number; blob: Oid | undefined; value: KbSettings } | undefined

  constructor(identity: KbIdentity, { gitDir, indexDir, parser }: KbFiles) {
    this.identity = identity
    this.repository = new Repository(gitDir)
    this.projection = openProjection(indexDir)
    this.parser = parser
    this.follower = new KbFollower(this.repository, this.projection, parser)
  }

  /** Returns the commits that the projection reflects. */
  heads(): ProjectionHeads {
    const revision = this.projection.revision()
    if (this.#heads?.revision !== revision) this.#heads = { revision, ...this.projection.heads(this.projection.read) }
    return this.#heads
  }

  /** Returns the settings of `kb.yaml`: the present ones on main, or those of a view. */
  async settings(view?: SettingsView): Promise<KbSettings> {
    if (view !== undefined) {
      const blob = blobAtPath('sql' in view ? view.sql : this.projection.write, 'kb.yaml')
      if (this.#settings?.blob === blob && this.#settings) return this.#settings.value
      return parseKbFile(blob === undefined ? '' : await view.readText(blob)).settings
    }
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

  /** Updates the projection to commits, present or former ones. Must not run concurrently with writes. */
  async followTo({ main, queue }: ProjectionHeads): Promise<void> {
    const heads: Heads = new Map([
      [mainRef, main],
      [queueRef, queue],
    ])
    await this.alone(async () => {
      await this.follower.follow(heads)
      this.setHeads(heads)
    })
  }

  /** Runs one transaction of the projection, while nothing is written or followed. */
  protected async alone(work: () => Promise<void>): Promise<void> {
    await this.projection.begin()
    try {
      await work()
      this.projection.commit()
    } catch (error) {
      this.projection.rollback()
      throw error
    }
  }

  /** Records the commits that the projection reflects. Must run in its transaction. */
  protected setHeads(heads: Heads): void {
    this.projection.setHead('main', heads.get(mainRef))
    this.projection.setHead('queue', heads.get(queueRef))
  }

  async close(): Promise<void> {
    this.projection.close()
    this.repository.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Minimum number of files at a time that a thread reads, so that the event loop only writes their rows. A thread takes 0.2 s to start. */
const manyFiles = 100

/** Changed file of the queue; without `blob` and `text` it was removed. */
type QueueFile = { path: string; blob: Oid | undefined; text: string | undefined }

/** Brings a projection up to the commits of main and the queue, whoever made them. */
class KbFollower {
  readonly #repository: Repository
  readonly #projection: Projection
  readonly #parser: ParserPool

  constructor(repository: Repository, projection: Projection, parser: ParserPool) {
    this.#repository = repository
    this.#projection = projection
    this.#parser = parser
  }

  /** Brings the projection to the refs. Must run in its transaction. @throws {RefMissing} */
  async follow(heads: Heads): Promise<void> {
    const known = this.#projection.heads(this.#projection.write)
    const [main, queue] = [heads.get(mainRef), heads.get(queueRef)]
    const isContinued = await this.#continues(known.main, main)
    if (!isContinued) await this.#noteIfLost('main', mainRef, known.main, main)
    const isQueueLost = await this.#noteIfLost('queue', queueRef, known.queue, queue)
    const isRewritten = isQueueLost || !isContinued
    if (isRewritten) this.#projection.clear() // Clears the queue's listing too, which contains the approvals on main.
    const from: ProjectionHeads = isRewritten ? { main: undefined, queue: undefined } : known
    if (from.main !== main) await this.#followMain(from.main, main)
    if (from.queue !== queue) await this.#followQueue(from.queue, queue)
  }

  /** Brings empty tables up to main alone; others stay as they are. Must run in the projection's transaction. */
  async followMainFirst(heads: Heads): Promise<void> {
    const { main } = this.#projection.heads(this.#projection.write)
    if (main === undefined) await this.#followMain(undefined, heads.get(mainRef))
  }

  /** True if a ref was moved so that its last known commit is no longer in its history. @throws {RefMissing} */
  async #noteIfLost(name: 'main' | 'queue', ref: string, from: Oid | undefined, to: Oid | undefined): Promise<boolean> {
    if (from === undefined || from === to) return false
    // Not followed, since the next write would start a second history.
    if (to === undefined) throw new RefMissing(this.#repository.gitDir, ref, from)
    if (await isAncestor(this.#repository, from, to)) return false
    this.#projection.noteLostHead(name, from)
    return true
  }

  /** True if the commits after a head of main form a linear list. */
  async #continues(from: Oid | undefined, to: Oid | undefined): Promise<boolean> {
    if (from === undefined || from === to) return true
    return to !== undefined && (await isOnFirstParentLine(this.#repository, to, from))
  }

  async #followMain(from: Oid | undefined, to: Oid | undefined): Promise<void> {
    if (to === undefined) return
    const history = chunksOf(readCommits(this.#repository, to, from), ({ changes }) => changes.length)
    await this.#putIn('main', from, async () => {
      for await (const commits of readAhead(history, (entries) => this.#readCommits(entries))) {
        for (const commit of commits) await indexCommit(this.#projection, commit, this.load)
      }
    })
    if (from === undefined) await this.#noteReplaced()
    this.#projection.setHead('main', to)
  }

  /** Notes erased commits and their replacements. The tables are empty after an erasure, which changes the refs while nothing follows them. */
  async #noteReplaced(): Promise<void> {
    for (const [oid, now] of await erasedCommits(this.#repository)) {
      if (now !== undefined) this.#projection.noteReplaced(oid, now)
    }
  }

  /** Fills the tables in bulk if they are still empty. */
  #putIn(part: 'main' | 'queue', from: Oid | undefined, work: () => Promise<void>): Promise<void> {
    return from === undefined ? this.#projection.fill(part, work) : work()
  }

  async #readCommits(entries: readonly HistoryEntry[]): Promise<IndexedCommit[]> {
    const isMany = entries.reduce((count, { changes }) => count + changes.length, 0) >= manyFiles
    const read = entries.map(async ({ commit, at, changes, trailers }) => {
      const files = changes.map(async ({ path, mode, after: blob }): Promise<IndexedFile> => {
        const isText = blob !== undefined && mode.startsWith('100')
        return { path, mode, blob, ...(isText ? await this.#readFile(path, blob, isMany) : { neuron: undefined }) }
      })
      const removals = parseRemovals(trailers)
      const told = { removals, unchanged: parseUnchanged(trailers), firstCome: firstComeNeurons(trailers) }
      return { commit, at, files: await Promise.all(files), ...told }
    })
    return Promise.all(read)
  }

  async #followQueue(from: Oid | undefined, to: Oid | undefined): Promise<void> {
    const before = from === undefined ? undefined : await this.#repository.treeOf(from)
    const after = to === undefined ? undefined : await this.#repository.treeOf(to)
    const changes = chunksOf(this.#repository.diffTrees(before, after), () => 1)
    const pause = pauses()
    await this.#putIn('queue', from, async () => {
      for await (const files of readAhead(changes, (chunk) => this.#readQueueFiles(chunk))) {
        for (const file of files) {
          await pause()
          this.#indexQueueFile(file)
        }
      }
    })
    this.#projection.setHead('queue', to)
  }

  #readQueueFiles(changes: readonly TreeChange[]): Promise<QueueFile[]> {
    return Promise.all(
      changes.map(async ({ path, after: blob }) => {
        return { path, blob, text: blob === undefined ? undefined : await this.#repository.readTextOnce(blob) }
      }),
    )
  }

  /** Indexes a queue file. A file that is damaged, or not at its candidate's path, is ignored; `verify` reports it. */
  #indexQueueFile({ path, blob, text }: QueueFile): void {
    if (path === seqFloorPath) this.#projection.setSeqFloor(parseSeqFloor(text ?? '') ?? 0)
    const id = path.slice(path.lastIndexOf('/') + 1, -'.md'.length)
    if (path !== candidatePath(id)) return
    const candidate = text === undefined ? undefined : tryParseCandidate(text)
    if (candidate?.id === id && blob !== undefined) indexCandidate(this.#projection, candidate, blob)
    else forgetCandidate(this.#projection, id)
  }

  /** Reads the fields of a file of main that the index stores. */
  readonly load = async (path: string, blob: Oid): Promise<IndexedNeuron | undefined> =>
    (await this.#readFile(path, blob)).neuron

  #readFile(path: string, blob: Oid, isOneOfMany = false): ReturnType<typeof readForIndex> {
    return readForIndex(this.#parser, path, () => this.#repository.readTextOnce(blob), isOneOfMany)
  }
}

/**
 * Returns the facts about a file of main that the projection stores.
 * @param read returns its text, which most files do not need
 * @param isOneOfMany true if a thread reads it; see {@link manyFiles}
 */
export async function readForIndex(
  parser: ParserPool,
  path: string,
  read: () => Promise<string>,
  isOneOfMany = false,
): Promise<Pick<IndexedFile, 'neuron' | 'inlineTags'>> {
  if (isNeuronPath(path)) return { neuron: await parser.neuron(path, await read(), { isOneOfMany }) }
  if (path !== 'kb.yaml') return { neuron: undefined }
  return { neuron: undefined, inlineTags: parseKbFile(await read()).settings.inlineTags }
}

/** Maximum weight of a chunk that is read and parsed at a time while the projection catches up with git. */
const chunkWeight = 500

/** Groups items into chunks of similar weight, which bounds the memory in use. */
export async function* chunksOf<Item>(
  items: AsyncIterable<Item>,
  weightOf: (item: Item) => number,
): AsyncGenerator<Item[]> {
  let chunk: Item[] = []
  let weight = 0
  for await (const item of items) {
    chunk.push(item)
    weight += weightOf(item)
    if (weight < chunkWeight) continue
    yield chunk
    chunk = []
    weight = 0
  }
  yield chunk
}

/** Reads the next chunk while the consumer processes the previous one. */
export async function* readAhead<Chunk, Result>(
  chunks: AsyncIterable<Chunk> | Iterable<Chunk>,
  read: (chunk: Chunk) => Promise<Result>,
): AsyncGenerator<Result> {
  let ahead: Promise<Result> | undefined
  for await (const chunk of chunks) {
    const next = read(chunk)
    next.catch(() => {}) // The error is thrown where the promise is awaited, or nowhere if the consumer has stopped.
    if (ahead !== undefined) yield await ahead
    ahead = next
  }
  if (ahead !== undefined) yield await ahead
}
