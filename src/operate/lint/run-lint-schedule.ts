import type { Context } from '../../kb/context.ts'
import { mainSettings } from '../../kb/kb-access.ts'
import { inUse } from '../../kb/open/kb-use.ts'
import { isDue } from '../../rules/lint/lint-schedule.ts'
import { lintKb } from './lint-kb.ts'

const intervalMs = 60_000

/**
 * Lints each knowledge base, open or not, on the schedule of its `kb.yaml`, one at a time. Times that pass while the server is down are
 * skipped: the next run finds the same.
 * @returns a function that stops it and waits for the knowledge base in progress
 */
export function startLinting(ctx: Context, onError: (error: unknown) => void): () => Promise<void> {
  const stopping = new AbortController()
  const schedules = new LintSchedules(ctx, onError)
  let last = ctx.now()
  let running = Promise.resolve()
  const lint = async () => {
    const now = ctx.now()
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

/** Lint schedules of the knowledge bases. */
export class LintSchedules {
  readonly #ctx: Context
  readonly #onError: (error: unknown) => void

  /** @param onError called for knowledge bases that cannot be linted; the others are */
  constructor(ctx: Context, onError: (error: unknown) => void) {
    this.#ctx = ctx
    this.#onError = onError
  }

  /** Lints the knowledge bases whose schedules have a time later than `after` and not later than `until`. */
  async run(after: Date, until: Date, stopping: AbortSignal): Promise<void> {
    for (const identity of await this.#ctx.knowledgeBases.list()) {
      if (stopping.aborted) return
      try {
        const schedule = (await mainSettings(this.#ctx).read(identity))?.lintSchedule ?? null
        if (schedule === null || !isDue(schedule, after, until)) continue
        await inUse(async () => lintKb(this.#ctx, await this.#ctx.kbs.open(identity)))
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
