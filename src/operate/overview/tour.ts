import type { Context } from '../../kb/context.ts'
import { queuePage } from '../../kb/projection/candidate-queue.ts'
import { audiences } from '../../rules/access/audience.ts'
import { bareId, type Caller, isPerson } from '../../rules/access/caller.ts'
import type { TourMark } from '../../state/accounts/tours.ts'
import { demoSlug, exampleConnector } from '../setup/first-run.ts'

export type Tour = {
  kb: string
  /** Pending example; undefined if all are decided. */
  candidateId: string | undefined
  /** Page that resulted from an example; undefined before its approval. */
  seqId: string | undefined
  done: Record<TourStep, boolean>
}

export const tourSteps = ['review', 'read', 'search', 'ask', 'key'] as const
export type TourStep = (typeof tourSteps)[number]
export type { TourMark }

const maxExamples = 10
const maxKeys = 50

/**
 * Returns a person's progress. Decisions, questions and new pages are read from the data; reading a page and searching are known only from
 * links of the tour.
 * @returns undefined if there is no demo, or the person has closed the tour
 */
export async function readTour(ctx: Context, caller: Caller): Promise<Tour | undefined> {
  const { tenantId } = caller
  const identity = isPerson(caller) ? await ctx.knowledgeBases.find(tenantId, demoSlug) : undefined
  if (identity === undefined) return undefined
  const marks = await ctx.tours.marks(tenantId, bareId(caller))
  if (marks.has('dismissed')) return undefined
  const kb = await ctx.kbs.open(identity).catch(() => undefined)
  const filter = { connector: exampleConnector }
  const examples = kb === undefined ? [] : queuePage(kb.projection.read, filter, undefined, maxExamples)
  if (examples.length === 0) return undefined
  return {
    kb: identity.slug,
    candidateId: examples.find(({ status }) => status === 'pending')?.id,
    seqId: examples.find(({ approval }) => approval !== undefined)?.approval?.seqId,
    done: {
      review: examples.some(({ status }) => status !== 'pending'),
      read: marks.has('read'),
      search: marks.has('search'),
      ask: await hasAsked(ctx, caller, identity.id),
      key: await hasMadeKey(ctx, caller),
    },
  }
}

/** Records that a person has taken a step of the tour, or closed it. */
export async function markTour({ tours }: Context, caller: Caller, mark: TourMark): Promise<void> {
  if (isPerson(caller)) await tours.mark(caller.tenantId, bareId(caller), mark)
}

async function hasAsked({ chatSessions, now }: Context, { id: ownerId }: Caller, kbId: string): Promise<boolean> {
  const options = { audiences, after: undefined, limit: 1 }
  return (await chatSessions.listOf({ kbId, ownerId }, options, now())).length > 0
}

async function hasMadeKey({ apiKeys }: Context, { tenantId, name }: Caller): Promise<boolean> {
  return (await apiKeys.page(tenantId, { limit: maxKeys })).some(({ createdBy }) => createdBy === name)
}
