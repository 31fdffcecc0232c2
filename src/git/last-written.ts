import { runGit } from './git-process.ts'
import type { Oid } from './object.ts'

/**
 * The blob that each path got from the last commit that changed it and has a line in its message, on the first-parent line of
 * `head`. A path that such a commit removed is left out.
 * @throws {GitError} `git-failed`
 */
export async function lastWritten(gitDir: string, head: Oid, line: string): Promise<Map<string, Oid>> {
  const output = await runGit(gitDir, [
    ...[
      'log',
      '--first-parent',
      '--reverse',
      '--diff-merges=first-parent',
      '--raw',
      '-z',
      '--no-abbrev',
      '--no-renames',
    ],
    ...['--no-show-signature', '--format=', '--fixed-strings', `--grep=${line}`, '--end-of-options', head, '--'],
  ])
  const fields = output.split('\0').filter((field) => field !== '')
  const written = new Map<string, Oid>()
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, , , oid = '', status] = (fields[at] ?? '').trim().split(' ')
    const path = fields[at + 1] ?? ''
    if (status === 'D') written.delete(path)
    else written.set(path, oid)
  }
  return written
}
