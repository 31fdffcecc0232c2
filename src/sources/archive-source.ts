import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import { findSource } from './find-source.ts'

/**
 * Archives a Source. Its Neurons stay, its bytes may be uploaded again, and a waiting ingest is cancelled.
 * @throws {GanglionError} `not_found`, `already_processing`
 */
export async function archiveSource(ctx: Context, caller: Caller, docId: string): Promise<void> {
  const { tenantId, id } = await findSource(ctx, caller, docId)
  if (!(await ctx.sources.archive(tenantId, id, ctx.now()))) throw new GanglionError('already_processing')
  await ctx.jobs.cancel(id)
}
