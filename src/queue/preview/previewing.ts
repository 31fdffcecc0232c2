import { GanglionError } from '../../contract/errors.ts'
import type { Preview } from '../../contract/preview.ts'
import type { Context } from '../../kb/context.ts'
import { kbOfCandidate } from '../../kb/kb-access.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { type PreviewedKb, previewedKb } from './previewed-kb.ts'

/** Preview for a use case: the context to read with, and a function that adds what was previewed to its answer. */
export type Previewing<Ctx> = {
  ctx: Ctx
  kb?: PreviewedKb
  told: <Answer extends object>(answer: Answer) => Answer & { preview?: Preview }
}

/**
 * Returns a context whose readers see a knowledge base with candidates applied, so that the same use cases serve previews. Without
 * candidates, returns the context itself.
 * @param kbName absent: the knowledge base of the first candidate; others are read as they are
 * @throws {GanglionError} as {@link previewedKb}
 */
export async function previewing<Ctx extends Context>(
  ctx: Ctx,
  caller: Caller,
  asked: readonly string[] | undefined,
  kbName: string | undefined,
): Promise<Previewing<Ctx>> {
  if (asked === undefined) return { ctx, told: (answer) => answer }
  if (caller.role !== 'curator') throw new GanglionError('not_found')
  const { tenantId } = caller
  const kb = await (kbName === undefined ? kbOfCandidate(ctx, tenantId, asked[0] ?? '') : ctx.kb(tenantId, kbName))
  const previewed = await previewedKb(ctx, caller, kb, asked)
  const readableKb: Context['readableKb'] = async (tenant, name) => {
    const found = await ctx.readableKb(tenant, name)
    return found.identity.id === kb.identity.id ? previewed : found
  }
  return { ctx: { ...ctx, readableKb }, kb: previewed, told: (answer) => ({ ...answer, preview: previewed.preview }) }
}
