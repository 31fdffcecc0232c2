import { join } from 'node:path'
import { watch } from 'chokidar'
import { candidateRefs } from '../review/candidate-head-names.ts'

const settleMs = 50

/**
 * Follows a repository's refs on the disk, so that what any tool commits or pushes is in the projection and the search index
 * within a moment, before somebody asks.
 * @returns how to stop it, which waits for what it has begun.
 */
export function watchRefs(
  gitDir: string,
  { follow, onError }: { follow: () => Promise<void>; onError: (error: unknown) => void },
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const derived = join(gitDir, candidateRefs, '.') // the server writes them itself
  const watcher = watch([join(gitDir, 'HEAD'), join(gitDir, 'packed-refs'), join(gitDir, 'refs')], {
    ignoreInitial: true,
    ignored: (path) => path.endsWith('.lock') || path === derived,
  })
  let following = Promise.resolve()
  const followSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      following = following.then(follow).catch(onError)
    }, settleMs)
  }
  watcher.on('all', followSoon)
  watcher.on('ready', followSoon) // what changed before it watched
  watcher.on('error', onError)
  return async () => {
    clearTimeout(timer)
    await watcher.close()
    await following
  }
}
