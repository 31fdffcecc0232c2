import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** The package `@ganglion/check`, with which CI checks a pull request. */
export type CheckerPackage = {
  tgz: Buffer
  /** SHA-256 in hexadecimal digits. */
  sha256: string
}

/** Path at which a server serves the package. */
export const checkerPath = '/ci/ganglion-check.tgz'

let made: Promise<CheckerPackage> | undefined

/** Reads the package, which a release has next to this file. A checkout packs it at the first request. */
export function checkerPackage(): Promise<CheckerPackage> {
  made ??= readOrPack().catch((error) => {
    made = undefined
    throw error
  })
  return made
}

async function readOrPack(): Promise<CheckerPackage> {
  const isRelease = import.meta.url.endsWith('.js')
  const tgz = await (isRelease
    ? readFile(new URL('ganglion-check.tgz', import.meta.url))
    : (await import('#check')).packChecker())
  return { tgz, sha256: createHash('sha256').update(tgz).digest('hex') }
}
