import { consolidate, isPruneDue, prune, repositoryLoad } from '../git/maintenance.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'

const intervalMs = 60_000
/** No write for this long: a quiet moment. */
const quietMs = 10_000
const timeLimitMs = 10 * 60_000
/** More than this is worth a quiet moment, */
const wanted = { packs: 24, looseObjects: 2_000 }
/** and more than this cannot wait for one: every pack slows each reader down. */
const needed = { packs: 400, looseObjects: 20_000 }

/**
 * Consolidates the repositories of open knowledge bases, one at a time, when nobody writes, at the lowest priority.
 * @returns how to stop it, which also ends what it is doing.
 */
export function startMaintenance(
  ctx: Pick<Context, 'kbs' | 'cluster' | 'now'>,
  onError: (error: unknown) => void,
  everyMs = intervalMs,
): () => Promise<void> {
  const stopping = new AbortController()
  const failed = (error: unknown) => {
    // A git that was ended says that it failed.
    if (!stopping.signal.aborted) onError(error)
  }
  let running = Promise.resolve()
  const timer = setInterval(() => {
    running = running.then(() => maintainAll(ctx, stopping.signal, failed)).catch(failed)
  }, everyMs)
  return async () => {
    clearInterval(timer)
    stopping.abort()
    await running
  }
}

async function maintainAll(
  ctx: Pick<Context, 'kbs' | 'cluster' | 'now'>,
  stopping: AbortSignal,
  failed: (error: unknown) => void,
): Promise<void> {
  for (const kb of await ctx.kbs.all()) {
    if (stopping.aborted) return
    // A damaged repository must not keep the others from theirs.
    await maintainOne(ctx, kb, AbortSignal.any([stopping, AbortSignal.timeout(timeLimitMs)])).catch(failed)
  }
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

function isQuiet({ lastWriteAt }: KnowledgeBase): boolean {
  return Date.now() - lastWriteAt >= quietMs
}
