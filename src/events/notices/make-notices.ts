import { createHash } from 'node:crypto'
import { Cron } from 'croner'
import { GanglionError } from '../../contract/errors.ts'
import { viewAs } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { isPassing } from '../../kb/failure.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { inUse } from '../../kb/open/kb-use.ts'
import { neuronsInOrder } from '../../kb/projection/neuron-queries.ts'
import { goesByOneOf } from '../../rules/deciding.ts'
import { isPastDate, ownersOfPage } from '../../rules/freshness.ts'
import { utcDay } from '../../rules/utc-day.ts'
import type { User } from '../../state/accounts/users.ts'
import type { StoredEvent } from '../../state/event-store.ts'
import type { NoticeCursor, StoredNotice } from '../../state/notices.ts'
import { noticeOf } from './notice-of.ts'

const pageSize = 200
/** What is older is no news: as where mails were off for a while. */
const newsMs = 3 * 86_400_000
const digests = new Cron('0 6 * * *', { timezone: 'UTC', paused: true })
const reminders = new Cron('0 6 * * 1', { timezone: 'UTC', paused: true })

export function nextDigest(now: Date): string {
  return digests.nextRun(now)?.toISOString() ?? now.toISOString()
}

/**
 * Makes notices of what has happened in each tenant since it was last done. They are kept together with how far it has got, so that a crash
 * neither loses one nor makes it twice.
 */
export async function makeNotices(ctx: Context): Promise<void> {
  const remindedOn = reminders.previousRuns(1, ctx.now()).map(utcDay).join()
  for (const { last, ...cursor } of await ctx.notices.behind(remindedOn)) {
    await makeSome(ctx, cursor, { last, remindedOn }).catch(ctx.onError)
  }
}

async function makeSome(ctx: Context, from: NoticeCursor, { last, remindedOn }: { last: number; remindedOn: string }) {
  const { tenantId } = from
  // There were none before; or a backup was restored, and an id is yet to come.
  const isLost = from.event < 0 || from.event > last
  const page = isLost ? [] : await ctx.events.after(tenantId, from.event, pageSize)
  const made: StoredNotice[] = []
  for (const event of page) made.push(...(await noticesOf(ctx, tenantId, event)))
  const isWhole = page.length < pageSize
  if (isWhole && !isLost && from.remindedOn < remindedOn) made.push(...(await remindersOf(ctx, tenantId, remindedOn)))
  // The log leaves out events of a knowledge base that is not served.
  const event = Math.max(page.at(-1)?.id ?? 0, isWhole ? last : 0)
  const to = { tenantId, event, remindedOn: isWhole ? remindedOn : from.remindedOn }
  if ((await ctx.notices.advance(from, to, made)) && !isWhole) await makeSome(ctx, to, { last, remindedOn })
}

async function noticesOf(ctx: Context, tenantId: string, event: StoredEvent): Promise<StoredNotice[]> {
  const { kind, kbId, at, data, candidate } = event
  if (!kind.startsWith('candidate.') || Date.parse(at) < ctx.now().getTime() - newsMs) return []
  const told = { kind, candidateId: data.candidateId ?? null, decision: candidate?.decision ?? null }
  const notice = await inKb(ctx, tenantId, kbId, (kb) => noticeOf(ctx, kb, told))
  const now = ctx.now().toISOString()
  return (notice?.people ?? []).flatMap((user) => {
    const isDigest = user.notices === 'digest'
    return noticeTo(
      user,
      { tenantId, kbId, ...told },
      { dueAt: isDigest ? nextDigest(ctx.now()) : now, isDigest, of: kbId },
    )
  })
}

/** One for each knowledge base in which a curator has pages that are past their date. */
async function remindersOf(ctx: Context, tenantId: string, day: string): Promise<StoredNotice[]> {
  const curators = await ctx.users.curators(tenantId)
  const made: StoredNotice[] = []
  for (const { id: kbId } of await ctx.knowledgeBases.list(tenantId)) {
    const owners = (await inKb(ctx, tenantId, kbId, (kb) => staleOwners(kb, ctx.now()))) ?? []
    const about = { tenantId, kbId, kind: 'pages.stale', candidateId: null, decision: null } as const
    const told = curators.filter(({ email }) => goesByOneOf({ names: [email] }, owners))
    made.push(
      ...told.flatMap((user) => noticeTo(user, about, { dueAt: ctx.now().toISOString(), isDigest: true, of: day })),
    )
  }
  return made
}

async function staleOwners(kb: KnowledgeBase, now: Date): Promise<string[]> {
  const { verify, deciding } = await kb.settings()
  const view = await viewAs(kb, { audience: 'curator' })
  const pages = view.rows((sql) => neuronsInOrder(sql)).filter((page) => isPastDate(page, verify, now))
  return [...new Set(pages.flatMap((page) => ownersOfPage(page, deciding?.owners ?? [])))]
}

/** Its id is made of what it tells, not of the event's, which a restore of the state gives out anew. `of`: what tells it from others of its kind. */
function noticeTo(
  { id: userId, notices }: User,
  about: Pick<StoredNotice, 'tenantId' | 'kbId' | 'kind' | 'candidateId' | 'decision'>,
  { dueAt, isDigest, of }: { dueAt: string; isDigest: boolean; of: string },
): StoredNotice[] {
  const parts = JSON.stringify([about.kbId, about.kind, about.candidateId, about.decision, of, userId])
  const id = createHash('sha256').update(parts).digest('hex').slice(0, 32)
  const row = { id, userId, ...about, isDigest: Number(isDigest), failures: 0, dueAt }
  return notices === 'off' ? [] : [{ ...row, at: row.dueAt }]
}

/** Undefined where the knowledge base is gone, disabled or damaged. What passes is thrown, to be tried again. */
export async function inKb<Result>(
  ctx: Pick<Context, 'kb' | 'onError'>,
  tenantId: string,
  kbId: string,
  work: (kb: KnowledgeBase) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await inUse(async () => work(await ctx.kb(tenantId, kbId)))
  } catch (error) {
    if (isPassing(error)) throw error
    if (!(error instanceof GanglionError)) ctx.onError(error)
    return undefined
  }
}
