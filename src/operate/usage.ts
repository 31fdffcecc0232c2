import type { Context } from '../kb/context.ts'
import { kbFigures } from '../queue/lists/kb-figures.ts'
import type { Tenant } from '../state/tenants.ts'
import { folderSize } from '../system/folder-size.ts'

export type KbUsage = {
  id: string
  slug: string
  isDisabled: boolean
  /** Number of Neurons. Null if it cannot be read now, like the number of pending candidates. */
  neurons: number | null
  pending: number | null
  /** Bytes of the repository and the indexes on this machine. */
  diskBytes: number
}

export type TenantUsage = {
  knowledgeBases: KbUsage[]
  sources: number
  sourceBytes: number
}

export async function usageOf(ctx: Context, { id: tenantId }: Pick<Tenant, 'id'>): Promise<TenantUsage> {
  const kbs: KbUsage[] = []
  for (const kb of await ctx.knowledgeBases.all(tenantId)) {
    const { id, slug, disabledAt } = kb
    // An unreadable knowledge base must not fail the list.
    const figures = await kbFigures(ctx)
      .of(kb)
      .catch(() => undefined)
    const [neurons, waiting] = [figures?.neurons.total ?? null, figures?.waiting]
    const pending = waiting?.reduce((sum, { count }) => sum + count, 0) ?? null
    const diskBytes = (await folderSize(ctx.directory.repository(id))) + (await folderSize(ctx.directory.index(id)))
    kbs.push({ id, slug, isDisabled: disabledAt !== null, neurons, pending, diskBytes })
  }
  const { count, size } = await ctx.sources.totalSize(tenantId)
  return { knowledgeBases: kbs, sources: count, sourceBytes: size }
}
