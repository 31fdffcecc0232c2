import type { Oid } from '../objects/object.ts'
import type { Repository } from '../repository.ts'
import { readHistory } from './history.ts'

/**
 * The blob that each path got from the last commit that changed it and has a line in its message, on the first-parent line of
 * `head`. A path that such a commit removed is left out.
 * @throws {GitError} `git-failed`
 */
export async function lastWritten(repository: Repository, head: Oid, line: string): Promise<Map<string, Oid>> {
  const written = new Map<string, Oid>()
  for await (const { changes } of readHistory(repository, head, undefined, { line })) {
    for (const { path, after } of changes) {
      if (after === undefined) written.delete(path)
      else written.set(path, after)
    }
  }
  return written
}
