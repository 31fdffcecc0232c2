import { GanglionError } from '../../contract/errors.ts'
import type { Zone } from '../../contract/vocabulary.ts'
import type { Context } from '../../kb/context.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import { kbFigures, visibleNeurons } from '../../queue/lists/kb-figures.ts'
import { effectiveAudience } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { findingSurveys } from '../lint/list-findings.ts'

export type KbOverview = {
  id: string
  slug: string
  title: string
  /** Number of Neurons visible to the caller. */
  neurons: number
  /** Work to do; present for curators. */
  work: Work | undefined
  /** True if the knowledge base cannot be read now. */
  isBroken: boolean
}

export type Work = {
  /** Number of pending candidates by zone; `none`: no zone. */
  waiting: Record<Zone | 'none', number>
  /** Number of broken links; undefined during the first survey. */
  brokenLinks: number | undefined
  failedSources: number
}

export async function readOverview(ctx: Context, caller: Caller): Promise<KbOverview[]> {
  const failed = await ctx.sources.countFailed(caller.tenantId)
  const overviews: KbOverview[] = []
  for (const identity of await ctx.knowledgeBases.list(caller.tenantId)) {
    overviews.push(await overviewOf(ctx, caller, identity, failed))
  }
  return overviews.sort((a, b) => workOf(b) - workOf(a) || (a.slug < b.slug ? -1 : 1))
}

/** Returns one knowledge base in numbers. @throws {GanglionError} `not_found` */
export async function readKbOverview(ctx: Context, caller: Caller, kb: string): Promise<KbOverview> {
  const identity = await ctx.knowledgeBases.find(caller.tenantId, kb)
  if (identity === undefined) throw new GanglionError('not_found')
  return overviewOf(ctx, caller, identity, await ctx.sources.countFailed(caller.tenantId))
}

async function overviewOf(
  ctx: Context,
  caller: Caller,
  identity: KbIdentity,
  failed: ReadonlyMap<string, number>,
): Promise<KbOverview> {
  const { id, slug } = identity
  const audience = effectiveAudience(caller)
  // An unreadable knowledge base must not fail the list.
  const found = await kbFigures(ctx)
    .of(identity)
    .catch(() => undefined)
  if (found === undefined) return { id, slug, title: slug, neurons: 0, work: undefined, isBroken: true }
  const shown = { id, slug, title: found.title, neurons: visibleNeurons(found, audience), isBroken: false }
  if (audience !== 'curator') return { ...shown, work: undefined }
  const waiting = { red: 0, yellow: 0, green: 0, none: 0 }
  for (const { zone, count } of found.waiting) waiting[zone ?? 'none'] += count
  const brokenLinks = findingSurveys(ctx).brokenLinks(identity, found.main)
  return { ...shown, work: { waiting, brokenLinks, failedSources: failed.get(id) ?? 0 } }
}

function waitingIn({ waiting }: Work): number {
  return waiting.red + waiting.yellow + waiting.green + waiting.none
}

function workOf({ work }: KbOverview): number {
  return work === undefined ? 0 : waitingIn(work) + work.failedSources
}
