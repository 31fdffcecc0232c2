import { hash } from 'node:crypto'
import { GitError } from '../git-error.ts'

/** Object id: 40 lower-case hexadecimal digits. */
export type Oid = string
export type ObjectType = 'blob' | 'tree' | 'commit'
export type ObjectInfo = { type: ObjectType | 'tag'; size: number }
/** Difference between two byte strings: the `removed` bytes at `at` are replaced by `insert`. */
export type Delta = { at: number; removed: number; insert: Buffer }
/** Git object. `from`: a similar object and the difference from it, if one is known. */
export type GitObject = { type: ObjectType; data: Buffer; from?: { base: Oid; delta: Delta } }

export type Signature = { name: string; email: string; at: Date }
export type CommitFields = {
  tree: Oid
  parents: readonly Oid[]
  author: Signature
  committer: Signature
  message: string
}

/** End of the year 9999, the maximum of ISO 8601, in seconds since 1970. */
const maxSeconds = 253_402_300_799

export function isOid(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text)
}

/** Returns the object id of content: SHA-1 of git's header and the content. */
export function hashObject(type: ObjectType, data: Buffer): Oid {
  return hash('sha1', Buffer.concat([Buffer.from(`${type} ${data.length}\0`), data]))
}

function encodeSignature({ name, email, at }: Signature): string {
  const clean = (text: string) => text.replace(/[\p{Cc}<>]/gu, ' ').trim()
  return `${clean(name) || 'unknown'} <${clean(email)}> ${Math.floor(at.getTime() / 1000)} +0000`
}

