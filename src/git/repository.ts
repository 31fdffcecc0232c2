import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { syncDirectory, syncTree } from '../system/durable-file.ts'
import { GitError } from './git-error.ts'
import {
  canonicalMode,
  differingEntries,
  type EntryChange,
  folderMode,
  fromBinaryName,
  type GitObject,
  type Mode,
  type ObjectInfo,
  type Oid,
  parentsOfCommit,
  submoduleMode,
  Tree,
  toBinaryName,
  treeOfCommit,
} from './objects/object.ts'
import { type ByteRange, ObjectStore, type ObjectsBeside } from './objects/object-store.ts'
import { writePack } from './objects/pack-files.ts'
import type { PackWriter } from './objects/pack-writer.ts'
import { readRef, updateRef } from './refs/refs.ts'

/**
 * Change of a path between two trees. An absent side means that the path did not exist. `isSubmodule`: `after` is a commit of
 * another repository.
 */
export type TreeChange = { path: string; before?: Oid; after?: Oid; isSubmodule?: true }

/** Change of the entry at a path between two trees. */
export type FileEntryChange = EntryChange & { path: string }

const noEntries = Buffer.alloc(0)

/** Content of the repository's `config`, for any git that works in it. */
const settings = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tfsync = all
[gc]
\twriteCommitGraph = false
[receive]
\tdenyNonFastForwards = true
\tdenyDeletes = true
`

/** Maximum commits whose changes are cached. */
const maxChanges = 2_000

/** Repository for walks through history, perhaps with objects that are not written yet. */
export type ReadableObjects = Pick<Repository, 'gitDir' | 'find' | 'read'>

/** Bare git repository. Reads see the changes of all writers; writes are durable when they resolve. */
export class Repository {
  readonly gitDir: string
  readonly #store: ObjectStore
  readonly #cache = new ObjectCache()
  /** Cached changes of commits against their first parents. */
  readonly #changes = new LRUCache<Oid, readonly TreeChange[]>({ max: maxChanges })

  /** Opens a repository. @param options.quarantine folder of further objects to read, as if they were in the repository */
  constructor(gitDir: string, objects: ObjectsBeside = {}) {
    this.gitDir = gitDir
    this.#store = new ObjectStore(gitDir, objects)
  }

  /** Opens the repository with a folder of further objects, if there is one. Its own packs are opened once for both. */
  withQuarantine(quarantine: string | undefined): Repository {
    return new Repository(this.gitDir, { quarantine, within: this.#store })
  }

  /** Creates an empty bare repository whose `HEAD` is `main`. */
  static async init(gitDir: string): Promise<Repository> {
    for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']) {
      await mkdir(join(gitDir, folder), { recursive: true })
    }
    await writeFile(join(gitDir, 'config'), settings)
    await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n')
    await syncTree(gitDir)
    await syncDirectory(dirname(gitDir))
    return new Repository(gitDir)
  }

  readRef(ref: string): Promise<Oid | undefined> {
    return readRef(this.gitDir, ref)
  }

  updateRef(ref: string, from: Oid | undefined, to: Oid): Promise<boolean> {
    return updateRef(this.gitDir, ref, from, to)
  }

  async find(oid: Oid): Promise<GitObject | undefined> {
    const known = this.#cache.get(oid)
    if (known !== undefined) return known
    const object = await this.#store.read(oid)
    if (object !== undefined) this.#cache.set(oid, object)
    return object
  }

  infos(oids: Iterable<Oid>): Promise<Map<Oid, ObjectInfo>> {
    return this.#store.infos(oids)
  }

  /** See {@link ObjectStore.readRange}. */
  readRange(oid: Oid, range: ByteRange): AsyncGenerator<Buffer> {
    return this.#store.readRange(oid, range)
  }

  async read(oid: Oid): Promise<GitObject> {
    const object = await this.find(oid)
    if (object === undefined) throw new GitError('missing-object', `${oid} is not in the repository`)
    return object
  }

  /** Returns a blob's bytes as UTF-8 text. @throws {GitError} `missing-object` */
  async readText(oid: Oid): Promise<string> {
    return (await this.read(oid)).data.toString('utf8')
  }

  /** Reads an object without caching it, as when every Neuron is read once. @throws {GitError} `missing-object` */
  async readOnce(oid: Oid): Promise<GitObject> {
    const object = this.#cache.get(oid) ?? (await this.#store.read(oid))
    if (object === undefined) throw new GitError('missing-object', `${oid} is not in the repository`)
    return object
  }

  /** Reads a blob as UTF-8 text, without caching it; see {@link readOnce}. */
  async readTextOnce(oid: Oid): Promise<string> {
    return (await this.readOnce(oid)).data.toString('utf8')
  }

  async readTree(oid: Oid): Promise<Tree> {
    return Tree.decode((await this.read(oid)).data)
  }

  async treeOf(commit: Oid): Promise<Oid> {
    return treeOfCommit((await this.read(commit)).data)
  }

  async blobAt(commit: Oid, path: string): Promise<Oid | undefined> {
    const names = path.split('/').map(toBinaryName)
    let tree = await this.treeOf(commit)
    for (const [depth, name] of names.entries()) {
      const entry = (await this.readTree(tree)).get(name)
      if (entry === undefined) return undefined
      const isLast = depth === names.length - 1
      if (isLast) return entry.mode === folderMode || entry.mode === submoduleMode ? undefined : entry.oid
      if (entry.mode !== folderMode) return undefined
      tree = entry.oid
    }
    return undefined
  }

  /** Caches the changes of a commit against its first parent, by path. */
  noteChanges(commit: Oid, changes: readonly TreeChange[]): void {
    this.#changes.set(commit, changes)
  }

  /** Yields every file that differs between two commits. Cached for a commit that this process made on top of the other. */
  async *diffCommits(before: Oid | undefined, after: Oid): AsyncGenerator<TreeChange> {
    const known = this.#changes.get(after)
    const [parent] = known === undefined ? [] : parentsOfCommit((await this.read(after)).data)
    if (known !== undefined && parent === before) yield* known
    else yield* this.diffTrees(before === undefined ? undefined : await this.treeOf(before), await this.treeOf(after))
  }

  /** Yields every file whose content differs between two trees; see {@link compareTrees}. */
  async *diffTrees(before: Oid | undefined, after: Oid | undefined): AsyncGenerator<TreeChange> {
    for await (const { path, was, is } of this.compareTrees(before, after)) {
      if (was?.oid === is?.oid) continue
      yield {
        path,
        ...(was === undefined ? {} : { before: was.oid }),
        ...(is === undefined ? {} : { after: is.oid }),
        ...(is?.mode === submoduleMode ? { isSubmodule: true } : {}),
      }
    }
  }

  /**
   * Yields every file that differs between two trees in content or mode, in git's order. Does not read equal subtrees. An absent
   * side is an empty tree.
   */
  async *compareTrees(before: Oid | undefined, after: Oid | undefined, prefix = ''): AsyncGenerator<FileEntryChange> {
    if (before === after) return
    const dataOf = async (oid: Oid | undefined) => (oid === undefined ? noEntries : (await this.read(oid)).data)
    for (const { was, is } of differingEntries(await dataOf(before), await dataOf(after))) {
      const path = prefix + fromBinaryName((is ?? was)?.name ?? '')
      const [isFolder, wasFolder] = [is?.mode === folderMode, was?.mode === folderMode]
      if (isFolder || wasFolder) {
        yield* this.compareTrees(wasFolder ? was?.oid : undefined, isFolder ? is?.oid : undefined, `${path}/`)
      } else yield { path, ...(was && { was }), ...(is && { is }) }
    }
  }

  /** Writes objects as one pack, protected from garbage collection until the returned function is called; see {@link writePack}. */
  async writeObjects(objects: ReadonlyMap<Oid, GitObject>): Promise<() => Promise<void>> {
    if (objects.size === 0) return async () => {}
    const release = await writePack(this.gitDir, objects)
    this.rememberObjects(objects)
    return release
  }

  /** Caches objects that were just written, since most are read soon. */
  rememberObjects(objects: ReadonlyMap<Oid, GitObject>): void {
    // Trees that a later tree of the batch replaces are not read again, and would evict other objects.
    const superseded = new Set([...objects.values()].map(({ from }) => from?.base))
    for (const [oid, object] of objects) if (!superseded.has(oid)) this.#cache.set(oid, object)
  }

  /** See {@link ObjectStore.copyTo}. */
  copyTo(writer: PackWriter, wanted: ReadonlySet<Oid>): Promise<void> {
    return this.#store.copyTo(writer, wanted)
  }

  close(): void {
    this.#store.close()
    this.#cache.clear()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

const defaultMaxBytes = 16 * 1024 * 1024
/** Approximate bytes of a cache entry besides its data. */
const entryBytes = 512
/** Milliseconds without a use after which the cache is cleared. */
const idleMs = 60_000

/** Cache of recently used git objects, up to 16 MB. Objects are immutable, so entries never become stale. */
export class ObjectCache {
  readonly #objects: LRUCache<Oid, GitObject>
  #idle: NodeJS.Timeout | undefined

  /** Creates the cache. @param options.maxBytes of all objects; one that takes more than a sixteenth is not cached */
  constructor({ maxBytes = defaultMaxBytes }: { maxBytes?: number } = {}) {
    const maxEntrySize = maxBytes / 16 + entryBytes
    this.#objects = new LRUCache({ maxSize: maxBytes, maxEntrySize, sizeCalculation: bytesOf })
  }

  /** Returns the bytes of all entries. */
  get size(): number {
    return this.#objects.calculatedSize
  }

  get(oid: Oid): GitObject | undefined {
    const known = this.#objects.get(oid)
    if (known !== undefined) this.#idle?.refresh()
    return known
  }

  set(oid: Oid, object: GitObject): void {
    if (this.#objects.has(oid)) return
    this.#objects.set(oid, withOwnMemory(object))
    this.#idle = this.#idle?.refresh() ?? setTimeout(() => this.clear(), idleMs).unref()
  }

  clear(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.#objects.clear()
  }
}

function bytesOf({ data }: GitObject): number {
  return data.length + entryBytes
}

/**
 * Copies small data: Node allocates it from blocks of 64 KB, so 100 cached bytes would keep a whole block. Drops `from`, which is
 * needed only while the object is written.
 */
function withOwnMemory({ type, data }: GitObject): GitObject {
  const isShared = data.buffer.byteLength !== data.length
  return { type, data: isShared ? Buffer.from(Uint8Array.from(data).buffer) : data }
}

export type ListedFile = { path: string; mode: Mode; oid: Oid; size: number }

/** Returns every file of a commit. @throws {GitError} `missing-object`, `corrupt-object` */
export async function listFiles(repository: Repository, commit: Oid): Promise<ListedFile[]> {
  const files: Omit<ListedFile, 'size'>[] = []
  const list = async (tree: Oid, prefix: string): Promise<void> => {
    for (const { mode, name, oid } of (await repository.readTree(tree)).entries) {
      const path = prefix + fromBinaryName(name)
      if (mode === folderMode) await list(oid, `${path}/`)
      else files.push({ path, mode: canonicalMode(mode), oid })
    }
  }
  await list(await repository.treeOf(commit), '')
  const infos = await repository.infos(files.map(({ oid }) => oid))
  return files.map((file) => ({ ...file, size: infos.get(file.oid)?.size ?? 0 }))
}
