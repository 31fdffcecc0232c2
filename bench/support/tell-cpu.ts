import { isMainThread } from 'node:worker_threads'

/** Preloaded into a program that is measured: tells its parent the CPU time that the process has used, when asked and at its end. */
if (isMainThread && process.send !== undefined) {
  process.on('message', () => process.send?.(process.cpuUsage()))
  process.on('exit', () => process.send?.(process.cpuUsage()))
  process.channel?.unref()
}
