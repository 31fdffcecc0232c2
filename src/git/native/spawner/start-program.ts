import { GitError } from '../../git-error.ts'
import { launch, noInput, type Order, type RunningProgram } from './launch.ts'
import { Spawner } from './spawner.ts'

export type StartProgram = (order: Order) => Promise<RunningProgram>

export const startDirectly: StartProgram = async (order) => {
  const launched = await launch(order, order.hasInput ? 'pipe' : 'ignore', 'pipe').catch((cause: unknown) => {
    throw new GitError('no-git', 'git could not be started', { cause })
  })
  const { stdin, stdout, channels, ended, kill } = launched
  if (stdout === null) throw new GitError('no-git', 'git has no standard output')
  return { stdin: stdin ?? noInput(), stdout, channels, ended, kill }
}

/** Milliseconds until a spawner that could not be started is tried again. */
const retryMs = 60_000

/**
 * Starts programs: directly while this process has less than `large` bytes of memory, and from then on through a spawner, which
 * is started again if it ends. Programs are started directly, too, while there is no spawner.
 */
export function programStarter(large: number): StartProgram {
  let current: Promise<Spawner | undefined> | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  const running = async () => {
    const known = current
    if (known !== undefined && (await known)?.isSpent && current === known) current = undefined
    if (current !== undefined || performance.now() - triedAt < retryMs) return current
    triedAt = performance.now()
    const starting = Spawner.start().catch(() => undefined)
    current = starting
    const forget = () => {
      if (current === starting) current = undefined
    }
    starting.then((spawner) => {
      if (spawner === undefined) return forget()
      triedAt = Number.NEGATIVE_INFINITY
      return spawner.ended.then(forget)
    })
    return starting
  }
  return async (order) => {
    const isLarge = process.platform !== 'win32' && residentBytes() >= large
    const spawner = isLarge ? await running() : undefined
    return spawner === undefined ? startDirectly(order) : spawner.launch(order)
  }
}

/** Starts programs for the whole process. */
export const startProgram = programStarter(160 * 1024 * 1024)

function residentBytes(): number {
  try {
    return process.memoryUsage.rss()
  } catch {
    return Number.POSITIVE_INFINITY // it is read from a file, and there are no file descriptors left
  }
}
