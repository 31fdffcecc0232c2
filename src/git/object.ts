import { hash } from 'node:crypto'
import { GitError } from './git-error.ts'

/** 40 lower-case hexadecimal digits. */
export type Oid = string
export type ObjectType = 'blob' | 'tree' | 'commit'
export type GitObject = { type: ObjectType; data: Buffer }

/** An octal file mode as trees hold it. */
export type Mode = '100644' | '100755' | '120000' | '160000' | '40000' | (string & {})
/**
 * One entry of a tree. `name` is a binary string (one character a byte, as `latin1` decodes it): names that are not
 * UTF-8 survive an edit of their neighbours, and comparing such strings compares bytes.
 */
export type TreeEntry = { mode: Mode; name: string; oid: Oid }
export type Tree = readonly TreeEntry[]

export type Signature = { name: string; email: string; at: Date }
export type CommitFields = {
  tree: Oid
  parents: readonly Oid[]
  author: Signature
  committer: Signature
  message: string
}

export const emptyTree: Oid = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

export function isOid(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text)
}

export function toBinaryName(name: string): string {
  return Buffer.from(name, 'utf8').toString('latin1')
}

export function fromBinaryName(name: string): string {
  return Buffer.from(name, 'latin1').toString('utf8')
}

/** The object id of content: SHA-1 over git's header and the content. */
export function hashObject(type: ObjectType, data: Buffer): Oid {
  return hash('sha1', Buffer.concat([Buffer.from(`${type} ${data.length}\0`), data]))
}

/** Git orders a tree by name, with a folder's name as if it ended in a slash. */
function sortKey(entry: TreeEntry): string {
  return entry.mode === '40000' ? `${entry.name}/` : entry.name
}

export function encodeTree(tree: Tree): Buffer {
  let size = 0
  for (const entry of tree) size += entry.mode.length + entry.name.length + 22
  const data = Buffer.allocUnsafe(size)
  let at = 0
  for (const entry of tree) {
    at += data.write(`${entry.mode} ${entry.name}\0`, at, 'latin1')
    at += data.write(entry.oid, at, 'hex')
  }
  return data
}

export function decodeTree(data: Buffer): Tree {
  const tree: TreeEntry[] = []
  let at = 0
  while (at < data.length) {
    const space = data.indexOf(0x20, at)
    const nul = data.indexOf(0, space)
    if (space < 0 || nul < 0 || nul + 21 > data.length) throw new GitError('corrupt-object', 'a tree is cut short')
    tree.push({
      mode: data.toString('latin1', at, space),
      name: data.toString('latin1', space + 1, nul),
      oid: data.toString('hex', nul + 1, nul + 21),
    })
    at = nul + 21
  }
  return tree
}

/** The tree with one name set to an entry, or without it; `tree` itself stays as it is. */
export function withEntry(tree: Tree, name: string, entry: Omit<TreeEntry, 'name'> | undefined): Tree {
  const kept = tree.filter((other) => other.name !== name)
  if (entry === undefined) return kept
  const added = { ...entry, name }
  const key = sortKey(added)
  let low = 0
  let high = kept.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = kept[middle]
    if (other !== undefined && sortKey(other) < key) low = middle + 1
    else high = middle
  }
  kept.splice(low, 0, added)
  return kept
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

/** The tree that a commit points to. */
export function treeOfCommit(data: Buffer): Oid {
  const line = data.toString('latin1', 0, 45)
  if (!line.startsWith('tree ')) throw new GitError('corrupt-object', 'a commit does not begin with its tree')
  return line.slice(5)
}

/** Who wrote a commit, and when. */
export function authorOfCommit(data: Buffer): Signature {
  const [header = ''] = data.toString('utf8').split('\n\n', 1)
  const [, name = 'unknown', email = '', seconds = '0'] = /^author (.*) <(.*)> (\d+) /m.exec(header) ?? []
  return { name, email, at: new Date(Number(seconds) * 1000) }
}
