import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** The paths of a deployment's files, all absolute. */
export class DataDirectory {
  readonly root: string
  readonly database: string
  /** File that names the PostgreSQL database with the rows; see `rows-place.ts`. */
  readonly rowsMark: string
  readonly repositories: string
  readonly indexes: string
  readonly blobs: string
  /** Folder of the extracted texts of Sources. Missing texts are extracted again. */
  readonly extracts: string
  /** Folder of temporary files, on the same file system as the rest, so that a rename moves a file into place. */
  readonly tmp: string
  /** Folder of files that are being received or read. Leftovers of a crash are removed at the next start. */
  readonly incoming: string
  /** Folder of files that arrive in chunks. */
  readonly uploads: string
  /** Folder of the new history of an erasure in progress; see `operate/erase`. */
  readonly erasure: string
  readonly lock: string
  /** File that every process using the directory locks shared, and a process that must be alone locks exclusively. */
  readonly users: string

  private constructor(root: string) {
    this.root = root
    this.database = join(root, 'ganglion.db')
    this.rowsMark = join(root, 'rows-in-postgresql')
    this.repositories = join(root, 'repos')
    this.indexes = join(root, 'index')
    this.blobs = join(root, 'blobs')
    this.extracts = join(root, 'extracts')
    this.tmp = join(root, 'tmp')
    this.incoming = join(this.tmp, 'incoming')
    this.uploads = join(this.tmp, 'uploads')
    this.erasure = join(root, 'erasure')
    this.lock = join(root, 'lock')
    this.users = join(root, 'lock-users')
  }

  /** Returns the paths without creating anything. */
  static at(root: string): DataDirectory {
    return new DataDirectory(resolve(root))
  }

  /**
   * Creates missing folders, readable only by the owner. Throws the file system's error, and {@link ForeignDataDirectory} for root where
   * the directory belongs to another user.
   */
  static open(root: string): DataDirectory {
    const directory = DataDirectory.at(root)
    requireOwner(directory.root)
    for (const path of [
      ...[directory.root, directory.repositories, directory.indexes],
      ...[directory.blobs, directory.extracts, directory.incoming, directory.uploads],
    ]) {
      makeDurableDirectory(path)
    }
    return directory
  }

  /** Returns the free part of the disk, 0 to 1. */
  async freeRatio(): Promise<number> {
    const { bavail, blocks } = await statfs(this.root)
    return bavail / blocks
  }

  /** Returns the folder of a knowledge base's bare repository. */
  repository(kbId: string): string {
    return join(this.repositories, `${kbId}.git`)
  }

  /** Returns the file of a knowledge base's vectors. It is apart from the index, which can be rebuilt without paying for embeddings. */
  vectors(kbId: string): string {
    return join(this.root, 'vectors', `${kbId}.db`)
  }

  /** Returns the folder of a knowledge base's indexes. */
  index(kbId: string): string {
    return join(this.indexes, kbId)
  }

  /** Returns the paths of files derived from a knowledge base's repository. */
  derived(kbId: string): string[] {
    const vectors = this.vectors(kbId)
    return [this.index(kbId), vectors, `${vectors}-wal`, `${vectors}-shm`]
  }
}

/** Thrown for root in another user's data directory: the server could not write the files that root creates. */
class ForeignDataDirectory extends Error {
  constructor(root: string, uid: number) {
    super(
      `${root} belongs to the user ${uid}, who could not write what root leaves there. Nothing was changed. ` +
        `Run the command as that user: runuser -u "$(id -nu ${uid})" -- ganglion …`,
    )
  }
}

export function requireOwner(root: string): void {
  const owner = statSync(root, { throwIfNoEntry: false })?.uid
  if (process.getuid?.() === 0 && owner) throw new ForeignDataDirectory(root, owner)
}

/** Creates a folder durably: it survives a power cut only once its parent folder is flushed. */
function makeDurableDirectory(path: string): void {
  if (existsSync(path)) return
  makeDurableDirectory(dirname(path))
  mkdirSync(path, { recursive: true, mode: 0o700 })
  // Folders cannot be opened on Windows.
  if (process.platform === 'win32') return
  const parent = openSync(dirname(path), 'r')
  try {
    fsyncSync(parent)
  } finally {
    closeSync(parent)
  }
}
