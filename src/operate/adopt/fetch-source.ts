import { operatorsGit, withoutCredentials } from '../../git/native/operators-git.ts'
import { readRef } from '../../git/refs/refs.ts'
import { Repository } from '../../git/repository.ts'
import { mainRef, queueRef, sharedRefs } from '../../kb/refs/kb-refs.ts'
import { syncTree } from '../../system/durable-file.ts'
import { folderSize } from '../../system/folder-size.ts'
import { AdoptionRefused } from './adoption-refused.ts'

/** Ref of the commit to merge while a repository that is no mirror is adopted. */
export const adoptedRef = 'refs/adopted'
const betweenLooksMs = 1_000
/** git settings that keep a fetch in one pack, whose objects are checked like those of a push. */
const config = [
  ...['fetch.fsckObjects=true', 'fetch.unpackLimit=1', 'transfer.unpackLimit=1', 'fetch.recurseSubmodules=false'],
  ...['gc.auto=0', 'maintenance.auto=false', 'core.hooksPath=/dev/null'],
]

/**
 * Fetches a repository from a folder or URL into a new bare one, with its whole history.
 * @returns true for a full copy of a knowledge base, which has its refs; otherwise it has {@link adoptedRef}
 * @throws {AdoptionRefused} {Error} with git's message
 */
export async function fetchSource(source: string, gitDir: string, maxBytes: number): Promise<boolean> {
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
    if ((await folderSize(gitDir)) <= maxBytes) return
    const size = `${Math.floor(maxBytes / 1e9)} GB`
    tooLarge.abort(new AdoptionRefused(`${name} has more than ${size}: leave large files out of its history.`))
  }
  const looking = setInterval(look, betweenLooksMs)
  try {
    const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', source, ...refspecs]
    await operatorsGit(gitDir, fetch, { config, signal: tooLarge.signal })
  } finally {
    clearInterval(looking)
  }
  await look()
  tooLarge.signal.throwIfAborted()
  // git fetches no ref of a shallow repository, and reports success.
  if ((await readRef(gitDir, isMirror ? mainRef : adoptedRef)) === undefined)
    throw new AdoptionRefused(`${name} lacks a part of its history: complete it first, with git fetch --unshallow.`)
  await syncTree(gitDir)
  return isMirror
}
