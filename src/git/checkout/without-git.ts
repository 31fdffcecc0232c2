import fs from 'node:fs'
import { join } from 'node:path'
import { commonDir } from '../common-dir.ts'
import { GitError } from '../git-error.ts'
import type { Oid } from '../objects/object.ts'

// Implements `work-tree.ts` with isomorphic-git, for machines without a git. It reads neither an index of version 4 nor attributes.

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
    // Below what it answers null for, nothing is visited.
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

/** Takes the names of commits, branches and tags, and no other revisions. */
export async function findCommitWithoutGit(gitDir: string, revision: string): Promise<Oid | undefined> {
  const { readCommit, resolveRef } = await import('isomorphic-git')
  const gitdir = commonDir(gitDir)
  try {
    // A linked work tree has a HEAD of its own, and nothing else.
    const ref = revision === 'HEAD' ? await resolveRef({ fs, gitdir: gitDir, ref: revision, depth: 2 }) : revision
    return (await readCommit({ fs, gitdir, oid: await resolveRef({ fs, gitdir, ref }) })).oid
  } catch {
    return undefined
  }
}
