import { GitError } from './git-error.ts'
import {
  encodeCommit,
  folderMode,
  fromBinaryName,
  type GitObject,
  type GitTreeEntry,
  hashObject,
  type ObjectType,
  type Oid,
  type Signature,
  Tree,
  toBinaryName,
  treeOfCommit,
} from './objects/object.ts'
import type { Repository, TreeChange } from './repository.ts'

/** New contents of files by path: text or bytes, the id of an existing blob, or null to remove the file. */
export type FileChanges = ReadonlyMap<string, Buffer | string | { oid: Oid } | null>

export type CommitRequest = {
  changes: FileChanges
  message: string
  author: Signature
  committer: Signature
  /** Second parent: the merged commit. The changes are relative to the first parent. */
  mergeParent?: Oid
}

type Mark = { heads: Map<string, Oid | undefined>; objects: number }

/**
 * Changed path, as a tree of folders: either a file's new blob (undefined: removed) or a folder with changes. `leaving`: changes in the
 * folder that a file replaces; `isFreed`: true for a folder that replaces a removed file.
 */
type FileNode = { blob: Oid | undefined; leaving?: ChangeTree }
type FolderNode = { folder: ChangeTree; isFreed: boolean }
type ChangeTree = Map<string, FileNode | FolderNode>

/** Changed files, collected while trees are written; undefined once a file and a folder have exchanged a path. */
type Changed = { files: TreeChange[] | undefined }

/**
 * Commits that are being prepared on top of a repository's refs. Their objects stay in memory until the group commit
 * that owns this staging area writes them in one pack and moves the refs.
 */
export class Staging {
  readonly objects = new Map<Oid, GitObject>()
  /** True while work is tried out that will be rolled back. */
  isTrial = false
  /** Changes of staged commits against their first parents, by path. Commits with unknown changes are missing. */
  readonly changes = new Map<Oid, TreeChange[]>()
  readonly #repository: Repository
  readonly #heads: Map<string, Oid | undefined>
  /** Decoded staged trees: the next commit usually builds on them. */
  readonly #trees = new Map<Oid, Tree>()

  constructor(repository: Repository, heads: ReadonlyMap<string, Oid | undefined>) {
    this.#repository = repository
    this.#heads = new Map(heads)
  }

  head(ref: string): Oid | undefined {
    return this.#heads.get(ref)
  }

  /** Returns an object, staged or in the repository. @throws {GitError} `missing-object` */
  async read(oid: Oid): Promise<GitObject> {
    return this.objects.get(oid) ?? this.#repository.read(oid)
  }

  async readText(oid: Oid): Promise<string> {
    return (await this.read(oid)).data.toString('utf8')
  }

  /** Stages a blob that is not in a tree yet. */
  putBlob(data: Buffer | string): Oid {
    return this.#put('blob', Buffer.isBuffer(data) ? data : Buffer.from(data))
  }

