import { runGit } from './git-process.ts'
import type { Oid } from './objects/object.ts'

/** A commit's trailers by name, the last of each name, and the paths that it changed; of a merge none. */
export type TrailedCommit = { trailers: Readonly<Record<string, string>>; paths: string[] }

/** The commits that `to` has and `from` has not, the latest first, `max` at most. @throws {GitError} `git-failed` */
export async function trailersBetween(
  gitDir: string,
  { from, to, names, max }: { from: Oid; to: Oid; names: readonly string[]; max: number },
): Promise<TrailedCommit[]> {
  // A commit begins with an empty field, which a path never is; neither a trailer nor a path can hold NUL.
  const format = names.map((name) => `%x00%(trailers:key=${name},valueonly,unfold,separator=%x0A)`).join('')
  const plain = ['--no-renames', '--no-show-signature', '--no-color', '--no-ext-diff', '--no-relative', '--topo-order']
  const args = ['log', '-z', '--name-only', ...plain, `--max-count=${max}`, `--format=tformat:${format}`]
  const output = await runGit(gitDir, [...args, '--end-of-options', `${from}..${to}`, '--'])
  const parts = output.split('\0')
  const commits: TrailedCommit[] = []
  for (let at = 0; at + names.length < parts.length; ) {
    const values = parts.slice(at + 1, at + 1 + names.length)
    const trailers = names.flatMap((name, index): [string, string][] => {
      const value = values[index]?.split('\n').at(-1)?.trim()
      return value ? [[name, value]] : []
    })
    at += 1 + names.length
    const paths: string[] = []
    for (; at < parts.length && parts[at] !== ''; at++) {
      const path = parts[at] ?? ''
      paths.push(paths.length === 0 ? path.replace(/^\n/, '') : path)
    }
    commits.push({ trailers: Object.fromEntries(trailers), paths })
  }
  return commits
}
