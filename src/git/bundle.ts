import { appendFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from './git-error.ts'
import { longTimeLimit, runGit } from './git-process.ts'
import type { Oid } from './objects/object.ts'
import { Repository } from './repository.ts'

export type Refs = ReadonlyMap<string, Oid>

/**
 * Writes a bundle: the refs as they are given, which may have moved since, and all that they lead to. Without a ref there
 * is nothing to write. Git bundles refs by name only, hence a passing repository that holds them and borrows the objects.
 * @param scratch a folder that does not exist, and does not when this is done.
 * @throws {GitError} `git-failed`
 */
export async function writeBundle(gitDir: string, refs: Refs, file: string, scratch: string): Promise<void> {
  if (refs.size === 0) return
  try {
    const repository = await Repository.init(scratch)
    repository.close()
    await appendFile(join(scratch, 'objects', 'info', 'alternates'), `${join(gitDir, 'objects')}\n`)
    const lines = [...refs].map(([ref, oid]) => `${oid} ${ref}\n`)
    await writeFile(join(scratch, 'packed-refs'), lines.join(''))
    await runGit(scratch, ['bundle', 'create', '--quiet', file, '--all'], { timeLimit: longTimeLimit })
    const written = parseRefs(await runGit(scratch, ['bundle', 'list-heads', file]))
    for (const [ref, oid] of refs) {
      if (written.get(ref) !== oid) throw new GitError('git-failed', `the bundle of ${gitDir} does not hold ${ref}`)
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Brings a bundle's refs and objects into an empty repository. @throws {GitError} `git-failed`, also for a damaged bundle. */
export async function readBundle(gitDir: string, file: string): Promise<void> {
  const fetch = [
    '-c',
    'protocol.file.allow=always',
    '-c',
    'fetch.unpackLimit=1',
    'fetch',
    '--quiet',
    '--no-write-fetch-head',
  ]
  await runGit(gitDir, [...fetch, file, 'refs/*:refs/*'], { timeLimit: longTimeLimit })
  await runGit(gitDir, ['pack-refs', '--all'])
}

function parseRefs(output: string): Map<string, Oid> {
  const lines = output.split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]))
}
