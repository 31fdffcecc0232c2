import type { Command } from 'commander'
import { z } from 'zod'
import type { Context } from '../kb/context.ts'
import type { KbRecord } from '../state/kb-store.ts'
import { requireTenant } from './with-ganglion.ts'

/** Which knowledge bases a command is for: all, those of a tenant, or one. */
export const Selection = z.object({ tenant: z.string().exactOptional(), kb: z.string().exactOptional() })
export type Selection = z.infer<typeof Selection>

export function selecting(command: Command): Command {
  return command
    .option('--tenant <slug>', 'knowledge bases of one tenant only')
    .option('--kb <slug>', 'one knowledge base only, by slug or id')
}

export async function select(ctx: Context, { tenant, kb }: Selection): Promise<KbRecord[]> {
  const owner = tenant === undefined ? undefined : await requireTenant(ctx.tenants, tenant)
  const all = await ctx.knowledgeBases.all(owner?.id)
  if (kb === undefined) return all
  const selected = all.filter(({ id, slug }) => id === kb || slug === kb)
  if (selected.length > 0) return selected
  throw new Error(`There is no knowledge base ${kb}. Known: ${all.map(({ slug }) => slug).join(', ') || 'none'}.`)
}
