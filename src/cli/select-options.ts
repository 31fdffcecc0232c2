import { z } from 'zod'
import type { Context } from '../kb/context.ts'
import type { KbRecord } from '../state/kb-store.ts'
import { option } from './options.ts'
import { requireTenant } from './with-ganglion.ts'

/** Options that select all knowledge bases, those of a tenant, or one. */
export const Selection = z.object({
  tenant: option(z.string().exactOptional(), '<slug>', 'knowledge bases of one tenant only'),
  kb: option(z.string().exactOptional(), '<slug>', 'one knowledge base only, by slug or id'),
})

export async function select(ctx: Context, { tenant, kb }: z.infer<typeof Selection>): Promise<KbRecord[]> {
  const owner = tenant === undefined ? undefined : await requireTenant(ctx.tenants, tenant)
  const all = await ctx.knowledgeBases.all(owner?.id)
  if (kb === undefined) return all
  const selected = all.filter(({ id, slug }) => id === kb || slug === kb)
  if (selected.length > 0) return selected
  throw new Error(`There is no knowledge base ${kb}. Known: ${all.map(({ slug }) => slug).join(', ') || 'none'}.`)
}
