import { GanglionError } from '../contract/errors.ts'
import { sourceSight } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { KbSettings } from '../rules/kb-settings.ts'
import type { KbRecord } from '../state/kb-store.ts'
import type { Source } from '../state/sources/source.ts'

/** Returns a Source that is visible to the caller, archived or not. @throws {GanglionError} `not_found` */
export async function findSource(ctx: Context, caller: Caller, docId: string): Promise<Source> {
  const source = await ctx.sources.find(caller.tenantId, docId)
  const isSeen = source !== undefined && (await sourceSight(ctx, caller, source.kbId))(source)
  if (!isSeen) throw new GanglionError('not_found')
  return source
}

/** Extensions of the files that a knowledge base of the caller's tenant takes. @throws {GanglionError} `not_found` */
export async function sourceTypes(
  ctx: Context,
  { tenantId }: Caller,
  kbId: string,
): Promise<KbSettings['sourceTypes']> {
  const kb = await ctx.kb(tenantId, kbId)
  return (await kb.settings()).sourceTypes
}

/** Returns a knowledge base of the caller's tenant without opening its repository. @throws {GanglionError} `not_found` */
export async function findKb({ knowledgeBases }: Context, { tenantId }: Caller, kb: string): Promise<KbRecord> {
  const found = await knowledgeBases.find(tenantId, kb)
  if (found === undefined) throw new GanglionError('not_found')
  return found
}
