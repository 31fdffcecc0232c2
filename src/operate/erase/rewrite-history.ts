import { isUtf8 } from 'node:buffer'
import { trailersOf } from '../../git/history/trailers.ts'
import {
  folderMode,
  fromBinaryName,
  hashObject,
  type ObjectType,
  type Oid,
  parentsOfCommit,
  submoduleMode,
  Tree,
  toBinaryName,
  treeOfCommit,
} from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { tryParseCandidate } from '../../markdown/file/candidate-file.ts'
import { pauses } from '../../system/pauses.ts'
import { type Erasing, erasedPath, type FileKind, fileKindOf } from './erasing.ts'
import { erasedWord } from './text-forms.ts'

/** Trailers of the server to keep, which record who decided what. Others may contain data to erase. */
const keptTrailers = new Set(
  [
    ...['Candidate', 'Neuron', 'Kind', 'Connector', 'Source', 'Removes', 'Approved-By', 'Knowledge-Base', 'Number'],
    ...['Dismissed-By', 'Reopened-By', 'Revised-By', 'Zone'],
  ].map((name) => name.toLowerCase()),
)

/** Rewritten tree: its new id, and the erased pages that it contained, by seqId, with their old and new blobs. */
type Rewritten = { oid: Oid; erased: ReadonlyMap<string, { was: Oid; is: Oid }> }

/** Rewritten file. `seqId`: present for an erased page. */
type RewrittenFile = { oid: Oid; seqId: string | undefined }

const none: Rewritten['erased'] = new Map()
const emptyTree = hashObject('tree', Buffer.alloc(0))

/** Rewrites a history without data to erase. Unaffected objects keep their ids, and commits keep their times, authors and parents. */
export class HistoryRewrite {
  /** New ids of changed objects. */
  readonly oids = new Map<Oid, Oid>()
  readonly #from: Repository
  readonly #erasing: Erasing
  readonly #write: (type: ObjectType, data: Buffer) => Promise<void>
  readonly #trees = new Map<string, Rewritten>()
  readonly #files = new Map<string, RewrittenFile>()
  readonly #newNames = new Map<string, string>()
  readonly #commits = new Map<Oid, Oid>()
  readonly #made = new Map<Oid, Buffer>()
  readonly #pause = pauses()

  constructor(from: Repository, erasing: Erasing, write: (type: ObjectType, data: Buffer) => Promise<void>) {
    this.#from = from
    this.#erasing = erasing
    this.#write = write
  }

  /** Rewrites commits. @param commits with all their ancestors, parents first */
  async run(commits: readonly Oid[]): Promise<void> {
    for (const commit of commits) this.#commits.set(commit, await this.#commit(commit))
  }

  newId(commit: Oid): Oid {
    return this.#commits.get(commit) ?? commit
  }

