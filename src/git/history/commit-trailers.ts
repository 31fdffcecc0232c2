import { messageOfCommit, type Oid } from '../objects/object.ts'
import type { Repository } from '../repository.ts'
import { CommitWalk } from './commit-walk.ts'
import { changesOf, commitsBetween } from './history.ts'
import { trailersOf } from './trailers.ts'

/** A commit's trailers by name, the last of each name, and the paths that it changed; of a merge none. */
export type TrailedCommit = { trailers: Readonly<Record<string, string>>; paths: string[] }

/** The commits that `to` has and `from` has not, the latest first, `max` at most. @throws {GitError} `git-failed` */
export async function trailersBetween(
  repository: Repository,
  { from, to, names, max }: { from: Oid; to: Oid; names: readonly string[]; max: number },
): Promise<TrailedCommit[]> {
  const walk = new CommitWalk(repository)
  const commits = (await commitsBetween(walk, from, to)).reverse().slice(0, max)
  const read = commits.map(async (commit): Promise<TrailedCommit> => {
    const trailers = trailersOf(messageOfCommit((await repository.read(commit.oid)).data))
    const named = trailers.flatMap(([key, value]) => {
      const name = names.find((wanted) => wanted.toLowerCase() === key.toLowerCase())
      return name === undefined || value === '' ? [] : [[name, value]]
    })
    const isMerge = commit.parents.length > 1
    const paths = isMerge ? [] : (await changesOf(repository, walk, commit)).map(({ path }) => path)
    return { trailers: Object.fromEntries(named), paths }
  })
  return Promise.all(read)
}
