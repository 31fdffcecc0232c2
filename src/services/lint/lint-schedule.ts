import { isDue } from '../../knowledge/lint/lint-schedule.ts'
import type { Ganglion } from '../ganglion.ts'
import { inUse } from '../kb-use.ts'
import { lintKb } from './lint-kb.ts'

const intervalMs = 60_000

/**
 * Lints each knowledge base, also those that nobody has opened, at the times that its `kb.yaml` says, one at a time. Times that pass
 * while the server is down are left out: the next run finds the same.
 * @returns how to stop it, which waits for the knowledge base that it is at.
 */
export function startLinting(ganglion: Ganglion, onError: (error: unknown) => void): () => Promise<void> {
  const stopping = new AbortController()
  const schedules = new LintSchedules(ganglion, onError)
  let last = ganglion.now()
  let running = Promise.resolve()
  const lint = async () => {
    const now = ganglion.now()
    const after = last
    last = now
    await schedules.run(after, now, stopping.signal)
  }
  const timer = setInterval(() => {
    running = running.then(() => lint().catch(onError))
  }, intervalMs)
  return async () => {
    clearInterval(timer)
    stopping.abort()
    await running
  }
}

/** When each knowledge base is to be linted. */
export class LintSchedules {
  readonly #ganglion: Ganglion
  readonly #onError: (error: unknown) => void

  /** @param onError is told of knowledge bases that cannot be linted; the others are. */
  constructor(ganglion: Ganglion, onError: (error: unknown) => void) {
    this.#ganglion = ganglion
    this.#onError = onError
  }

  /** Lints the knowledge bases whose schedules have a time after one moment and not after another. */
  async run(after: Date, until: Date, stopping: AbortSignal): Promise<void> {
    for (const identity of await this.#ganglion.knowledgeBases.list()) {
      if (stopping.aborted) return
      try {
        const schedule = (await this.#ganglion.mainSettings.read(identity))?.lintSchedule ?? null
        if (schedule === null || !isDue(schedule, after, until)) continue
        await inUse(async () => lintKb(this.#ganglion, await this.#ganglion.openKb(identity)))
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
