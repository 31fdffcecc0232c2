import { rm } from 'node:fs/promises'
import { copiesIn } from '../kb/cluster/cluster.ts'
import type { Context } from '../kb/context.ts'
import { setAside } from '../kb/kb-access.ts'
import { repeat } from '../system/concurrency/repeat.ts'
import { folderSize } from '../system/folder-size.ts'

const everyMs = 10 * 60_000
/** Milliseconds for which a used copy is kept regardless of the size, since it may still be read. */
const spared = 10 * 60_000

/**
 * Keeps the copies of repositories, with their indexes, within a size: the least recently used are removed, and fetched again on demand.
 * @param maxBytes may be exceeded for some minutes, and by copies in use
 * @returns a function that stops it
 */
export function startEvicting(ctx: Context, maxBytes: number, onError: (error: unknown) => void): () => Promise<void> {
  const first = evictCopies(ctx, maxBytes).catch(onError)
  const stop = repeat(everyMs, () => evictCopies(ctx, maxBytes), onError)
  return async () => {
    await Promise.all([first, stop()])
  }
}

export async function evictCopies(ctx: Context, maxBytes: number, now = Date.now()): Promise<void> {
  const { cluster, directory } = ctx
  if (cluster === undefined) return
  const copies = []
  const known = new Set([
    ...(await ctx.knowledgeBases.all()).map(({ id }) => id),
    ...(await ctx.knowledgeBases.deleted()),
  ])
  for (const { id, gitDir, usedAt } of await copiesIn(directory.repositories)) {
    if (!known.has(id) && (await ctx.kbs.closeUnused(id))) await removeCopy(ctx, id) // The knowledge base was deleted.
    copies.push({ id, usedAt, bytes: (await folderSize(gitDir)) + (await folderSize(directory.index(id))) })
  }
  copies.sort((a, b) => a.usedAt - b.usedAt)
  let total = copies.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { id, usedAt, bytes } of copies) {
    if (total <= maxBytes || now - usedAt < spared) return
    if (await removeCopy(ctx, id)) total -= bytes
  }
}

async function removeCopy(ctx: Context, id: string): Promise<boolean> {
  const removed = setAside(ctx, id)
  for (const path of removed) await rm(path, { recursive: true, force: true })
  return removed.length > 0
}
