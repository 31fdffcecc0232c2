import { access, link, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import { makeDurableDirectory, syncDirectory } from '../../system/durable-file.ts'
import { hasCode } from '../../system/error-code.ts'
import type { ReceivedFile, ReceivedRange } from '../../system/received-file.ts'
import { BlobNotFound, type BlobStore, keptUnnamed, type NoteBlob } from './blob-store.ts'

/** Blobs in a folder that only this process uses, as `ab/cd/<sha256>`. */
export class FolderBlobs implements BlobStore {
  readonly #root: string
  /** Locks by hash, held while a blob is stored until a row refers to it, or while it is removed. */
  readonly #locks = new KeyedLock()

  /** Opens the blobs of a folder. @param root on the same file system as the files to store */
  constructor(root: string) {
    this.#root = root
  }

  keep<Result>(file: ReceivedFile, name: (note: NoteBlob) => Promise<Result>): Promise<Result> {
    return this.#locks.run(file.sha256, async () => {
      await this.#put(file)
      return name(async () => {})
    })
  }

  async get(sha256: string, range?: ReceivedRange): Promise<Readable> {
    const file = await open(this.#path(sha256)).catch((error) => {
      throw hasCode(error, 'ENOENT') ? new BlobNotFound(sha256) : error
    })
    return file.createReadStream(range && { start: range.first, end: range.last })
  }

  async has(sha256: string): Promise<boolean> {
    return access(this.#path(sha256)).then(
      () => true,
      () => false,
    )
  }

  async withFile<Result>(sha256: string, work: (path: string) => Promise<Result>): Promise<Result> {
    if (!(await this.has(sha256))) throw new BlobNotFound(sha256)
    return work(this.#path(sha256))
  }

  async remove(sha256: string): Promise<void> {
    await rm(this.#path(sha256), { force: true })
  }

  async sweep(isNamed: (sha256: string) => Promise<boolean>, now: Date): Promise<number> {
    let removed = 0
    for (const entry of await readdir(this.#root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/^[0-9a-f]{64}$/.test(entry.name)) continue
      const path = join(entry.parentPath, entry.name)
      await this.#locks.run(entry.name, async () => {
        if ((await stat(path)).mtimeMs > now.getTime() - keptUnnamed || (await isNamed(entry.name))) return
        await rm(path)
        removed++
      })
    }
    return removed
  }

  async #put({ path, sha256 }: ReceivedFile): Promise<void> {
    const target = this.#path(sha256)
    await makeDurableDirectory(dirname(target))
    try {
      // A hard link, so that the caller can store the file again after a crash.
      await link(path, target)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) await rename(path, target) // Some file systems have no hard links.
    }
    const now = new Date()
    await utimes(target, now, now)
    await syncDirectory(dirname(target))
  }

  #path(sha256: string): string {
    return join(this.#root, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  }
}
