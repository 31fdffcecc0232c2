import type { EventKind } from '../contract/events.ts'
import type { Context } from '../kb/context.ts'
import { effectiveAudience } from '../rules/access/audience.ts'
import type { Caller } from '../rules/access/caller.ts'
import { type ActivityItem, ActivityTeller } from './activity-item.ts'
import { EventView } from './event-view.ts'

export const activityKinds = {
  decisions: ['candidate.created', 'candidate.approved', 'candidate.dismissed', 'candidate.reopened'],
  pages: ['neuron.created', 'neuron.updated', 'neuron.deleted'],
  sources: ['source.uploaded', 'ingest.completed', 'ingest.failed'],
  pushes: ['kb.pushed'],
} as const satisfies Record<string, readonly EventKind[]>
export type ActivityKind = keyof typeof activityKinds

export type ActivityQuery = {
  /** Slug or UUID; without it, all of the tenant. */
  kb?: string | undefined
  kind?: ActivityKind | undefined
  /** Only what happened before the event of this id. */
  before?: number | undefined
  limit: number
}

export type ActivityPage = {
  items: ActivityItem[]
  /** The `before` of the page with older events; null where there are none. */
  older: number | null
  /** Id of the tenant's latest event, told or not. */
  last: number
}

const everyKind = Object.values(activityKinds).flat()
/** Events that are looked through for one page: what is rare is found page by page. */
const maxScanned = 5_000

/**
 * What happened in a tenant or a knowledge base, as people read it. Curators are told of everything, others of the Neurons that
 * they may see. An approval stands for the change of its Neuron, unless pages are asked for.
 * @throws {GanglionError} `not_found`
 */
export async function readActivity(
  ctx: Context,
  caller: Caller,
  { kb, kind, before, limit }: ActivityQuery,
): Promise<ActivityPage> {
  const { tenantId } = caller
  const kbId = kb === undefined ? undefined : (await ctx.kb(tenantId, kb)).identity.id
  const { first, last } = await ctx.events.range(tenantId)
  const isCurator = effectiveAudience(caller.role) === 'curator'
  const asked = kind === undefined ? everyKind : activityKinds[kind]
  const kinds = isCurator ? asked : asked.filter((each) => each.startsWith('neuron.'))
  const view = new EventView(ctx, caller, { isList: true })
  const teller = new ActivityTeller(ctx, tenantId, { tellsUndo: isCurator })
  const items: ActivityItem[] = []
  const begin = Math.min(before ?? last + 1, last + 1)
  const end = Math.max(first, begin - maxScanned)
  let at = kinds.length === 0 ? first : begin
  while (at > end && items.length < limit) {
    const page = await ctx.events.before(tenantId, { before: at, from: end, kbId, kinds, limit })
    for (const event of await view.tell(page)) {
      const item = await teller.tell(event)
      at = event.id
      if (item === undefined) continue
      // Who wrote a page is for curators.
      if (!isCurator) items.push({ ...item, by: undefined })
      else if (kind === 'pages' || !item.isApproval) items.push(item)
      if (items.length === limit) break
    }
    if (items.length < limit) at = page.length < limit ? end : (page.at(-1)?.id ?? end)
  }
  return { items, older: at > first ? at : null, last }
}
