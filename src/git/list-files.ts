import { runGit } from './git-process.ts'
import type { Oid } from './objects/object.ts'
import type { Mode } from './objects/tree.ts'

/** `size` in bytes; 0 for a submodule. */
export type ListedFile = { path: string; mode: Mode; oid: Oid; size: number }

/** Every file of a commit. @throws {GitError} `git-failed` */
export async function listFiles(gitDir: string, commit: Oid): Promise<ListedFile[]> {
  const output = await runGit(gitDir, ['ls-tree', '-r', '-l', '-z', '--full-tree', commit])
  return output
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const tab = line.indexOf('\t')
      const [mode = '', , oid = '', size = ''] = line.slice(0, tab).split(/ +/)
      return { path: line.slice(tab + 1), mode, oid, size: Number(size) || 0 }
    })
}
