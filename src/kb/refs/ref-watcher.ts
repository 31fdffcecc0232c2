import { watch as watchFolder } from 'node:fs'
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
  const watcher = watch(join(gitDir, 'refs'), {
    ignoreInitial: true,
    ignored: (path) => path.endsWith('.lock') || path === derived,
  })
  watcher.on('all', soon)
  watcher.on('ready', soon) // Catches up with changes from before it watched.
  watcher.on('error', onError)
  const closePacked = watchPacked(gitDir, { soon, onError })
  return async () => {
    closePacked()
    await watcher.close()
    await stop()
  }
}

/**
 * Watches the file of packed refs: a ref that is moved and packed at once has no file of its own. Not by chokidar, which would list the
 * repository's folder for each lock that this server creates in it.
 */
function watchPacked(gitDir: string, { soon, onError }: { soon: () => void } & Pick<Following, 'onError'>): () => void {
  try {
    const watcher = watchFolder(gitDir, (_event, name) => name === 'packed-refs' && soon())
    watcher.on('error', onError)
    return () => watcher.close()
  } catch (error) {
    onError(error) // The system's limit of watches is reached.
    return () => {}
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
