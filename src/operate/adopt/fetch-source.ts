import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { operatorsGit, withoutCredentials } from '../../git/native/operators-git.ts'
import { readRef } from '../../git/refs/refs.ts'
import { Repository } from '../../git/repository.ts'
import { meterPack, type PackLimits, PackRefused } from '../../git/serve/pack-meter.ts'
import type { IncomingLimits } from '../../git/transport/quarantine.ts'
import { mainRef, queueRef, sharedRefs } from '../../kb/refs/kb-refs.ts'
import { syncTree } from '../../system/durable-file.ts'
import { folderSize } from '../../system/folder-size.ts'

/** Thrown if a repository cannot become a knowledge base here. The message tells a person why, and what to do. */
export class AdoptionRefused extends Error {}

/** Ref of the commit to merge, while a repository that is not a mirror is adopted. */
export const adoptedRef = 'refs/adopted'
const betweenLooksMs = 1_000
/** Maximum bytes of memory of each process of a fetch: objects within the limits need less. */
const maxMemory = 2 * 1024 ** 3
/** git settings that keep a fetch in one pack, whose objects are checked like those of a push, and large files out of memory. */
const config = [
  ...['fetch.fsckObjects=true', 'fetch.unpackLimit=1', 'transfer.unpackLimit=1', 'fetch.recurseSubmodules=false'],
  ...['gc.auto=0', 'maintenance.auto=false', 'core.hooksPath=/dev/null', 'core.bigFileThreshold=4m'],
]

/**
 * Fetches a repository from a folder or URL into a new bare one, with its whole history.
 * @returns true for a full copy of a knowledge base, which has its refs; otherwise it has {@link adoptedRef}
 * @throws {AdoptionRefused} {Error} with git's message
 */
export async function fetchSource(source: string, gitDir: string, limits: IncomingLimits): Promise<boolean> {
  const { maxPack } = limits
  const name = withoutCredentials(source)
  ;(await Repository.init(gitDir)).close()
  const listed = await operatorsGit(gitDir, ['ls-remote', '--', source, 'HEAD', ...sharedRefs])
  const refs = new Set([...listed.matchAll(/^\w+\t(\S+)$/gm)].map(([, ref = '']) => ref))
  const isMirror = refs.has(queueRef) && refs.has(mainRef)
  const branch = refs.has('HEAD') ? 'HEAD' : mainRef
  if (!isMirror && !refs.has(branch)) throw new AdoptionRefused(`${name} has no commit that HEAD or main names.`)
  const wanted = isMirror ? sharedRefs.filter((ref) => refs.has(ref)) : [branch]
  const refspecs = wanted.map((ref) => `+${ref}:${isMirror ? ref : adoptedRef}`)
  const tooLarge = new AbortController()
  const look = async () => {
    if ((await folderSize(gitDir)) <= maxPack) return
    const size = `${Math.floor(maxPack / 1024 ** 3)} GB`
    tooLarge.abort(new AdoptionRefused(`${name} has more than ${size}: leave large files out of its history.`))
  }
  const looking = setInterval(look, betweenLooksMs)
  try {
    const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', source, ...refspecs]
    await operatorsGit(gitDir, fetch, { config, signal: tooLarge.signal, maxMemory })
  } catch (error) {
    if (!/out of memory|mmap failed/i.test(String(error))) throw error
    throw new AdoptionRefused(`${name} has an object that takes more than 2 GB of memory: leave it out of its history.`)
  } finally {
    clearInterval(looking)
  }
  await look()
  tooLarge.signal.throwIfAborted()
  // git fetches no ref of a shallow repository, and reports success.
  if ((await readRef(gitDir, isMirror ? mainRef : adoptedRef)) === undefined)
    throw new AdoptionRefused(`${name} lacks a part of its history: complete it first, with git fetch --unshallow.`)
  await requireWithin(gitDir, name, limits)
  await syncTree(gitDir)
  return isMirror
}

/** Checks the size of fetched packs as of pushed ones, before anything else reads them. */
async function requireWithin(gitDir: string, name: string, limits: PackLimits): Promise<void> {
  const folder = join(gitDir, 'objects', 'pack')
  try {
    for (const file of await readdir(folder)) {
      if (!file.endsWith('.pack')) continue
      const pack: AsyncIterable<Buffer> = createReadStream(join(folder, file))
      for await (const _ of meterPack(pack[Symbol.asyncIterator](), limits));
    }
  } catch (error) {
    if (!(error instanceof PackRefused)) throw error
    throw new AdoptionRefused(`${name} is too large: ${error.message} Leave large files out of its history.`)
  }
}
