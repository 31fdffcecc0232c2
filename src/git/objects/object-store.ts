import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import { hasCode } from '../../system/error-code.ts'
import { stampFiles } from '../../system/file-stamps.ts'
import { readIfThere } from '../../system/read-if-there.ts'
import { GitError } from '../git-error.ts'
import { looseInfo, loosePath, readLoose, streamLoose } from './loose-object.ts'
import { type GitObject, hashObject, isOid, type ObjectInfo, type Oid } from './object.ts'
import { addWhole, copyPack, type Pack } from './pack-files.ts'
import { PackIndex } from './pack-index.ts'
import { type BaseCache, newBaseCache, PackReader } from './pack-reader.ts'
import type { PackWriter } from './pack-writer.ts'

/** Range of bytes, both ends inclusive. */
export type ByteRange = { first: number; last: number }

/** Default maximum bytes of an object: far more than a push may contain. Objects from elsewhere may exceed it. */
const defaultMaxBytes = 128 * 1024 * 1024
/** Milliseconds without a read after which indexes, bases and files are released. */
const idleMs = 30_000
/** Maximum bytes of cached base objects. */
const maxBases = 16 * 1024 * 1024
/** Maximum milliseconds for which reads may block the event loop. */
const sliceMs = 5
/** Id of the empty tree, which git knows without storing it. */
const emptyTree = hashObject('tree', Buffer.alloc(0))

/** Location of one copy of an object. Copies are tried in turn. */
type Place = { pack: PackReader; offset: number } | { loose: string }

/** Objects to read as if they were in a repository. */
export type ObjectsBeside = {
  /** Folder of the objects. */
  quarantine?: string | undefined
  /** Open store of the repository itself. */
  within?: ObjectStore
}

/**
 * Reads the objects of one repository as git stores them: in packs and loose (gitformat-pack(5), gitrepository-layout(5)). Sees packs that
 * other processes write, unpack or collect meanwhile. If one copy of an object is damaged, another is read.
 */
export class ObjectStore {
  readonly #gitDir: string
  readonly #quarantine: string | undefined
  readonly #within: ObjectStore | undefined
  readonly #maxBytes: number
  readonly #bases = newBaseCache(maxBases)
  #folders: ObjectFolder[] | undefined
  #idle: NodeJS.Timeout | undefined
  #sliceBegan: number | undefined
  readonly #waiting = new KeyedLock()

  /**
   * Opens the objects of a repository.
   * @param options.maxBytes maximum bytes of an object; larger ones are not read
   */
  constructor(gitDir: string, options: ObjectsBeside & { maxBytes?: number } = {}) {
    this.#gitDir = gitDir
    this.#quarantine = options.quarantine
    this.#within = options.within
    this.#maxBytes = options.maxBytes ?? defaultMaxBytes
  }

