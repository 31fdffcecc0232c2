import { randomUUID } from 'node:crypto'
import { access, constants, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nativeGit, runGit } from '../git/native/git-process.ts'
import { type Context, onePer } from '../kb/context.ts'
import { DatabaseUnreachable } from '../state/database/database-errors.ts'
import type { DataDirectory } from '../state/directory/data-directory.ts'
import { hasCode } from '../system/error-code.ts'
import { openFilesLimit } from '../system/open-files-limit.ts'

/** Part of the server that does not work, with the reason; for operators, without paths. */
export type Problem = { part: 'git' | 'database' | 'repositories' | 'files'; reason: string }

/** Milliseconds for which findings are cached; longer for those on all knowledge bases, of which there may be many. */
const checkIntervalMs = 3_000
const foldersIntervalMs = 60_000
const gitTimeLimitMs = 5_000
const blockBytes = 4096

const reasonByCode: Readonly<Record<string, string>> = {
  EROFS: 'is on a read-only file system',
  EACCES: 'may not be written by the server',
  EPERM: 'may not be written by the server',
  ENOENT: 'is missing',
  ENOTDIR: 'is missing',
}

export const health = onePer((ctx: Context) => new Health(ctx))

/** Checks git and the data directory, which every deployment needs. */
export class Health {
  readonly #ctx: Context
  readonly #present = heldFor(checkIntervalMs, () => {
    const writing = writeFailure(this.#ctx.directory.incoming)
    return { writing, problems: findProblems(this.#ctx, writing) }
  })
  readonly #closedFolders = heldFor(foldersIntervalMs, () => unwritableFolders(this.#ctx.directory))

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Returns current problems, cached for a few seconds. */
  problems(): Promise<Problem[]> {
    return this.#present().problems
  }

  /** Returns problems for people to look at, although requests are served. Contains no names, since anybody may read it. */
  async notes(): Promise<string[]> {
    const { forgeLinks, kbs } = this.#ctx
    const failing = (await forgeLinks.list()).filter(({ failingSince }) => failingSince !== null).length
    const closed = await this.#closedFolders()
    const isFull = (await this.#present().writing) === 'full'
    return [
      isFull && 'the disk is full: reads are answered, writes are refused until there is room',
      failing > 0 && `links to forges that are paused or fail: ${failing}; see ganglion forge status`,
      closed > 0 && `knowledge bases with a folder that the server may not write: ${closed}; see ganglion verify`,
      kbs.identities().length >= kbs.most &&
        `${kbs.most} knowledge bases are open, as many as ${openFilesLimit()} open files allow (ulimit -n): idle ones are closed for others`,
    ].filter((note) => note !== false)
  }
}

/** Returns a function that caches a value for some milliseconds. */
function heldFor<Value>(milliseconds: number, make: () => Value): () => Value {
  let known: { at: number; value: Value } | undefined
  return () => {
    const now = performance.now()
    if (known === undefined || now - known.at > milliseconds) known = { at: now, value: make() }
    return known.value
  }
}

async function findProblems(ctx: Context, writing: ReturnType<typeof writeFailure>): Promise<Problem[]> {
  const { directory } = ctx
  const { root, repositories, indexes, extracts, uploads } = directory
  const gitDirs = ctx.kbs.identities().map(({ id }) => directory.repository(id))
  const inRepositories = gitDirs.flatMap((gitDir) => [gitDir, join(gitDir, 'objects', 'pack'), join(gitDir, 'refs')])
  const found = await Promise.all([
    gitProblem(root),
    accessProblem('database', root),
    databaseProblem(ctx),
    ...[repositories, ...inRepositories].map((path) => accessProblem('repositories', path)),
    ...[directory.blobs, indexes, extracts, uploads].map((path) => accessProblem('files', path)),
    writing.then(problemOfWriting),
  ])
  const problems = found.filter((problem) => problem !== undefined)
  return [...new Map(problems.map((problem) => [problem.part, problem])).values()]
}

/** Checks that git still works. A server that started without git does not need it. */
async function gitProblem(directory: string): Promise<Problem | undefined> {
  if ((await nativeGit()) === undefined) return undefined
  try {
    await runGit(directory, ['version'], { signal: AbortSignal.timeout(gitTimeLimitMs) })
    return undefined
  } catch {
    return { part: 'git', reason: 'git cannot be started' }
  }
}

async function databaseProblem(ctx: Context): Promise<Problem | undefined> {
  try {
    await ctx.database.check()
    return undefined
  } catch (error) {
    if (error instanceof DatabaseUnreachable) return { part: 'database', reason: 'the database cannot be reached' }
    return unwritable('database', error)
  }
}

async function accessProblem(part: Problem['part'], path: string): Promise<Problem | undefined> {
  try {
    await access(path, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return unwritable(part, error)
  }
}

/** Reads work on a full disk, and writes report it themselves. */
function problemOfWriting(failure: Awaited<ReturnType<typeof writeFailure>>): Problem | undefined {
  return failure === undefined || failure === 'full' ? undefined : unwritable('files', failure.error)
}

/**
 * Writes a file, because the modes of folders do not show a file system that is read-only, full or gone. Writes a block, since an empty
 * file fits on a full disk.
 */
async function writeFailure(folder: string): Promise<'full' | { error: unknown } | undefined> {
  const file = join(folder, `ready-${process.pid}-${randomUUID()}`)
  try {
    await writeFile(file, Buffer.alloc(blockBytes))
    return undefined
  } catch (error) {
    return hasCode(error, 'ENOSPC', 'EDQUOT') ? 'full' : { error }
  } finally {
    await rm(file, { force: true }).catch(() => {})
  }
}

/** Returns the number of knowledge bases with a folder that this process may not write, as a command of another user leaves one. */
async function unwritableFolders({ repositories, indexes }: DataDirectory): Promise<number> {
  const ids = new Set<string>()
  for (const [parent, inside] of [
    [repositories, ['', 'objects', join('objects', 'pack'), 'refs', join('refs', 'heads')]],
    [indexes, ['']],
  ] as const) {
    for (const name of await readdir(parent).catch(() => [])) {
      for (const folder of inside) {
        const isClosed = await access(join(parent, name, folder), constants.W_OK).then(
          () => false,
          (error) => !hasCode(error, 'ENOENT'),
        )
        if (isClosed) ids.add(name.replace(/\.git$/, ''))
      }
    }
  }
  return ids.size
}

function unwritable(part: Problem['part'], error: unknown): Problem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return { part, reason: `the data directory, or a part of it, ${reasonByCode[code] ?? 'cannot be written'}` }
}
