import { statSync } from 'node:fs'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'

/** Repositories and versions of the protocol whose advertisement is kept. */
const maxKept = 1_000
/** Bytes; git's has some hundred. */
const maxAdvertisement = 4096
/** Milliseconds until git is asked again, which may be another by then. */
const keptForMs = 10 * 60_000

type Kept = { config: string; bytes: Buffer }

/**
 * Returns the capabilities of `upload-pack` in version 2 of the protocol (gitprotocol-v2(5)). They depend on git and on the
 * repository's configuration, not on its refs, so that not every clone and fetch needs a git to say it.
 */
export class Advertisements {
  readonly #kept = new LRUCache<string, Kept>({ max: maxKept, ttl: keptForMs })

  find(gitDir: string, protocol: string): Buffer | undefined {
    const kept = this.#kept.get(`${gitDir} ${protocol}`)
    return kept !== undefined && kept.config === stampOf(gitDir) ? kept.bytes : undefined
  }

  /** Passes on what git says, and keeps it if git says all of it. */
  async *keep(gitDir: string, protocol: string, output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const config = stampOf(gitDir)
    const pieces: Buffer[] = []
    for await (const piece of output) {
      pieces.push(piece)
      yield piece
    }
    const bytes = Buffer.concat(pieces)
    if (bytes.length <= maxAdvertisement) this.#kept.set(`${gitDir} ${protocol}`, { config, bytes })
  }
}

/** Changes whenever the configuration is written. */
function stampOf(gitDir: string): string {
  const { ino, size, mtimeMs } = statSync(join(gitDir, 'config'))
  return `${ino} ${size} ${mtimeMs}`
}
