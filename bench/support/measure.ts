import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Timing = { min: number; lowerQuartile: number; median: number; upperQuartile: number; max: number }

/** Milliseconds that a piece of work takes. */
export async function milliseconds(work: () => unknown): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** Begins to measure the turns of the event loop. @returns ends it, and gives the CPU time of the longest turn, in milliseconds */
export function longestTurn(): () => number {
  let [longest, isOver, begin] = [0, false, process.threadCpuUsage()]
  const look = () => {
    const { user, system } = process.threadCpuUsage(begin)
    longest = Math.max(longest, (user + system) / 1000)
    begin = process.threadCpuUsage()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  return () => {
    isOver = true
    return longest
  }
}

/** Runs contestants in turn, A B C A B C …, so that a machine whose speed drifts is fair to all; the first round is a warm-up. */
export async function inTurn<Name extends string>(
  rounds: number,
  contestants: Record<Name, () => Promise<number>>,
): Promise<Record<Name, Timing>> {
  const names = Object.keys(contestants) as Name[]
  const times = new Map<Name, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const time = await contestants[name]()
      if (round > 0) times.get(name)?.push(time)
    }
  }
  return Object.fromEntries([...times].map(([name, values]) => [name, summary(values)])) as Record<Name, Timing>
}

export function summary(values: readonly number[]): Timing {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.round((sorted.length - 1) * share)] ?? 0
  return { min: at(0), lowerQuartile: at(0.25), median: at(0.5), upperQuartile: at(0.75), max: at(1) }
}

export function show({ min, median, max }: Timing): string {
  return `${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)})`
}

const workFolders: string[] = []

/** A folder for one run, removed at the end of the process. */
export function workFolder(): string {
  if (workFolders.length === 0) process.on('exit', removeWorkFolders)
  const dir = mkdtempSync(join(tmpdir(), 'ganglion-bench-'))
  workFolders.push(dir)
  return dir
}

function removeWorkFolders(): void {
  for (const dir of workFolders) rmSync(dir, { recursive: true, force: true })
}

/** Native git, durable as our own writes are. */
export function durableGit(gitDir: string, args: readonly string[], input?: string): string {
  const result = spawnSync(
    'git',
    ['-c', 'core.fsync=all', '-c', 'user.name=Bench', '-c', 'user.email=bench@example.com', ...args],
    {
      cwd: gitDir,
      encoding: 'utf8',
      maxBuffer: 1024 ** 3,
      ...(input === undefined ? {} : { input }),
    },
  )
  if (result.status !== 0) throw new Error(`git ${args[0]}: ${result.stderr}`)
  return result.stdout.trim()
}
