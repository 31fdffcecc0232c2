import { GitError } from '../git-error.ts'
import { runGit, spawnGit } from '../git-process.ts'
import { isOid, type Oid } from './object.ts'

/** Both inclusive. */
export type BlobRange = { first: number; last: number }

/** The size of a blob in bytes. @throws {GitError} `missing-object`, `git-failed` */
export async function blobSize(gitDir: string, oid: Oid): Promise<number> {
  if (!isOid(oid)) throw new GitError('missing-object', 'not an object id')
  return Number(await runGit(gitDir, ['cat-file', '-s', oid]))
}

/**
 * The bytes of a blob, or a range of them, from a git of its own: only what is on its way is in memory.
 * @throws {GitError} `missing-object`; `git-failed` when it ends before the range does.
 */
export async function* readBlob(gitDir: string, oid: Oid, { first, last }: BlobRange): AsyncGenerator<Buffer> {
  if (!isOid(oid)) throw new GitError('missing-object', 'not an object id')
  const git = await spawnGit(gitDir, ['cat-file', 'blob', oid])
  try {
    let at = 0
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
      const wanted = chunk.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at))
      at += chunk.length
      if (wanted.length > 0) yield wanted
      if (at > last) return
    }
    throw new GitError('git-failed', 'git cat-file ended before the blob did')
  } finally {
    git.kill('SIGKILL')
  }
}
