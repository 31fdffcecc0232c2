import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../system/error-code.ts'
import { GitError } from '../git-error.ts'
import { decodeEntry, type GitObject, type ObjectInfo, sortKey } from '../objects/object.ts'
import { keptByUs, packPath, publishPack, type StagedPack, stageReceivedPack } from '../objects/pack-files.ts'
import { meterPack, type PackLimits, PackRefused } from '../serve/pack-meter.ts'

const modes: ReadonlySet<string> = new Set(['100644', '100664', '100755', '120000', '160000', '40000'])
const nobody = '0'.repeat(40)
const person = '(?:[^<>\\n\\0]+ )?<[^<>\\n\\0]*> \\d{1,15} [+-]\\d{4}\\n'
const commit = new RegExp(`^tree [0-9a-f]{40}\\n(?:parent [0-9a-f]{40}\\n)*author ${person}committer ${person}`)
const tag = new RegExp(
  `^object [0-9a-f]{40}\\ntype (?:blob|tree|commit|tag)\\ntag [^\\n\\0]+\\n(?:tagger ${person})?\\n`,
)

export type IncomingLimits = PackLimits & {
  /** Maximum bytes of the pack. */
  maxPack: number
}

/** Objects in a separate folder until they are accepted. */
export type Quarantine = {
  /** Folder of the objects; undefined if there are none. */
  folder: string | undefined
  /** Moves the objects into the repository, durably. @returns a function that releases them to garbage collection, once a ref leads to them */
  admit(): Promise<() => Promise<void>>
}

const nothing: Quarantine = { folder: undefined, admit: async () => async () => {} }

/**
 * Receives a pack into a separate folder, as `git receive-pack` does, and removes the folder after `use`. Inflates and checks each
 * object; rejects a pack that refers to objects outside of it.
 * @param pack undefined if there are no objects
 * @throws {PackRefused} if it is damaged, or exceeds the limits
 */
export async function withQuarantine<T>(
  gitDir: string,
  pack: AsyncIterable<Buffer> | undefined,
  limits: IncomingLimits,
  use: (quarantine: Quarantine) => Promise<T>,
): Promise<T> {
  if (pack === undefined) return use(nothing)
  // This prefix, which git's own quarantines have, too, identifies leftovers of a crash.
  const folder = join(gitDir, 'objects', `tmp_objdir-incoming-${randomBytes(6).toString('hex')}`)
  try {
    await mkdir(join(folder, 'pack'), { recursive: true })
    // Readers of the folder find the files by these extensions.
    const staged = { pack: join(folder, 'pack', 'incoming.pack'), index: join(folder, 'pack', 'incoming.idx') }
    const name = await receive(pack, staged, limits)
    return await use({ folder, admit: () => admit(staged, packPath(gitDir, name)) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Receives a pack. @returns its checksum */
async function receive(pack: AsyncIterable<Buffer>, staged: StagedPack, limits: IncomingLimits): Promise<string> {
  try {
    return await stageReceivedPack(staged, bounded(pack, limits), {
      maxBytes: limits.maxObjectBytes,
      check: checkObject,
    })
  } catch (error) {
    if (error instanceof GitError) throw new PackRefused(`The pack is damaged: ${error.message}.`)
    throw error
  }
}

async function* bounded(pack: AsyncIterable<Buffer>, limits: IncomingLimits): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of meterPack(pack[Symbol.asyncIterator](), limits)) {
    size += chunk.length
    if (size > limits.maxPack) throw new PackRefused(`The pack has more than ${limits.maxPack} bytes.`)
    yield chunk
  }
}

async function admit(staged: StagedPack, final: string): Promise<() => Promise<void>> {
  await writeFile(`${final}.keep`, keptByUs)
  await publishPack(staged, final)
  return () => unlink(`${final}.keep`)
}

/**
 * Checks that an object is valid, by those rules of `git fsck` on which other gits and this server rely. Does not check the names
 * in a folder.
 * @throws {GitError} `corrupt-object`
 */
function checkObject({ type, data }: { type: ObjectInfo['type']; data: GitObject['data'] }): void {
  if (type === 'tree') checkTree(data)
  const form = type === 'commit' ? commit : type === 'tag' ? tag : undefined
  if (form !== undefined && !form.test(data.toString('latin1', 0, Math.min(data.length, 1024 * 1024)))) {
    throw new GitError('corrupt-object', `a ${type} is not as git writes it`)
  }
}

/** Checks that the names are unique and in git's order, with modes that git knows. */
function checkTree(data: Buffer): void {
  let before = ''
  const names = new Set<string>()
  for (let at = 0; at < data.length; ) {
    const { entry, end } = decodeEntry(data, at)
    const key = sortKey(entry)
    const isSound = modes.has(entry.mode) && entry.name !== '' && !entry.name.includes('/') && entry.oid !== nobody
    if (!isSound || key <= before || names.has(entry.name)) {
      throw new GitError('corrupt-object', 'a folder is not as git writes it')
    }
    names.add(entry.name)
    before = key
    at = end
  }
}

/** Milliseconds without a change after which a push counts as killed. */
const abandonedAfter = 3_600_000

/** Removes leftovers of killed pushes: folders of objects that nobody judged. */
export async function clearAbandonedQuarantines(gitDir: string, now = Date.now()): Promise<void> {
  const objects = join(gitDir, 'objects')
  for (const name of await readdir(objects)) {
    if (!name.startsWith('tmp_objdir-')) continue
    const quarantine = join(objects, name)
    const changed = await lastChange(quarantine)
    if (changed !== undefined && now - changed > abandonedAfter) await rm(quarantine, { recursive: true, force: true })
  }
}

/** Returns the time of the last change of a folder and its contents; undefined if it is gone. */
async function lastChange(folder: string): Promise<number | undefined> {
  try {
    const names = ['', ...(await readdir(folder, { recursive: true }))]
    const times = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mtimeMs))
    return Math.max(...times)
  } catch (error) {
    // A push that ends removes its folder.
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
