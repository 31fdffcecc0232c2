import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Where the objects and refs of a repository are: of a linked work tree not in its own folder (gitrepository-layout(5)). */
export function commonDir(gitDir: string): string {
  const path = readLines(join(gitDir, 'commondir'))[0]
  return path === undefined ? gitDir : resolve(gitDir, path)
}

/** The lines of a small file; none where it is not there. */
export function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return []
    throw error
  }
}