  async #commit(oid: Oid): Promise<Oid> {
    await this.#pause()
    const { data } = await this.#from.readOnce(oid)
    const tree = treeOfCommit(data)
    const { oid: newTree, erased } = await this.#tree(tree, '')
    const parents = parentsOfCommit(data)
    const newParents = parents.map((parent) => this.newId(parent))
    // Keeps all other bytes as they are.
    const encoding = isUtf8(data) ? 'utf8' : 'latin1'
    const text = data.toString(encoding)
    const end = text.indexOf('\n\n')
    const [header, message] = [text.slice(0, end), text.slice(end + 2)]
    const newHeader = this.#erasing.replace(header)
    const newMessage = (await this.#isOfErased(message, erased, parents[0]))
      ? withoutSubject(this.#erasing.replaceMessage(message))
      : this.#erasing.replaceMessage(message)
    const isSame = newTree === tree && newParents.every((parent, at) => parent === parents[at])
    if (isSame && newHeader === header && newMessage === message) return oid
    const others = newHeader
      // A signature would be invalid.
      .replace(/^gpgsig(?:-sha256)? .*(?:\n .*)*\n?/gm, '')
      .split('\n')
      .filter((line) => !/^(?:tree|parent) /.test(line) && line !== '')
    const lines = [`tree ${newTree}`, ...newParents.map((parent) => `parent ${parent}`), ...others]
    return this.#put('commit', oid, Buffer.from(`${lines.join('\n')}\n\n${newMessage}`, encoding))
  }

  /** True if a commit concerns erased pages: the server's names them, any other changed them. */
  async #isOfErased(message: string, erased: Rewritten['erased'], parent: Oid | undefined): Promise<boolean> {
    const { candidates, seqIds } = this.#erasing
    const named = trailersOf(message).flatMap(([, value]) => value.split(/[\s,]+/))
    if (named.some((word) => candidates.has(word) || seqIds.has(word))) return true
    if (seqIds.size === 0) return false
    const before = parent === undefined ? none : (await this.#tree(await this.#from.treeOf(parent), '')).erased
    return erased.size !== before.size || [...erased].some(([seqId, { was }]) => before.get(seqId)?.was !== was)
  }

  async #tree(oid: Oid, prefix: string): Promise<Rewritten> {
    const key = `${oid} ${prefix}`
    const known = this.#trees.get(key)
    if (known !== undefined) return known
    const before = await this.#from.readTree(oid)
    let tree: Tree = before
    const erased = new Map<string, { was: Oid; is: Oid }>()
    for (const entry of before.entries) {
      const name = fromBinaryName(entry.name)
      const path = `${prefix}${name}`
      let [is, newName]: [Oid | undefined, string] = [entry.oid, entry.name]
      if (entry.mode === folderMode) {
        const inner = await this.#tree(entry.oid, `${path}/`)
        for (const [seqId, blob] of inner.erased) erased.set(seqId, blob)
        is = inner.oid
        if (inner.erased.size > 0 && inner.oid === emptyTree) is = undefined
      } else if (entry.mode !== submoduleMode) {
        const found = await this.#blob(entry.oid, fileKindOf(path), path)
        if (found.seqId !== undefined) erased.set(found.seqId, { was: entry.oid, is: found.oid })
        is = found.seqId === undefined ? found.oid : undefined
      }
      if (is !== undefined && fromBinaryName(newName) === name) {
        const replaced = this.#erasing.replaceName(name)
        if (replaced !== name) newName = toBinaryName(this.#newName(path, prefix + replaced).slice(prefix.length))
      }
      if (is === entry.oid && newName === entry.name) continue
      if (newName !== entry.name) tree = tree.with(entry.name, undefined).tree
      if (newName !== entry.name && tree.get(newName) !== undefined) {
        throw new Error(
          `Without the text, two files would be called ${prefix}${fromBinaryName(newName)}: rename one first.`,
        )
      }
      tree = tree.with(newName, is === undefined ? undefined : { mode: entry.mode, oid: is }).tree
    }
    if (prefix === '') for (const [seqId, blob] of erased) tree = await this.#withFile(tree, erasedPath(seqId), blob.is)
    const newId = tree === before ? oid : await this.#put('tree', oid, tree.data)
    const rewritten = { oid: newId, erased }
    this.#trees.set(key, rewritten)
    return rewritten
  }

  /** Returns the new path of a file whose name contains a text to erase: the same in all commits, and different for each. */
  #newName(path: string, replaced: string): string {
    const known = this.#newNames.get(path)
    if (known !== undefined) return known
    const [, stem = '', extension = ''] = /^(.*?)(\.[^./]*)?$/s.exec(replaced) ?? []
    const taken = new Set(this.#newNames.values())
    let name = replaced
    for (let n = 2; taken.has(name); n++) name = `${stem}-${n}${extension}`
    this.#newNames.set(path, name)
    return name
  }

  async #withFile(tree: Tree, path: string, blob: Oid): Promise<Tree> {
    const [first = '', ...rest] = path.split('/')
    if (rest.length === 0) return tree.with(first, { mode: '100644', oid: blob }).tree
    const known = tree.get(first)
    const folder = known?.mode === folderMode ? await this.#readTree(known.oid) : Tree.empty
    const inner = await this.#withFile(folder, rest.join('/'), blob)
    const oid = await this.#put('tree', undefined, inner.data)
    return tree.with(first, { mode: folderMode, oid }).tree
  }

  /** Reads a tree, stored or only created here. */
  async #readTree(oid: Oid): Promise<Tree> {
    const made = this.#made.get(oid)
    return made === undefined ? this.#from.readTree(oid) : Tree.decode(made)
  }

  async #blob(oid: Oid, kind: FileKind, path: string): Promise<RewrittenFile> {
    // A commit's folder shares most files with the previous one.
    const key = `${oid} ${path}`
    const known = this.#files.get(key)
    if (known !== undefined) return known
    await this.#pause()
    const { data } = await this.#from.readOnce(oid)
    const { data: rewritten, seqId } = await this.#erasing.rewriteFile({ kind, path, data }, (named) =>
      this.#named(named),
    )
    const is = rewritten.equals(data) ? oid : await this.#put('blob', oid, rewritten)
    const file = { oid: is, seqId }
    this.#files.set(key, file)
    return file
  }

  /** Returns the new id of a blob that a record of the queue names. */
  async #named(oid: Oid): Promise<Oid> {
    const known = this.oids.get(oid)
    if (known !== undefined) return known
    const object = await this.#from.find(oid).catch(() => undefined)
    if (object?.type !== 'blob') return oid
    const isRecord = tryParseCandidate(object.data.toString('utf8')) !== undefined
    return (await this.#blob(oid, isRecord ? 'record' : 'page', '')).oid
  }

  async #put(type: ObjectType, was: Oid | undefined, data: Buffer): Promise<Oid> {
    const oid = hashObject(type, data)
    if (type === 'tree') this.#made.set(oid, data)
    if (oid === was) return oid
    await this.#write(type, data)
    if (was !== undefined) this.oids.set(was, oid)
    return oid
  }
}

/** Returns a message with only the trailers that record who decided what. */
function withoutSubject(message: string): string {
  const kept = trailersOf(message).filter(([name]) => keptTrailers.has(name.toLowerCase()))
  return [erasedWord, ...(kept.length > 0 ? [kept.map(([name, value]) => `${name}: ${value}`).join('\n')] : [])]
    .join('\n\n')
    .concat('\n')
}
