import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const pollInterval = 10

/**
 * The peak of resident memory of the child that this process starts meanwhile, in bytes: its high-water mark as the system keeps it,
 * read every 10 ms. Only Linux tells; elsewhere it is 0.
 */
export async function withChildMemory<T>(work: () => Promise<T>): Promise<{ result: T; peak: number }> {
  let isDone = false
  let peak = 0
  const poll = async () => {
    let pid: string | undefined
    while (!isDone) {
      pid ??= childOf(process.pid)
      if (pid !== undefined) peak = Math.max(peak, highWaterMark(pid))
      await sleep(pollInterval)
    }
  }
  const polling = process.platform === 'linux' ? poll() : undefined
  try {
    const result = await work()
    return { result, peak }
  } finally {
    isDone = true
    await polling
  }
}

function childOf(parent: number): string | undefined {
  return readdirSync('/proc').find((name) => /^\d+$/.test(name) && parentOf(name) === parent)
}

function parentOf(pid: string): number {
  const stat = readProcess(pid, 'stat')
  // The name before may hold anything; the parent is the second field after it.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

function highWaterMark(pid: string): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readProcess(pid, 'status'))?.[1] ?? 0) * 1024
}

/** Empty where it has ended. */
function readProcess(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
