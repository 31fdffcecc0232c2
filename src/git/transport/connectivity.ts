import { GitError } from '../git-error.ts'
import { CommitWalk } from '../history/commit-walk.ts'
import { commitsBetween } from '../history/history.ts'
import type { Oid } from '../objects/object.ts'
import { submoduleMode } from '../objects/tree.ts'
import type { Repository } from '../repository.ts'

/**
 * Makes sure that nothing is missing of what `to` brings: its commits that `from` does not have, their folders and files.
 * @throws {GitError} `git-failed` for a commit, `missing-object`
 */
export async function requireConnected(repository: Repository, { from, to }: { from: Oid; to: Oid }): Promise<void> {
  const walk = new CommitWalk(repository)
  for (const { tree, parents } of await commitsBetween(walk, from, to)) {
    const [parent] = parents
    const before = parent === undefined ? undefined : (await walk.commit(parent)).tree
    const files = new Set<Oid>()
    for await (const { is } of repository.compareTrees(before, tree)) {
      if (is !== undefined && is.mode !== submoduleMode) files.add(is.oid)
    }
    const found = await repository.infos(files)
    const missing = [...files].find((oid) => !found.has(oid))
    if (missing !== undefined) throw new GitError('missing-object', `${missing} is not in the repository`)
  }
}
