import { isMainThread } from 'node:worker_threads'

/** Preloaded into a server that is measured: answers each message of its parent with the CPU time that the process has used. */
if (isMainThread && process.send !== undefined) {
  process.on('message', () => process.send?.(process.cpuUsage()))
  process.channel?.unref()
}
