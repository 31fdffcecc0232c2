import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** The paths of a deployment's files, all absolute. */
export class DataDirectory {
  readonly root: string
  readonly database: string
  /** Names the PostgreSQL database that has the rows; see `rows-place.ts`. */
  readonly rowsMark: string
  readonly repositories: string
  readonly indexes: string
  readonly blobs: string
  /** The extracted texts of Sources. Missing ones are extracted again. */
  readonly extracts: string
  /** Temporary files, on the same file system as the rest, so that a rename moves a file into place. */
  readonly tmp: string
  /** Files that are being received or read. What a crash leaves is removed at the next start. */
  readonly incoming: string
  /** Files that come in chunks. */
  readonly uploads: string
  /** The new history of an erasure that is under way; see `operate/erase`. */
  readonly erasure: string
  readonly lock: string
  /** Locked for others by who must be alone, and shared by all who use the directory. */
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

  /** The bare repository of a knowledge base. */
  repository(kbId: string): string {
    return join(this.repositories, `${kbId}.git`)
  }

  /** File of a knowledge base's vectors. It is apart from the index, which can be rebuilt without paying for embeddings. */
  vectors(kbId: string): string {
    return join(this.root, 'vectors', `${kbId}.db`)
  }

  /** Folder of the snapshots of a knowledge base's search index. */
  index(kbId: string): string {
    return join(this.indexes, kbId)
  }

  /** Returns the paths of files derived from a knowledge base's repository. */
  derived(kbId: string): string[] {
    const vectors = this.vectors(kbId)
    return [this.index(kbId), vectors, `${vectors}-wal`, `${vectors}-shm`]
  }
}

/** The server could not write what root leaves in the data directory of another user. */
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

/** A new folder survives a power cut only once the folder that holds it is flushed. */
function makeDurableDirectory(path: string): void {
  if (existsSync(path)) return
  makeDurableDirectory(dirname(path))
  mkdirSync(path, { recursive: true, mode: 0o700 })
  // Windows opens no folders.
  if (process.platform === 'win32') return
  const parent = openSync(dirname(path), 'r')
  try {
    fsyncSync(parent)
  } finally {
    closeSync(parent)
  }
}