  /**
   * Returns an object, or undefined if the repository lacks it.
   * @throws {GitError} `object-too-large`, `corrupt-object`; `git-failed` if the quarantine was removed
   */
  async read(oid: Oid): Promise<GitObject | undefined> {
    const maxBytes = this.#maxBytes
    if (oid === emptyTree) return { type: 'tree', data: Buffer.alloc(0) }
    return this.#first(oid, (place) =>
      'pack' in place ? place.pack.read(place.offset, maxBytes) : readLoose(place.loose, maxBytes),
    )
  }

  /** Returns types and sizes of objects without reading them. Leaves out missing objects. @throws {GitError} `corrupt-object` */
  async infos(oids: Iterable<Oid>): Promise<Map<Oid, ObjectInfo>> {
    const infos = new Map<Oid, ObjectInfo>()
    for (const oid of new Set(oids)) {
      const info = isOid(oid) ? await this.#info(oid) : undefined
      if (info !== undefined) infos.set(oid, info)
    }
    return infos
  }

  async #info(oid: Oid): Promise<ObjectInfo | undefined> {
    if (oid === emptyTree) return { type: 'tree', size: 0 }
    return this.#first(oid, (place) => ('pack' in place ? place.pack.info(place.offset) : looseInfo(place.loose)))
  }

  /**
   * Yields the bytes of a blob. Only the bytes in transit are in memory, unless the blob is stored as a delta.
   * @throws {GitError} `missing-object`, `corrupt-object`; `object-too-large` for a delta
   */
  async *readRange(oid: Oid, { first, last }: ByteRange): AsyncGenerator<Buffer> {
    const streamed = await this.#first(oid, (place) =>
      'pack' in place ? { head: 0, bytes: place.pack.stream(place.offset) } : streamLoose(place.loose),
    )
    if (streamed === undefined) throw new GitError('missing-object', `${oid} is not in the repository`)
    if (streamed.bytes === undefined) {
      yield (await this.read(oid))?.data.subarray(first, last + 1) ?? Buffer.alloc(0)
      return
    }
    let at = -streamed.head
    try {
      for await (const chunk of streamed.bytes) {
        const wanted = chunk.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at))
        at += chunk.length
        if (wanted.length > 0) yield wanted
        if (at > last) return
      }
    } catch (cause) {
      throw new GitError('corrupt-object', `${oid} cannot be read`, { cause })
    }
    throw new GitError('corrupt-object', `${oid} ended before the range did`)
  }

  /**
   * Adds objects to a pack, as they are stored.
   * @throws {GitError} `missing-object`, `corrupt-object`
   */
  async copyTo(writer: PackWriter, wanted: ReadonlySet<Oid>): Promise<void> {
    for (const pack of this.#opened().flatMap((folder) => folder.packs)) {
      try {
        await copyPack(writer, pack, wanted)
      } catch (error) {
        if (!isMissing(error)) throw error // The pack was repacked meanwhile; its objects are found below.
      }
    }
    for (const oid of wanted) {
      if (writer.has(oid)) continue
      const object = await this.read(oid)
      if (object === undefined) throw new GitError('missing-object', `${oid} is not in the repository`)
      await addWhole(writer, oid, object)
    }
  }

  close(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
    const shared = this.#within === undefined ? [] : (this.#within.#folders ?? [])
    for (const folder of this.#folders ?? []) if (!shared.includes(folder)) folder.close()
    this.#folders = undefined
    this.#bases.clear()
  }

  /** Returns the result of `use` for the first readable copy of an object. */
  async #first<T>(oid: Oid, use: (place: Place) => T | Promise<T>): Promise<T | undefined> {
    if (!isOid(oid)) throw new GitError('missing-object', 'not an object id')
    this.#idle = this.#idle?.refresh() ?? setTimeout(() => this.close(), idleMs).unref()
    if (!this.#isSliceOver()) return this.#firstReadable(oid, use)
    // Reads wait in order. If all looked for the next slice in each turn, many at once would take longer to wait than to read.
    return this.#waiting.run('', async () => {
      while (this.#isSliceOver()) await nextTurn()
      return this.#firstReadable(oid, use)
    })
  }

  async #firstReadable<T>(oid: Oid, use: (place: Place) => T | Promise<T>): Promise<T | undefined> {
    let damage: unknown
    // A pack that is missing was repacked, so a second look finds its objects in another.
    for (const isFirstLook of [true, false]) {
      if (!isFirstLook) for (const folder of this.#opened()) folder.refresh()
      for (const place of this.#places(oid)) {
        try {
          return await use(place)
        } catch (error) {
          if (!isMissing(error)) damage = error
        }
      }
      if (damage !== undefined) throw damage
    }
    // A concurrent `git prune` may take a quarantine for the leftover of a killed push. Then its objects are lost.
    if (this.#quarantine !== undefined && !existsSync(this.#quarantine)) {
      throw new GitError('git-failed', 'the folder of a push was removed')
    }
    return undefined
  }

  *#places(oid: Oid): Generator<Place> {
    for (const folder of this.#opened()) yield* folder.places(oid)
  }

  /** True if reads have blocked the event loop long enough. Reads from the cache do not yield by themselves. */
  #isSliceOver(): boolean {
    const now = performance.now()
    if (this.#sliceBegan === undefined) {
      this.#sliceBegan = now
      setImmediate(() => {
        this.#sliceBegan = undefined
      })
    }
    return now - this.#sliceBegan > sliceMs
  }

  #opened(): readonly ObjectFolder[] {
    const open = (path: string) => new ObjectFolder(path, this.#bases)
    const beside = this.#quarantine === undefined ? [] : [this.#quarantine]
    const own = () => (this.#within === undefined ? foldersOf(this.#gitDir).map(open) : this.#within.#opened())
    this.#folders ??= [...beside.map(open), ...own()]
    return this.#folders
  }
}

