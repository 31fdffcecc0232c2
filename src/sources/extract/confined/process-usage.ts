import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Bytes of resident memory, and milliseconds so far: of CPU time, and of waiting for a processor, where the system tells. */
export type ProcessUsage = { memory: number; cpuTime: number; waited: number }

const run = promisify(execFile)
/** Of Linux's `stat`, for all programs. */
const ticksPerSecond = 100

/** Resource usage of a process; `undefined` if it has ended, or the system does not provide it. Never throws. */
export async function processUsage(pid: number): Promise<ProcessUsage | undefined> {
  try {
    if (process.platform === 'linux') return await linuxUsage(pid)
    return process.platform === 'win32' ? undefined : await posixUsage(pid)
  } catch {
    return undefined
  }
}

async function linuxUsage(pid: number): Promise<ProcessUsage | undefined> {
  const [status, stat] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
  ])
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  // The name before may hold anything; user and system time are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (kilobytes === undefined) return undefined
  const ticks = Number(fields[11]) + Number(fields[12])
  const usage = { memory: Number(kilobytes) * 1024, cpuTime: (ticks * 1000) / ticksPerSecond }
  return { ...usage, waited: await longestWait(pid) }
}

/** Of the thread that waited longest for a processor: the second field of `schedstat`, in nanoseconds. */
async function longestWait(pid: number): Promise<number> {
  try {
    const folder = `/proc/${pid}/task`
    const threads = await readdir(folder)
    const stats = await Promise.all(threads.map((thread) => readFile(`${folder}/${thread}/schedstat`, 'utf8')))
    return Math.max(...stats.map((stat) => Number(stat.split(' ')[1]))) / 1e6
  } catch {
    return 0 // a thread has ended, or the system keeps no figures
  }
}

async function posixUsage(pid: number): Promise<ProcessUsage | undefined> {
  const { stdout } = await run('ps', ['-o', 'rss=,time=', '-p', String(pid)])
  const [kilobytes, time] = stdout.trim().split(/\s+/)
  if (kilobytes === undefined || time === undefined) return undefined
  // `[[days-]hours:]minutes:seconds`
  const seconds = time.split(/[-:]/).reduceRight(
    ({ sum, unit, next }, part) => ({
      sum: sum + Number(part) * unit,
      unit: unit * (next[0] ?? 0),
      next: next.slice(1),
    }),
    { sum: 0, unit: 1, next: [60, 60, 24] },
  ).sum
  return { memory: Number(kilobytes) * 1024, cpuTime: seconds * 1000, waited: 0 }
}
