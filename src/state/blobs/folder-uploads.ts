import type { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import type { ReceivedFile } from '../../system/received-file.ts'
import type { Upload, Uploads } from '../sources/upload-store.ts'
import type { Appended, ReceivedChunk, UploadBytes } from './upload-bytes.ts'
import { UploadFiles } from './upload-files.ts'

type Beside = {
  uploads: Uploads
  /** Locks by the id of an upload, held for each use but the reading of its size. */
  locks: KeyedLock
  now: () => Date
}

/** Uploads in chunks in a folder of this process's own: each is a file that grows. */
export class FolderUploads implements UploadBytes {
  readonly #files: UploadFiles
  readonly #beside: Beside

  constructor(directory: string, beside: Beside) {
    this.#files = new UploadFiles(directory)
    this.#beside = beside
  }

  /** A backup has the row, but not the bytes. */
  size({ id, bytesReceived }: Pick<Upload, 'id' | 'bytesReceived'>): Promise<number> {
    return this.#files.size(id, bytesReceived)
  }

  async append(id: string, chunk: ReceivedChunk, admit: () => Promise<number>): Promise<Appended> {
    const appended = await this.#files.append(id, { received: await admit(), ...chunk })
    const { uploads, now } = this.#beside
    await uploads.setBytesReceived(id, appended.received, now())
    return appended
  }

  /** The file is still there after work that fails. */
  async withFile<Result>(id: string, size: number, work: (file: ReceivedFile) => Promise<Result>): Promise<Result> {
    return work(await this.#files.finish(id, size))
  }

  remove(id: string): Promise<void> {
    return this.#files.remove(id)
  }

  async sweep(): Promise<void> {
    const { uploads, locks, now } = this.#beside
    for (const id of await this.#files.list()) {
      await locks.run(id, async () => {
        if (!(await uploads.isOpen(id, now()))) await this.#files.remove(id)
      })
    }
  }
}
