import { encodeCommit, type GitObject, hashObject, type Oid, Tree } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { commitMessage, committer } from './commit-message.ts'

export const mainRef = 'refs/heads/main'
export const queueRef = 'refs/ganglion/queue'
/**
 * Ref that maps the ids of commits that an erasure has replaced to their replacements: an older clone must not bring them back, and
 * citations name them.
 */
export const erasedRef = 'refs/ganglion/erased'
/** Refs that nodes share, in the order of updating: a copy that has a new value of one has the new values of those before it. */
export const sharedRefs = [erasedRef, queueRef, mainRef]

/** Thrown if the repository of a knowledge base, or a folder of it, is missing. */
export class RepositoryMissing extends Error {
  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is gone; to put it back: ganglion restore`, options)
  }
}

/** Thrown if an existing ref has disappeared, as when `packed-refs` was emptied. */
export class RefMissing extends Error {
  constructor(gitDir: string, ref: string, lastSeen: Oid) {
    super(`${ref} is gone; to put it back: git --git-dir=${gitDir} update-ref ${ref} ${lastSeen}`)
  }
}

/** File on the queue ref with the number that seqIds must exceed, whatever main has. */
export const seqFloorPath = 'seq-floor'

export function formatSeqFloor(floor: number): string {
  return `${floor}\n`
}

/** Parses the content of {@link seqFloorPath}; undefined if it is not a number. */
export function parseSeqFloor(text: string): number | undefined {
  return /^[0-9]{1,8}\n?$/.test(text) ? Number(text) : undefined
}

const file = 'commits'

/** Returns the commits that erasures have replaced, each with its replacement. Lists of an earlier version lack the latter. */
export async function erasedCommits(repository: Repository): Promise<ReadonlyMap<Oid, Oid | undefined>> {
  const head = await repository.readRef(erasedRef)
  const blob = head && (await repository.blobAt(head, file))
  const lines = blob ? (await repository.readTextOnce(blob)).split('\n').filter((line) => line !== '') : []
  return new Map(
    lines.map((line) => {
      const [replaced = '', now] = line.split(' ')
      return [replaced, now]
    }),
  )
}

/** Returns the objects of the ref; the last is its commit. They contain ids alone, which reveal nothing of what was erased. */
export function formatErasedCommits(commits: ReadonlyMap<Oid, Oid | undefined>, at: Date): GitObject[] {
  const lines = [...commits].map(([replaced, now]) => `${now === undefined ? replaced : `${replaced} ${now}`}\n`)
  const list = Buffer.from(lines.toSorted().join(''))
  const { tree } = Tree.empty.with(file, { mode: '100644', oid: hashObject('blob', list) })
  const fields = { tree: hashObject('tree', tree.data), parents: [], author: committer(at), committer: committer(at) }
  const commit = encodeCommit({ ...fields, message: commitMessage('Refuse what was erased', []) })
  return [
    { type: 'blob', data: list },
    { type: 'tree', data: tree.data },
    { type: 'commit', data: commit },
  ]
}
