import { join } from 'node:path'
import { watch } from 'chokidar'
import type { KnowledgeBase } from './knowledge-base.ts'

const settleMs = 50

/**
 * Follows a repository's refs on the disk, so that what any tool commits or pushes is in the projection within a moment,
 * before somebody asks.
 * @returns how to stop it.
 */
export function watchRefs(kb: KnowledgeBase, onError: (error: unknown) => void): () => Promise<void> {
  const { gitDir } = kb.repository
  let timer: NodeJS.Timeout | undefined
  const watcher = watch([join(gitDir, 'HEAD'), join(gitDir, 'packed-refs'), join(gitDir, 'refs')], {
    ignoreInitial: true,
    ignored: (path) => path.endsWith('.lock'),
  })
  const follow = () => {
    clearTimeout(timer)
    timer = setTimeout(() => kb.sync().catch(onError), settleMs)
  }
  watcher.on('all', follow)
  watcher.on('ready', follow) // what changed before it watched
  watcher.on('error', onError)
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}
