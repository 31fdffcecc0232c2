import type { Context } from '../../kb/context.ts'
import { mainSettings } from '../../kb/kb-access.ts'
import { isDue } from '../../rules/lint/lint-schedule.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { repeat } from '../../system/concurrency/repeat.ts'
import { lintKb } from './lint-kb.ts'

const intervalMs = 60_000

/**
 * Lints each knowledge base, open or not, on the schedule of its `kb.yaml`, one at a time. Times that pass while the server is down are
 * skipped: the next run finds the same.
 * @returns a function that stops it and waits for the knowledge base in progress
 */
export function startLinting(ctx: Context, onError: (error: unknown) => void): () => Promise<void> {
  let last = ctx.now()
  const lint = async (stopping: AbortSignal) => {
    const [after, until] = [last, ctx.now()]
    last = until
    await runLintSchedules(ctx, { after, until, stopping, onError })
  }
  return repeat(intervalMs, lint, onError)
}

/**
 * Lints the knowledge bases whose schedules have a time later than `after` and not later than `until`.
 * @param options.onError called for knowledge bases that cannot be linted; the others are
 */
export async function runLintSchedules(
  ctx: Context,
  options: { after: Date; until: Date; stopping?: AbortSignal; onError: (error: unknown) => void },
): Promise<void> {
  const { after, until, stopping, onError } = options
  for (const identity of await ctx.knowledgeBases.list()) {
    if (stopping?.aborted) return
    try {
      const schedule = (await mainSettings(ctx, identity))?.lintSchedule ?? null
      if (schedule === null || !isDue(schedule, after, until)) continue
      await inUse(async () => lintKb(ctx, await ctx.kbs.open(identity)))
    } catch (error) {
      onError(error)
    }
  }
}
