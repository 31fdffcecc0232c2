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
  /** Slug or UUID of the knowledge base; absent: all of the tenant. */
  kb?: string | undefined
  kind?: ActivityKind | undefined
  /** Id of an event: only earlier ones are returned. */
  before?: number | undefined
  limit: number
}

export type ActivityPage = {
  items: ActivityItem[]
  /** Value of `before` for older events; null if there are none. An empty page may still have older events. */
  older: number | null
  /** Id of the tenant's latest event, visible or not. */
  last: number
}

const everyKind = Object.values(activityKinds).flat()
/** Maximum number of events of the wanted kinds that are read for one page: some of them may be hidden from the caller. */
const maxRead = 5_000

/**
 * Returns the activity of a tenant or a knowledge base, for people. Curators see everything, others the Neurons visible
 * to them. An approval represents the change of its Neuron, unless changes of pages are requested.
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
  const isCurator = effectiveAudience(caller) === 'curator'
  const asked = kind === undefined ? everyKind : activityKinds[kind]
  const kinds = isCurator ? asked : asked.filter((each) => each.startsWith('neuron.'))
  const view = new EventView(ctx, caller, { isList: true })
  const teller = new ActivityTeller(ctx, tenantId, {
    tellsUndo: isCurator,
    skipsApprovals: isCurator && kind !== 'pages',
  })
  const items: ActivityItem[] = []
  let [at, read] = [kinds.length === 0 ? first : Math.min(before ?? last + 1, last + 1), 0]
  while (at > first && items.length < limit && read < maxRead) {
    const page = await ctx.events.before(tenantId, { before: at, kbId, kinds, isCurator, limit })
    read += page.length
    const told = (await teller.tell(await view.tell(page))).slice(0, limit - items.length)
    // Only curators see who wrote a page.
    items.push(...(isCurator ? told : told.map((item) => ({ ...item, by: undefined }))))
    if (items.length === limit) at = items.at(-1)?.id ?? first
    else at = page.length < limit ? first : (page.at(-1)?.id ?? first)
  }
  return { items, older: at > first ? at : null, last }
}
