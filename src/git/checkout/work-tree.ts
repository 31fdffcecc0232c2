import fs from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { GitError } from '../git-error.ts'
import { nativeGit, runGit } from '../native/git-process.ts'
import type { Oid } from '../objects/object.ts'
import { commonDir } from '../objects/object-store.ts'

/** File that is tracked, or neither tracked nor ignored. `mode`: its mode in the index if it is tracked. */
export type WorkTreeFile = { path: string; mode: string | undefined }

/** Returns the git directory of a folder that is the root of a checkout or of a linked work tree; undefined for any other folder. */
export async function findGitDir(dir: string): Promise<string | undefined> {
  const dotGit = resolve(dir, '.git')
  const found = await stat(dotGit).catch(() => undefined)
  if (found === undefined || found.isDirectory()) return found && dotGit
  const [, linked] = /^gitdir: (.+?)\n*$/.exec(await readFile(dotGit, 'utf8')) ?? []
  if (linked === undefined) throw new GitError('git-failed', `${dotGit} does not name a repository`)
  return resolve(dir, linked)
}

/** Lists the files of a checkout, including those missing on disk, each once. @throws {GitError} `git-failed` */
export async function listWorkTree(gitDir: string, dir: string): Promise<WorkTreeFile[]> {
  const root = resolve(dir)
  if ((await nativeGit()) === undefined) return listWithoutGit(gitDir, root)
  const list = (...args: string[]) => runGit(gitDir, ['-C', root, '--work-tree', root, 'ls-files', '-z', ...args])
  const [tracked, untracked] = await Promise.all([list('--stage'), list('--others', '--exclude-standard')])
  const modes = new Map<string, string | undefined>()
  // The format is `mode oid stage<TAB>path`.
  for (const entry of fields(tracked)) modes.set(entry.slice(entry.indexOf('\t') + 1), entry.slice(0, 6))
  // A repository inside this one is listed as a folder.
  for (const path of fields(untracked)) modes.set(path.replace(/\/$/, ''), undefined)
  return [...modes].map(([path, mode]) => ({ path, mode }))
}

/** Returns the paths of a checkout that differ from a commit, including removed files. @throws {GitError} `git-failed` */
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

/** Returns the commit of a revision, or undefined. Any text is safe: it is never taken for an option. */
export async function findCommit(gitDir: string, revision: string): Promise<Oid | undefined> {
  if ((await nativeGit()) === undefined) return findCommitWithoutGit(gitDir, revision)
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]
  const found = await runGit(gitDir, args).catch(() => '')
  return found.trim() || undefined
}

function fields(output: string): string[] {
  return output.split('\0').filter((field) => field !== '')
}

// Implements `work-tree.ts` with isomorphic-git, for machines without git. Supports neither version 4 of the index nor attributes.

export async function listWithoutGit(
  gitDir: string,
  dir: string,
): Promise<{ path: string; mode: string | undefined }[]> {
  const { isIgnored, STAGE, WORKDIR, walk } = await import('isomorphic-git')
  const clone = { fs, dir, gitdir: gitDir }
  const files: { path: string; mode: string | undefined }[] = []
  await walk({
    ...clone,
    trees: [STAGE(), WORKDIR({ refresh: false })],
    // Returning null keeps the walk out of the folder.
    map: async (path, [staged, there]) => {
      if (path === '.') return
      if (staged === null && (await isIgnored({ ...clone, filepath: path }))) return null
      const isFolder = (await (staged ?? there)?.type()) === 'tree'
      const isRepository = isFolder && staged === null && fs.existsSync(join(dir, path, '.git'))
      if (isFolder && !isRepository) return
      files.push({ path, mode: (await staged?.mode())?.toString(8) })
      return null
    },
  }).catch((cause: unknown) => {
    throw new GitError('git-failed', `${dir} cannot be read without a git: install one`, { cause })
  })
  return files
}

export async function changedWithoutGit(gitDir: string, dir: string, commit: Oid): Promise<string[]> {
  const { statusMatrix } = await import('isomorphic-git')
  const rows = await statusMatrix({ fs, dir, gitdir: commonDir(gitDir), ref: commit, refresh: false })
  return rows.flatMap(([path, then, now]) => (then === 1 && now === 1 ? [] : [path]))
}

/** Resolves names of commits, branches and tags, but no other revisions. */
async function findCommitWithoutGit(gitDir: string, revision: string): Promise<Oid | undefined> {
  const { readCommit, resolveRef } = await import('isomorphic-git')
  const gitdir = commonDir(gitDir)
  try {
    // A linked work tree has its own HEAD, but shares all other refs.
    const ref = revision === 'HEAD' ? await resolveRef({ fs, gitdir: gitDir, ref: revision, depth: 2 }) : revision
    return (await readCommit({ fs, gitdir, oid: await resolveRef({ fs, gitdir, ref }) })).oid
  } catch {
    return undefined
  }
}
