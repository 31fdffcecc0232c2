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
