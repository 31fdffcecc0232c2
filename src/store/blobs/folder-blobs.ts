import { access, link, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeDurableDirectory, syncDirectory } from '../../files/durable-file.ts'
import { hasCode } from '../../files/error-code.ts'
import { BlobNotFound, type BlobStore, type ByteRange, type ReceivedFile, type StoredBlob } from './blob-store.ts'

/** Blobs in a folder, as `ab/cd/<sha256>`. */
export class FolderBlobs implements BlobStore {
  readonly #root: string

  /** @param root on the same file system as the files that are put. */
  constructor(root: string) {
    this.#root = root
  }

  async put({ path, sha256 }: ReceivedFile): Promise<void> {
    const target = this.#path(sha256)
    await makeDurableDirectory(dirname(target))
    try {
      // A second name, so that whoever puts it can do so again after a crash.
      await link(path, target)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) await rename(path, target) // there are file systems without links
    }
    const now = new Date()
    await utimes(target, now, now)
    await syncDirectory(dirname(target))
  }

  async get(sha256: string, range?: ByteRange): Promise<Readable> {
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

  async delete(sha256: string): Promise<void> {
    await rm(this.#path(sha256), { force: true })
  }

  async *list(): AsyncGenerator<StoredBlob> {
    for (const entry of await readdir(this.#root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/^[0-9a-f]{64}$/.test(entry.name)) continue
      const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined) // deleted meanwhile
      if (found !== undefined) yield { sha256: entry.name, storedAt: found.mtime }
    }
  }

  async withFile<Result>(sha256: string, work: (path: string) => Promise<Result>): Promise<Result> {
    if (!(await this.has(sha256))) throw new BlobNotFound(sha256)
    return work(this.#path(sha256))
  }

  #path(sha256: string): string {
    return join(this.#root, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  }
}
