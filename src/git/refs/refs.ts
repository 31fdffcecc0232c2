import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { link, mkdir, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { syncDirectory, writeSynced } from '../../system/durable-file.ts'
import { hasCode } from '../../system/error-code.ts'
import { readIfThere } from '../../system/read-if-there.ts'
import { GitError } from '../git-error.ts'
import { isOid, type Oid } from '../objects/object.ts'
import { isProcessGone, processToken } from '../process-token.ts'

/** Returns the commit of a ref, or undefined. A loose ref wins over a packed one, as in git. */
export async function readRef(gitDir: string, ref: string): Promise<Oid | undefined> {
  const loose = readLooseRef(gitDir, ref)
  if (loose === undefined) return findPackedRef(gitDir, ref)
  if (isOid(loose)) return loose
  throw new GitError('bad-ref', `${ref} ${loose === '' ? 'is empty' : 'does not hold an object id'}`)
}

/** Returns the refs of a repository, or of a folder of it, by name. Leaves out broken and symbolic refs. */
export async function listRefs(gitDir: string, folder = 'refs'): Promise<Map<string, Oid>> {
  const path = folder.replace(/\/$/, '')
  // Reads loose refs first: a ref that is packed meanwhile is then in at least one of the two.
  const loose = looseRefs(gitDir, path)
  const packed = [...readPackedRefs(gitDir)].filter(([ref]) => ref.startsWith(`${path}/`) && !loose.has(ref))
  const all = [...packed, ...[...loose].filter(([, oid]) => isOid(oid))]
  return new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Returns the refs without an object id, or with that of a missing or unreadable object. One such ref makes git fail every clone and
 * push.
 * @param except refs and folders to ignore
 */
export async function brokenRefs(
  repository: { gitDir: string; infos(oids: readonly Oid[]): Promise<ReadonlyMap<Oid, unknown>> },
  except: readonly string[] = [],
): Promise<string[]> {
  const { gitDir } = repository
  const isAsked = (ref: string) => !except.some((one) => ref === one || ref.startsWith(`${one}/`))
  const folders = entriesOf(join(gitDir, 'refs')).map(({ name }) => `refs/${name}`)
  const loose = folders.filter(isAsked).flatMap((folder) => [...looseRefs(gitDir, folder)])
  const broken: string[] = []
  for (const [ref, held] of new Map([...readPackedRefs(gitDir), ...loose])) {
    // git ignores names that it does not allow.
    if (held.startsWith('ref: ') || !isRefName(ref) || !isAsked(ref)) continue
    const found = await repository.infos([held]).catch(() => undefined)
    if (found?.has(held) !== true) broken.push(ref)
  }
  return broken.sort()
}

/**
 * Moves a ref from one commit to another, durably, by git's own lock protocol (exclusive creation of `<ref>.lock`,
 * compare, write, rename), so that native git and other processes may move the same ref concurrently.
 * @param from required value; undefined: the ref must not exist
 * @returns false, with nothing changed, if the ref has another value
 * @throws {GitError} `lock-held` if another writer keeps the lock
 */
export async function updateRef(gitDir: string, ref: string, from: Oid | undefined, to: Oid): Promise<boolean> {
  const path = join(gitDir, ref)
  const madeFolder = await mkdir(dirname(path), { recursive: true })
  if (madeFolder !== undefined) await syncDirectory(dirname(madeFolder))
  return withLocks(gitDir, [`${path}.lock`], { content: `${to}\n`, isDurable: true }, async () => {
    if ((await readRef(gitDir, ref)) !== from) return false
    await rename(`${path}.lock`, path)
    await syncDirectory(dirname(path))
    return true
  })
}

/** Reads a loose ref. Synchronous, since every request reads refs: from the page cache it takes a tenth of the time of the thread pool. */
function readLooseRef(gitDir: string, ref: string): string | undefined {
  try {
    return readIfThere(join(gitDir, ref))?.trim()
  } catch (error) {
    if (hasCode(error, 'EISDIR')) return undefined
    throw error
  }
}

function looseRefs(gitDir: string, folder: string): Map<string, string> {
  const refs = new Map<string, string>()
  for (const entry of entriesOf(join(gitDir, folder))) {
    const ref = `${folder}/${entry.name}`
    if (entry.isDirectory()) for (const [name, oid] of looseRefs(gitDir, ref)) refs.set(name, oid)
    const held = entry.isDirectory() || ref.endsWith('.lock') ? undefined : readLooseRef(gitDir, ref)
    if (held !== undefined) refs.set(ref, held)
  }
  return refs
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

/** True if a ref below `refs/` may have this name, by the rules of git-check-ref-format(1). */
export function isRefName(name: string): boolean {
  const components = name.split('/')
  if (components.length < 2 || components[0] !== 'refs') return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git allows none in a name
  if (/[\u0000-\u0020\u007f~^:?*[\\\ufffd]|\.\.|@\{|\.$/.test(name)) return false
  return components.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}

const oidLength = 40

/** Returns the refs in `packed-refs` (gitrepository-layout(5)), in the order of the file. */
function readPackedRefs(gitDir: string): Map<string, Oid> {
  const entries = readLines(gitDir).filter((line) => isEntry(line))
  return new Map(entries.map((line) => [line.slice(oidLength + 1), line.slice(0, oidLength)]))
}

/** Finds one packed ref without parsing the others, since each request does this. */
function findPackedRef(gitDir: string, ref: string): Oid | undefined {
  const text = readText(gitDir)
  const end = text.indexOf(` ${ref}\n`)
  return end < 0 ? undefined : text.slice(end - oidLength, end)
}

/** Removes refs from `packed-refs`, durably. The caller must hold its lock. */
export async function removePackedRefs(gitDir: string, refs: ReadonlySet<string>): Promise<void> {
  let isRemoved = false
  const lines = readLines(gitDir)
  const kept = lines.filter((line) => {
    // A tag is followed by a line with its target.
    if (isEntry(line)) isRemoved = refs.has(line.slice(oidLength + 1))
    return !isRemoved || line.startsWith('#')
  })
  if (kept.length === lines.length) return
  const path = join(gitDir, 'packed-refs.new')
  // Only the holder of the lock may write this file, so an existing one is from a killed writer.
  await unlink(path).catch(unlessMissing)
  await writeSynced(path, kept.map((line) => `${line}\n`).join(''))
  await rename(path, join(gitDir, 'packed-refs'))
}

function isEntry(line: string): boolean {
  return !line.startsWith('#') && !line.startsWith('^')
}

function readLines(gitDir: string): string[] {
  return readText(gitDir).split('\n').filter(Boolean)
}

/** Returns the content of `packed-refs` with a final line feed; empty if there is none. */
function readText(gitDir: string): string {
  const text = readIfThere(join(gitDir, 'packed-refs'))
  return text === undefined ? '' : `${text.trimEnd()}\n`
}

const patienceMs = 15_000

const lockOwnerPrefix = 'ganglion-lock.'

/**
 * Takes a lock of git, a file that only one process can create. Removes an abandoned one.
 * @param owner file that names our process. The lock is a hard link to it, so that after a crash the next holder can tell whose it was.
 * @throws {GitError} `lock-held` if another writer keeps it
 */
async function takeLock(gitDir: string, owner: string, lock: string): Promise<void> {
  const until = Date.now() + patienceMs
  for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
    try {
      return await link(owner, lock)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
    if (await isAbandoned(gitDir, lock)) await unlink(lock).catch(unlessMissing)
    else if (Date.now() > until) throw new GitError('lock-held', `${lock} is held by another writer`)
    else await delay(wait * (0.5 + Math.random()))
  }
}

/** True if a lock is abandoned: one of ours whose process is gone, or any that is old. */
async function isAbandoned(gitDir: string, lock: string): Promise<boolean> {
  const held = await stat(lock).catch(unlessMissing)
  if (held === undefined) return false
  if (Date.now() - held.mtimeMs > staleLockAfterMs) return true
  for (const name of await readdir(gitDir)) {
    if (!isAbandonedOwner(name)) continue
    const owner = await stat(join(gitDir, name)).catch(unlessMissing)
    if (owner?.ino === held.ino) return true
  }
  return false
}

/** Removes leftovers of crashed writers: lock owners whose process is gone, with their locks. */
export async function clearAbandonedLocks(gitDir: string, refs: readonly string[]): Promise<void> {
  for (const ref of refs) {
    const lock = join(gitDir, `${ref}.lock`)
    if (await isAbandoned(gitDir, lock)) await unlink(lock).catch(unlessMissing)
  }
  for (const name of await readdir(gitDir)) {
    if (isAbandonedOwner(name)) await unlink(join(gitDir, name)).catch(unlessMissing)
  }
}

function isAbandonedOwner(name: string): boolean {
  return name.startsWith(lockOwnerPrefix) && isProcessGone(name.slice(lockOwnerPrefix.length))
}

/** Holds the locks of some files of a repository while `use` runs. @param content of the lock files, and whether it is flushed */
export async function withLocks<T>(
  gitDir: string,
  locks: readonly string[],
  { content, isDurable }: { content: string; isDurable: boolean },
  use: () => Promise<T>,
): Promise<T> {
  const owner = join(gitDir, `${lockOwnerPrefix}${processToken}.${randomBytes(6).toString('hex')}`)
  const held: string[] = []
  await (isDurable ? writeSynced(owner, content) : writeFile(owner, content))
  try {
    for (const lock of locks) {
      await takeLock(gitDir, owner, lock)
      held.push(lock)
    }
    return await use()
  } finally {
    // A lock that was renamed no longer exists.
    for (const lock of held) await unlink(lock).catch(unlessMissing)
    await unlink(owner)
  }
}

/** Milliseconds after which a lock of another writer counts as left behind by a crash. */
export const staleLockAfterMs = 10_000

/** True if nobody has written to a file for a time; undefined if it does not exist. */
export async function isStale(path: string, staleAfterMs: number): Promise<boolean | undefined> {
  const held = await stat(path).catch(unlessMissing)
  return held && Date.now() - held.mtimeMs > staleAfterMs
}

/** Removes a lock of git to which nobody has written for a time. */
export async function clearStaleLock(path: string, staleAfterMs: number): Promise<void> {
  if (await isStale(path, staleAfterMs)) await unlink(path).catch(unlessMissing)
}

/**
 * Removes the files that a killed git leaves while it writes `packed-refs`, because no other git can write that file then.
 * @param staleAfterMs milliseconds without a write
 */
export async function clearPackedRefsLock(gitDir: string, staleAfterMs: number): Promise<void> {
  const paths = ['packed-refs.new', 'packed-refs.lock'].map((name) => join(gitDir, name))
  const stale = await Promise.all(paths.map((path) => isStale(path, staleAfterMs)))
  // A running git keeps writing to its new file.
  if (stale.includes(false)) return
  for (const [at, path] of paths.entries()) if (stale[at]) await unlink(path).catch(unlessMissing)
}

export function unlessMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error
}
