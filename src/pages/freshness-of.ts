import type { Neuron } from '../contract/neurons.ts'
import type { KbView } from '../kb/access/kb-view.ts'
import { NamedSources } from '../kb/access/shown-fields.ts'
import { stalenessIn } from '../kb/access/stale-pages.ts'
import type { Context } from '../kb/context.ts'
import type { NeuronSummaryRow } from '../kb/projection/neuron-queries.ts'

/** Returns when pages of a view were verified, and why they are stale. A Source is named only to callers who may see it. */
export async function freshnessIn({ ctx, view, named }: { ctx: Context; view: KbView; named?: NamedSources }) {
  const { tenantId } = view.kb.identity
  const nameable = named ?? new NamedSources(view, ctx.sources)
  const stalenessOf = await stalenessIn(view, ctx.now())
  return async (row: NeuronSummaryRow): Promise<Pick<Neuron, 'verified' | 'owner' | 'stale' | 'newEdition'>> => {
    const { owner } = row
    const verified = await nameable.verified(row.verified ?? undefined)
    const { stale, newEdition: id } = stalenessOf(row)
    const source = id === undefined ? undefined : await ctx.sources.find(tenantId, id)
    return {
      ...(verified && { verified }),
      ...(owner !== null && { owner }),
      ...(stale && { stale }),
      ...(source && view.seesSource(source) && { newEdition: { id: source.id, filename: source.filename } }),
    }
  }
}
