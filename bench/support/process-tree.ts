import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds of CPU, and bytes that were given to the disk (none where the folder is in memory). */
export type Cost = { cpu: number; written: number }

/** Milliseconds of a clock tick in `/proc`, the same on all machines with Linux. */
const tick = 10

/** Returns the cost of a process and its descendants since their start, with those that have ended and were waited for. */
export function treeCost(root: number): Cost {
  const pids = treeOf(root)
  return { cpu: sum(pids, (pid) => ticks(pid, 11)), written: sum(pids, writtenBy) }
}

/** Returns the cost of this process's children that have ended; `written` counts this process, too. */
export function costOfEnded(): Cost {
  return { cpu: ticks(process.pid, 13), written: writtenBy(process.pid) }
}

/** Returns the megabytes of a process and its descendants: private memory, and their share of shared memory. */
export function treeMemory(root: number): number {
  return sum(treeOf(root), (pid) => numberIn(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+)/m)) / 1024
}

function treeOf(root: number): number[] {
  try {
    const children = readdirSync(`/proc/${root}/task`).map((thread) => read(`/proc/${root}/task/${thread}/children`))
    return [root, ...children.flatMap((pids) => pids.match(/\d+/g) ?? []).flatMap((pid) => treeOf(Number(pid)))]
  } catch {
    return [] // it has ended
  }
}

/** Returns the milliseconds in `/proc/PID/stat`, whose fields after the name have at 11 and 12 its own time, at 13 and 14 that of ended children. */
function ticks(pid: number, from: number): number {
  const stat = read(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return sum(fields.slice(from, 15), (field) => tick * Number(field))
}

function writtenBy(pid: number): number {
  return numberIn(`/proc/${pid}/io`, /^write_bytes: (\d+)/m)
}

function numberIn(path: string, pattern: RegExp): number {
  return Number(pattern.exec(read(path))?.[1] ?? 0)
}

function sum<Item>(items: readonly Item[], figure: (item: Item) => number): number {
  return items.reduce((total, item) => total + figure(item), 0)
}

/** Returns the text of a file, or none if its process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
