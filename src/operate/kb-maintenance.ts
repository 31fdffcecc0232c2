import { consolidate, isPruneDue, prune, repositoryLoad } from '../git/maintenance.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { repeat } from '../system/concurrency/repeat.ts'

const intervalMs = 60_000
/** Milliseconds without a write after which a repository is quiet. */
const quietMs = 10_000
const timeLimitMs = 10 * 60_000
/** Thresholds above which a quiet repository is consolidated. */
const wanted = { packs: 24, looseObjects: 2_000 }
/** Thresholds above which consolidation cannot wait, since every pack slows each reader down. */
const needed = { packs: 400, looseObjects: 20_000 }

/**
 * Consolidates the repositories of open knowledge bases, one at a time, while nobody writes, at the lowest priority.
 * @returns a function that stops it and aborts the work in progress
 */
export function startMaintenance(
  ctx: Pick<Context, 'kbs' | 'cluster' | 'now'>,
  onError: (error: unknown) => void,
  everyMs = intervalMs,
): () => Promise<void> {
  const maintainAll = async (stopping: AbortSignal) => {
    for (const kb of await ctx.kbs.all()) {
      if (stopping.aborted) return
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeLimitMs)])
      await maintainOne(ctx, kb, signal).catch((error: unknown) => {
        // A damaged repository must not block the others. A git process that was stopped reports a failure.
        if (!stopping.aborted) onError(error)
      })
    }
  }
  return repeat(everyMs, maintainAll, onError)
}

async function maintainOne(
  { cluster, now }: Pick<Context, 'cluster' | 'now'>,
  kb: KnowledgeBase,
  signal: AbortSignal,
): Promise<void> {
  const { gitDir } = kb.repository
  if (await isDue(kb)) await consolidate(gitDir, signal)
  await cluster?.maintain(kb.identity.id, gitDir, now(), signal)
  if (isQuiet(kb) && (await isPruneDue(gitDir))) await prune(gitDir, signal)
}

async function isDue(kb: KnowledgeBase): Promise<boolean> {
  const { packs, looseObjects } = await repositoryLoad(kb.repository.gitDir)
  const limit = isQuiet(kb) ? wanted : needed
  return packs > limit.packs || looseObjects > limit.looseObjects
}

function isQuiet({ activity }: KnowledgeBase): boolean {
  return Date.now() - activity.lastWriteAt >= quietMs
}
