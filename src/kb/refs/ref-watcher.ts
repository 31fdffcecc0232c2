import { join } from 'node:path'
import { watch } from 'chokidar'
import type { Notifications } from '../../state/database/notifications.ts'
import { candidateRefs } from './candidate-head-names.ts'

const settleMs = 50

type Following = { follow: () => Promise<void>; onError: (error: unknown) => void }

/**
 * Follows a repository's refs on the disk, so that what any tool commits or pushes is in the projection and the search index
 * within a moment, before somebody asks.
 * @returns how to stop it, which waits for what it has begun.
 */
export function watchRefs(gitDir: string, { follow, onError }: Following): () => Promise<void> {
  const { soon, stop } = inAMoment({ follow, onError })
  const derived = join(gitDir, candidateRefs, '.') // the server writes them itself
  const watcher = watch([join(gitDir, 'HEAD'), join(gitDir, 'packed-refs'), join(gitDir, 'refs')], {
    ignoreInitial: true,
    ignored: (path) => path.endsWith('.lock') || path === derived,
  })
  watcher.on('all', soon)
  watcher.on('ready', soon) // what changed before it watched
  watcher.on('error', onError)
  return async () => {
    await watcher.close()
    await stop()
  }
}

/** The same for refs that several nodes share, which tell each other that they have moved. @param id of the knowledge base */
export function listenToRefs(notifications: Notifications, id: string, following: Following): () => Promise<void> {
  const { soon, stop } = inAMoment(following)
  const stopListening = notifications.listen('refs', (moved) => {
    if (moved === undefined || moved === id) soon()
  })
  soon() // what moved before it listened
  return () => {
    stopListening()
    return stop()
  }
}

/** Many moves within a moment are followed together. */
function inAMoment({ follow, onError }: Following): { soon: () => void; stop: () => Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let following = Promise.resolve()
  const begin = () => {
    timer = undefined
    following = following.then(follow).catch(onError)
  }
  return {
    soon: () => {
      timer ??= setTimeout(begin, settleMs)
    },
    stop: () => {
      clearTimeout(timer)
      return following
    },
  }
}