  /**
   * Stages one commit on top of a ref (the first one, if it does not exist) and returns its id. A file may replace a folder, or a folder
   * a file, only if the changes remove the old one.
   * @throws {GitError} `path-taken`
   */
  async commit(ref: string, request: CommitRequest): Promise<Oid> {
    const parent = this.#heads.get(ref)
    const changes: ChangeTree = new Map()
    // Removals first: a new file may have the name of a removed folder.
    const ordered = [...request.changes].sort(([, a], [, b]) => Number(b === null) - Number(a === null))
    for (const [path, change] of ordered) addChange(changes, path, this.#blobOf(change))
    const base = parent === undefined ? undefined : treeOfCommit((await this.read(parent)).data)
    const changed: Changed = { files: [] }
    const tree = (await this.#applyChanges(base, changes, '', changed)) ?? this.#putTree(Tree.empty)
    const { message, author, committer, mergeParent } = request
    const parents = [parent, mergeParent].filter((oid) => oid !== undefined)
    const oid = this.#put('commit', encodeCommit({ tree, parents, author, committer, message }))
    this.#heads.set(ref, oid)
    const files = changed.files?.sort((a, b) => (a.path < b.path ? -1 : 1))
    if (files !== undefined) this.changes.set(oid, files)
    return oid
  }

  /** Returns a mark for a rollback when one of several changes fails. */
  mark(): Mark {
    return { heads: new Map(this.#heads), objects: this.objects.size }
  }

  resetTo(mark: Mark): void {
    for (const [ref, oid] of mark.heads) this.#heads.set(ref, oid)
    for (const oid of [...this.objects.keys()].slice(mark.objects)) this.objects.delete(oid)
  }

  #blobOf(change: Buffer | string | { oid: Oid } | null): Oid | undefined {
    if (change === null) return undefined
    return typeof change === 'string' || Buffer.isBuffer(change) ? this.putBlob(change) : change.oid
  }

  #put(type: ObjectType, data: Buffer, from?: GitObject['from']): Oid {
    const oid = hashObject(type, data)
    if (!this.objects.has(oid)) this.objects.set(oid, { type, data, ...(from === undefined ? {} : { from }) })
    return oid
  }

  /** Returns the folder's new tree, or undefined if it becomes empty: git stores no empty folders. */
  async #applyChanges(
    base: Oid | undefined,
    changes: ChangeTree,
    prefix: string,
    changed: Changed,
  ): Promise<Oid | undefined> {
    const known = base === undefined ? Tree.empty : await this.#readTree(base)
    const entries = new Map<string, Omit<GitTreeEntry, 'name'> | undefined>()
    for (const [name, change] of changes) {
      const [old, path] = [known.get(name), prefix + fromBinaryName(name)]
      const isFile = 'blob' in change
      if (old !== undefined && (old.mode === folderMode) === isFile) {
        changed.files = undefined
        if (!(await this.#isFreed(old, change))) throw new GitError('path-taken', `${path} is in the way of a commit`)
      } else if (isFile && old?.oid !== change.blob) changed.files?.push(fileChange(path, old?.oid, change.blob))
      const entry = isFile ? blobEntry(change.blob) : await this.#folderEntry(old, change.folder, `${path}/`, changed)
      entries.set(name, entry)
    }
    const { tree, delta } = known.withAll(entries)
    if (tree.entries.length === 0) return undefined
    return this.#putTree(tree, base !== undefined && delta !== undefined ? { base, delta } : undefined)
  }

  /** True if the changes remove everything at a name where a folder replaces a file, or the reverse. */
  async #isFreed(old: GitTreeEntry, change: FileNode | FolderNode): Promise<boolean> {
    if ('folder' in change) return change.isFreed
    return (await this.#applyChanges(old.oid, change.leaving ?? new Map(), '', { files: undefined })) === undefined
  }

  async #folderEntry(
    old: GitTreeEntry | undefined,
    changes: ChangeTree,
    prefix: string,
    changed: Changed,
  ): Promise<Omit<GitTreeEntry, 'name'> | undefined> {
    const oid = await this.#applyChanges(old?.mode === folderMode ? old.oid : undefined, changes, prefix, changed)
    return oid === undefined ? undefined : { mode: folderMode, oid }
  }

  async #readTree(oid: Oid): Promise<Tree> {
    return this.#trees.get(oid) ?? Tree.decode((await this.read(oid)).data)
  }

  #putTree(tree: Tree, from?: GitObject['from']): Oid {
    const oid = this.#put('tree', tree.data, from)
    this.#trees.set(oid, tree)
    return oid
  }
}

function fileChange(path: string, before: Oid | undefined, after: Oid | undefined): TreeChange {
  return { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }
}

function blobEntry(oid: Oid | undefined): Omit<GitTreeEntry, 'name'> | undefined {
  return oid === undefined ? undefined : { mode: '100644', oid }
}

function addChange(changes: ChangeTree, path: string, blob: Oid | undefined): void {
  const names = path.split('/').map(toBinaryName)
  const last = names.pop() ?? ''
  let folder = changes
  for (const name of names) {
    const known = folder.get(name)
    if (known !== undefined && 'folder' in known) folder = known.folder
    else {
      const next: ChangeTree = new Map()
      folder.set(name, { folder: next, isFreed: known !== undefined && known.blob === undefined })
      folder = next
    }
  }
  const known = folder.get(last)
  folder.set(last, { blob, ...(known !== undefined && 'folder' in known && { leaving: known.folder }) })
}
