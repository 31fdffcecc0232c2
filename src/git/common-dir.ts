import { join, resolve } from 'node:path'
import { readIfThere } from '../system/read-if-there.ts'

/** Returns the folder with the objects and refs of a repository. A linked work tree has them elsewhere (gitrepository-layout(5)). */
export function commonDir(gitDir: string): string {
  const path = readLines(join(gitDir, 'commondir'))[0]
  return path === undefined ? gitDir : resolve(gitDir, path)
}

/** The lines of a small file; none where it is not there. */
export function readLines(path: string): string[] {
  return (readIfThere(path) ?? '').split('\n').filter((line) => line !== '')
}
