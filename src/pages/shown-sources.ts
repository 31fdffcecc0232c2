import type { KbView } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { NeuronFields, SourceReference } from '../rules/neurons/neuron.ts'
import { tagsOf } from '../state/sources/source.ts'

/**
 * Where a page comes from, without the Sources that the caller may not know of. `areOwn`: the answer depends on who uploaded one.
 */
export async function shownSources(
  { ctx, caller, view }: { ctx: Context; caller: Caller; view: KbView },
  { sources }: Pick<NeuronFields, 'sources'>,
): Promise<{ sources: { sources?: SourceReference[] }; areOwn: boolean }> {
  const shown: SourceReference[] = []
  let areOwn = false
  for (const reference of sources) {
    const { id } = reference
    const source = id === undefined ? undefined : await ctx.sources.find(caller.tenantId, id)
    if (source !== undefined && !view.sees({ tags: tagsOf(source) })) areOwn = true
    if (source === undefined || view.seesSource(source)) shown.push(reference)
  }
  return { sources: shown.length === 0 ? {} : { sources: shown }, areOwn }
}
