import { tryGit } from './git-process.ts'
import { isOid, type Oid } from './object.ts'
import { quarantineEnvironment } from './quarantine.ts'

/**
 * Whether one commit is in the history of another, or is that commit. Of a commit that is not there, nothing is.
 * @param quarantine the folder of a push's objects, where they are not in the repository yet.
 */
export async function isAncestor(gitDir: string, commit: Oid, head: Oid, quarantine?: string): Promise<boolean> {
  if (commit === head) return true
  const environment = quarantineEnvironment(gitDir, quarantine)
  return (await tryGit(gitDir, ['merge-base', '--is-ancestor', commit, head], { environment })).exitCode === 0
}

/** The best common ancestor of two commits; nothing where they have none. */
export async function mergeBase(gitDir: string, a: Oid, b: Oid, quarantine?: string): Promise<Oid | undefined> {
  const environment = quarantineEnvironment(gitDir, quarantine)
  const { output } = await tryGit(gitDir, ['merge-base', a, b], { environment })
  const [oid = ''] = output.split('\n', 1)
  return isOid(oid) ? oid : undefined
}