/** Folder of packs and loose objects. */
class ObjectFolder {
  readonly #path: string
  readonly #bases: BaseCache
  /** Packs, the most recently read one first. */
  #packs: Pack[] | undefined
  #byName = new Map<string, Pack>()
  /** Returns true if no pack was added or removed since all were opened. Undefined if one was not: it may be copied just now. */
  #isListed: (() => boolean) | undefined

  constructor(path: string, bases: BaseCache) {
    this.#path = path
    this.#bases = bases
  }

  get packs(): readonly Pack[] {
    this.#packs ??= this.#listPacks()
    return this.#packs
  }

  *places(oid: Oid): Generator<Place> {
    const { packs } = this
    const wanted = Buffer.from(oid, 'hex')
    for (const [position, pack] of packs.entries()) {
      const offset = pack.index.offsetOfBytes(wanted)
      if (offset === undefined) continue
      if (position > 0) this.#packs = [pack, ...packs.filter((other) => other !== pack)]
      yield { pack: pack.reader, offset }
    }
    yield { loose: loosePath(this.#path, oid) }
  }

  /** Lists the packs anew, unless their folder is certainly unchanged. */
  refresh(): void {
    if (this.#isListed?.() !== true) this.#packs = this.#listPacks()
  }

  close(): void {
    for (const { reader } of this.#byName.values()) reader.close()
    this.#byName.clear()
    this.#packs = undefined
  }

  #listPacks(): Pack[] {
    const folder = join(this.#path, 'pack')
    const isListed = stampFiles([folder])
    const files = new Set(namesIn(folder))
    const isPack = (file: string) => file.endsWith('.idx') && files.has(file.replace(/idx$/, 'pack'))
    const names = new Set([...files].filter(isPack).map((file) => file.slice(0, -'.idx'.length)))
    for (const [name, pack] of this.#byName) {
      if (names.has(name)) continue
      pack.reader.close()
      this.#byName.delete(name)
    }
    for (const name of names) {
      if (this.#byName.has(name)) continue
      const pack = openPack(join(folder, name), this.#bases)
      if (pack !== undefined) this.#byName.set(name, pack)
    }
    this.#isListed = this.#byName.size === names.size ? isListed : undefined
    return [...this.#byName.values()]
  }
}

/** Opens a pack. As for git, one whose index is missing or damaged does not exist. */
function openPack(path: string, bases: BaseCache): Pack | undefined {
  try {
    const index = new PackIndex(readFileSync(`${path}.idx`))
    return { index, reader: new PackReader(`${path}.pack`, index, bases) }
  } catch (error) {
    if (isMissing(error) || error instanceof GitError) return undefined
    throw error
  }
}

function foldersOf(gitDir: string): string[] {
  const own = join(commonDir(gitDir), 'objects')
  return [own, ...alternatesOf(own)]
}

function alternatesOf(objects: string): string[] {
  const lines = readLines(join(objects, 'info', 'alternates'))
  return lines.filter((line) => !line.startsWith('#')).map((line) => resolve(objects, line))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR')
}

/** Returns the folder with the objects and refs of a repository, which a linked work tree has elsewhere (gitrepository-layout(5)). */
export function commonDir(gitDir: string): string {
  const path = readLines(join(gitDir, 'commondir'))[0]
  return path === undefined ? gitDir : resolve(gitDir, path)
}

/** Returns the lines of a small file; none if it does not exist. */
export function readLines(path: string): string[] {
  return (readIfThere(path) ?? '').split('\n').filter((line) => line !== '')
}
