import { tryGit } from './git-process.ts'
import type { Oid } from './object.ts'

/** Whether one commit is in the history of another, or is that commit. Of a commit that is not there, nothing is. */
export async function isAncestor(gitDir: string, commit: Oid, head: Oid): Promise<boolean> {
  if (commit === head) return true
  return (await tryGit(gitDir, ['merge-base', '--is-ancestor', commit, head])).exitCode === 0
}