export function encodeCommit({ tree, parents, author, committer, message }: CommitFields): Buffer {
  const header = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${encodeSignature(author)}`,
    `committer ${encodeSignature(committer)}`,
  ]
  return Buffer.from(`${header.join('\n')}\n\n${message.endsWith('\n') ? message : `${message}\n`}`)
}

export function treeOfCommit(data: Buffer): Oid {
  const line = data.toString('latin1', 0, 45)
  if (!line.startsWith('tree ')) throw new GitError('corrupt-object', 'a commit does not begin with its tree')
  return line.slice(5)
}

/** Returns the parents of a commit. The first is the previous head of its branch. */
export function parentsOfCommit(data: Buffer): Oid[] {
  const [header = ''] = data.toString('latin1').split('\n\n', 1)
  return [...header.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, oid = '']) => oid)
}

export function authorOfCommit(data: Buffer): Signature {
  return readSignature(data, /^author ([^<\n]*)<([^>\n]*)> (\d+) /m)
}

/** Returns who put a commit into the repository, and when. */
export function committerOfCommit(data: Buffer): Signature {
  return readSignature(data, /^committer ([^<\n]*)<([^>\n]*)> (\d+) /m)
}

/** Returns the commit time in seconds since 1970. */
export function secondsOfCommit(data: Buffer): number {
  return committerOfCommit(data).at.getTime() / 1000
}

export function authorLineOfCommit(data: Buffer): string {
  const { name, email } = authorOfCommit(data)
  return `${name} <${email}>`
}

export function messageOfCommit(data: Buffer): string {
  return data.toString('utf8', data.indexOf('\n\n') + 2)
}

/** Parses a signature. Dates that ISO 8601 cannot express become 1970, so that one such commit does not break a whole history. */
function readSignature(data: Buffer, pattern: RegExp): Signature {
  const [header = ''] = data.toString('utf8').split('\n\n', 1)
  const [, name = 'unknown', email = '', seconds = '0'] = pattern.exec(header) ?? []
  const isReal = Number(seconds) <= maxSeconds
  return { name: name.trimEnd(), email, at: new Date(isReal ? Number(seconds) * 1000 : 0) }
}

/** Octal file mode as in trees. */
export type Mode = '100644' | '100755' | '120000' | '160000' | '40000' | (string & {})
/**
 * Entry of a tree. `name` is a binary string (one character per byte, as decoded by `latin1`), so that names that are
 * not UTF-8 survive changes of other entries, and comparing strings compares bytes.
 */
export type GitTreeEntry = { mode: Mode; name: string; oid: Oid }

export function toBinaryName(name: string): string {
  return Buffer.from(name, 'utf8').toString('latin1')
}

export function fromBinaryName(name: string): string {
  return Buffer.from(name, 'latin1').toString('utf8')
}

/** Decodes the entry at an offset of a tree. Returns the offset after it, too. @throws {GitError} `corrupt-object` */
export function decodeEntry(data: Buffer, at: number): { entry: GitTreeEntry; end: number } {
  const space = data.indexOf(0x20, at)
  const nul = data.indexOf(0, space)
  const end = nul + 21
  if (space < 0 || nul < 0 || end > data.length) throw new GitError('corrupt-object', 'a tree is cut short')
  const entry = {
    mode: data.toString('latin1', at, space),
    name: data.toString('latin1', space + 1, nul),
    oid: data.toString('hex', nul + 1, end),
  }
  return { entry, end }
}

/** Modes of a folder, and of a submodule: a commit of another repository. */
export const [folderMode, submoduleMode] = ['40000', '160000'] as const

const modes: ReadonlySet<string> = new Set(['100644', '100755', '120000', submoduleMode, folderMode])

/** Returns the mode that every git reads for a mode written by an old version. */
export function canonicalMode(mode: Mode): Mode {
  if (modes.has(mode)) return mode
  const bits = Number.parseInt(mode, 8)
  const kind = (bits & 0o170000).toString(8)
  return kind === '100000' ? ((bits & 0o100) === 0 ? '100644' : '100755') : kind
}

type NewEntry = Omit<GitTreeEntry, 'name'>
/** Change at the entry with an index: it is removed, or another one is added before it, or takes its place. */
type TreeEdit = { index: number; removed: 0 | 1; added: GitTreeEntry | undefined }

/** Tree object of git, with its entries in git's order. Immutable. */
export class Tree {
  static readonly empty = new Tree([], [], Buffer.alloc(0))
  readonly entries: readonly GitTreeEntry[]
  readonly data: Buffer
  /** Offsets of the entries in `data`. */
  readonly #offsets: readonly number[]

  private constructor(entries: readonly GitTreeEntry[], offsets: readonly number[], data: Buffer) {
    this.entries = entries
    this.#offsets = offsets
    this.data = data
  }

  static decode(data: Buffer): Tree {
    const entries: GitTreeEntry[] = []
    const offsets: number[] = []
    for (let at = 0; at < data.length; ) {
      const { entry, end } = decodeEntry(data, at)
      offsets.push(at)
      entries.push(entry)
      at = end
    }
    return new Tree(entries, offsets, data)
  }

  get(name: string): GitTreeEntry | undefined {
    const index = this.#indexOf(name)
    return index === undefined ? undefined : this.entries[index]
  }

  /** Returns this tree with one entry set or removed; see {@link withAll}. */
  with(name: string, entry: NewEntry | undefined): ReturnType<Tree['withAll']> {
    return this.withAll(new Map([[name, entry]]))
  }

  /**
   * Returns this tree with entries set by name, or removed where they are undefined, and the difference of the bytes if it is in one place.
   * Copies the tree once, however many entries change.
   */
  withAll(changes: ReadonlyMap<string, NewEntry | undefined>): { tree: Tree; delta: Delta | undefined } {
    const edits = Array.from(changes, ([name, entry]) => this.#editsFor(name, entry)).flat()
    // Entries that are added at one place come before the one that is replaced there.
    edits.sort((a, b) => a.index - b.index || a.removed - b.removed || (keyOf(a) < keyOf(b) ? -1 : 1))
    const entries: GitTreeEntry[] = []
    const offsets: number[] = []
    const parts: Buffer[] = []
    let [next, shift] = [0, 0]
    let delta: Delta | undefined
    for (const { index, removed, added } of [...edits, { index: this.entries.length, removed: 0, added: undefined }]) {
      const [start, at, end] = [next, index, index + removed].map((each) => this.#offsets[each] ?? this.data.length)
      for (; next < index; next++) {
        entries.push(this.entries[next] as GitTreeEntry)
        offsets.push((this.#offsets[next] as number) + shift)
      }
      const insert = added === undefined ? Buffer.alloc(0) : encodeEntry(added)
      if (added !== undefined) {
        entries.push(added)
        offsets.push((at as number) + shift)
      }
      parts.push(this.data.subarray(start, at), insert)
      next += removed
      shift += insert.length - ((end as number) - (at as number))
      delta ??= { at: at as number, removed: (end as number) - (at as number), insert }
    }
    return { tree: new Tree(entries, offsets, Buffer.concat(parts)), delta: edits.length === 1 ? delta : undefined }
  }

  /** Returns the edits that set or remove an entry: two if it moves, as when a file becomes a folder. */
  #editsFor(name: string, entry: NewEntry | undefined): TreeEdit[] {
    const index = this.#indexOf(name)
    const added = entry && { ...entry, name }
    if (added === undefined) return index === undefined ? [] : [{ index, removed: 1, added }]
    const old = index === undefined ? undefined : this.entries[index]
    if (index !== undefined && old !== undefined && sortKey(old) === sortKey(added))
      return [{ index, removed: 1, added }]
    const removal = index === undefined ? [] : [{ index, removed: 1, added: undefined } as const]
    return [...removal, { index: this.#lowerBound(sortKey(added)), removed: 0, added }]
  }

  /** Returns the index of the entry with a name. Its position depends on whether it is a folder. */
  #indexOf(name: string): number | undefined {
    for (const key of [name, `${name}/`]) {
      const index = this.#lowerBound(key)
      if (this.entries[index]?.name === name) return index
    }
    return undefined
  }

  #lowerBound(key: string): number {
    let low = 0
    let high = this.entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const entry = this.entries[middle]
      if (entry !== undefined && sortKey(entry) < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Returns the key by which git orders a tree: the name, with a trailing slash for a folder. */
export function sortKey({ mode, name }: GitTreeEntry): string {
  return mode === folderMode ? `${name}/` : name
}

function keyOf({ added }: TreeEdit): string {
  return added === undefined ? '' : sortKey(added)
}

function encodeEntry({ mode, name, oid }: GitTreeEntry): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')])
}

export type EntryChange = { was?: GitTreeEntry; is?: GitTreeEntry }

const step = 4096

/**
 * Yields the entries in which two trees differ, in git's order. A file replaced by a folder of its name is two changes. Decodes
 * only differing parts: most of a folder of 10,000 files is unchanged.
 * @throws {GitError} `corrupt-object`
 */
export function* differingEntries(before: Buffer, after: Buffer): Generator<EntryChange> {
  let [old, now] = [0, 0]
  for (;;) {
    const same = wholeEntries(before, old, commonLength(before, old, after, now))
    old += same
    now += same
    const was = old < before.length ? decodeEntry(before, old) : undefined
    const is = now < after.length ? decodeEntry(after, now) : undefined
    if (was === undefined && is === undefined) return
    const order = compareKeys(was?.entry, is?.entry)
    if (was !== undefined && order <= 0) old = was.end
    if (is !== undefined && order >= 0) now = is.end
    if (order < 0 && was !== undefined) yield { was: was.entry }
    else if (order > 0 && is !== undefined) yield { is: is.entry }
    else if (was !== undefined && is !== undefined) yield { was: was.entry, is: is.entry }
  }
}

/** Returns the number of equal bytes from `old` and `now` on. */
function commonLength(before: Buffer, old: number, after: Buffer, now: number): number {
  const most = Math.min(before.length - old, after.length - now)
  let length = 0
  while (length + step <= most && isSame(before, old + length, after, now + length, step)) length += step
  while (length < most && before[old + length] === after[now + length]) length++
  return length
}

function isSame(a: Buffer, at: number, b: Buffer, bt: number, length: number): boolean {
  return a.compare(b, bt, bt + length, at, at + length) === 0
}

/** Returns the part of `length` bytes that consists of whole entries. */
function wholeEntries(tree: Buffer, start: number, length: number): number {
  let end = start
  for (;;) {
    const next = tree.indexOf(0, end) + 21
    if (next <= 20 || next > start + length) return end - start
    end = next
  }
}

function compareKeys(was: GitTreeEntry | undefined, is: GitTreeEntry | undefined): number {
  if (was === undefined) return 1
  if (is === undefined) return -1
  const [a, b] = [sortKey(was), sortKey(is)]
  return a < b ? -1 : a > b ? 1 : 0
}
