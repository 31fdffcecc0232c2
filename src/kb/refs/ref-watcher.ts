import { join } from 'node:path'
import { watch } from 'chokidar'
import type { Notifications } from '../../state/database/notifications.ts'
import { candidateRefs } from './candidate-head-names.ts'

const settleMs = 50

type Following = { follow: () => Promise<void>; onError: (error: unknown) => void }

/**
 * Follows a repository's refs on the disk, so that commits and pushes of any tool reach the projection and the search index within a
 * moment, before the next request.
 * @returns a function that stops it and waits for work in progress
 */
export function watchRefs(gitDir: string, { follow, onError }: Following): () => Promise<void> {
  const { soon, stop } = inAMoment({ follow, onError })
  const derived = join(gitDir, candidateRefs, '.') // The server writes these refs itself.
  // Only `refs`: whoever moves a ref writes its file, and each lock of this server is a file in `gitDir` for a moment.
  const watcher = watch(join(gitDir, 'refs'), {
    ignoreInitial: true,
    ignored: (path) => path.endsWith('.lock') || path === derived,
  })
  watcher.on('all', soon)
  watcher.on('ready', soon) // Catches up with changes from before it watched.
  watcher.on('error', onError)
  return async () => {
    await watcher.close()
    await stop()
  }
}

/** Follows refs that several nodes share, which notify each other. @param id of the knowledge base */
export function listenToRefs(notifications: Notifications, id: string, following: Following): () => Promise<void> {
  const { soon, stop } = inAMoment(following)
  const stopListening = notifications.listen('refs', (moved) => {
    if (moved === undefined || moved === id) soon()
  })
  soon() // Catches up with moves from before it listened.
  return () => {
    stopListening()
    return stop()
  }
}

/** Debounces: moves within a short time are followed together. */
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
