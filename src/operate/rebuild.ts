import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readRef } from '../git/refs/refs.ts'
import type { Context } from '../kb/context.ts'
import { bringUp } from '../kb/kb-access.ts'
import type { KbIdentity } from '../kb/kb-identity.ts'
import { countRows } from '../kb/projection/neuron-queries.ts'
import { Projection, type ProjectionHeads, projectionFile } from '../kb/projection/projection.ts'
import { mainRef, queueRef, RefMissing } from '../kb/refs/kb-refs.ts'
import { inUse } from '../system/concurrency/present-work.ts'

export type Rebuilt = { id: string; slug: string; neurons: number; candidates: number }

/**
 * Drops the indexes of knowledge bases and rebuilds them from git. The process must hold the data directory's lock, before it opens any of
 * them.
 * @throws {RefMissing} if the old index knows of a ref that has disappeared: nothing else records its commit
 */
export async function rebuild(ctx: Context, selection: readonly KbIdentity[]): Promise<Rebuilt[]> {
  const rebuilt: Rebuilt[] = []
  for (const identity of selection) {
    const { id, slug } = identity
    const indexDir = ctx.directory.index(id)
    await bringUp(ctx, identity)
    await requireRefs(ctx.directory.repository(id), lastHeads(join(indexDir, projectionFile)))
    await rm(indexDir, { recursive: true, force: true })
    const counts = await inUse(async () => countRows((await ctx.kbs.open(identity)).projection.read))
    rebuilt.push({ id, slug, ...counts })
  }
  return rebuilt
}

async function requireRefs(gitDir: string, last: ProjectionHeads | undefined): Promise<void> {
  for (const [ref, oid] of [
    [mainRef, last?.main],
    [queueRef, last?.queue],
  ] as const) {
    if (oid !== undefined && (await readRef(gitDir, ref)) === undefined) throw new RefMissing(gitDir, ref, oid)
  }
}

/** Returns the heads of a projection; undefined if there is none, or a damaged one. */
function lastHeads(file: string): ProjectionHeads | undefined {
  if (!existsSync(file)) return undefined
  try {
    const projection = new Projection(file)
    const heads = projection.heads(projection.read)
    projection.close()
    return heads
  } catch {
    return undefined
  }
}
