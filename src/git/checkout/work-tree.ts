import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { GitError } from '../git-error.ts'
import { nativeGit, runGit } from '../native/git-process.ts'
import type { Oid } from '../objects/object.ts'
import { changedWithoutGit, findCommitWithoutGit, listWithoutGit } from './without-git.ts'

/** A file that is tracked, or neither tracked nor ignored; `mode` as the index has it, where it is tracked. */
export type WorkTreeFile = { path: string; mode: string | undefined }

/** The repository of a folder that is the root of a checkout, also of a linked work tree; undefined where it is none. */
export async function findGitDir(dir: string): Promise<string | undefined> {
  const dotGit = resolve(dir, '.git')
  const found = await stat(dotGit).catch(() => undefined)
  if (found === undefined || found.isDirectory()) return found && dotGit
  const [, linked] = /^gitdir: (.+?)\n*$/.exec(await readFile(dotGit, 'utf8')) ?? []
  if (linked === undefined) throw new GitError('git-failed', `${dotGit} does not name a repository`)
  return resolve(dir, linked)
}

/** Lists the files of a checkout, on the disk or not; a file in conflict comes once. @throws {GitError} `git-failed` */
export async function listWorkTree(gitDir: string, dir: string): Promise<WorkTreeFile[]> {
  const root = resolve(dir)
  if ((await nativeGit()) === undefined) return listWithoutGit(gitDir, root)
  const list = (...args: string[]) => runGit(gitDir, ['-C', root, '--work-tree', root, 'ls-files', '-z', ...args])
  const [tracked, untracked] = await Promise.all([list('--stage'), list('--others', '--exclude-standard')])
  const modes = new Map<string, string | undefined>()
  // `mode oid stage<TAB>path`
  for (const entry of fields(tracked)) modes.set(entry.slice(entry.indexOf('\t') + 1), entry.slice(0, 6))
  // A repository inside of this one is shown as a folder.
  for (const path of fields(untracked)) modes.set(path.replace(/\/$/, ''), undefined)
  return [...modes].map(([path, mode]) => ({ path, mode }))
}

/** Paths of a checkout that are not as in a commit, those that are gone included. @throws {GitError} `git-failed` */
export async function changedInWorkTree(gitDir: string, dir: string, commit: Oid): Promise<string[]> {
  const root = resolve(dir)
  if ((await nativeGit()) === undefined) return changedWithoutGit(gitDir, root, commit)
  const list = (...args: string[]) => runGit(gitDir, ['-C', root, '--work-tree', root, ...args])
  const diff = ['diff', '--name-only', '--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty']
  const [changed, untracked] = await Promise.all([
    list(...diff, '-z', commit, '--'),
    list('ls-files', '-z', '--others', '--exclude-standard'),
  ])
  return [...fields(changed), ...fields(untracked)]
}

/** The commit that a revision names, or undefined. Takes any text: it is never read as an option. */
export async function findCommit(gitDir: string, revision: string): Promise<Oid | undefined> {
  if ((await nativeGit()) === undefined) return findCommitWithoutGit(gitDir, revision)
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]
  const found = await runGit(gitDir, args).catch(() => '')
  return found.trim() || undefined
}

function fields(output: string): string[] {
  return output.split('\0').filter((field) => field !== '')
}
