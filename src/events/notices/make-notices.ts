import { createHash } from 'node:crypto'
import { Cron } from 'croner'
import { GanglionError } from '../../contract/errors.ts'
import { utcDay } from '../../contract/moment.ts'
import type { Context } from '../../kb/context.ts'
import { isPassing } from '../../kb/failure.ts'
import type { NoticeCursor, StoredNotice } from '../../state/notices.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { type NoticeCause, noticesOf, type PersonalNotice } from './notices-of.ts'

const pageSize = 200
/** Maximum age of events to mail, since mails may have been disabled for a while. */
const newsMs = 3 * 86_400_000
const digests = new Cron('0 6 * * *', { timezone: 'UTC', paused: true })
const reminders = new Cron('0 6 * * 1', { timezone: 'UTC', paused: true })

export function nextDigest(now: Date): string {
  return digests.nextRun(now)?.toISOString() ?? now.toISOString()
}

/**
 * Creates notices for new events of each tenant. Notices and the cursor of events are stored together, so that a crash neither loses a
 * notice nor creates it twice.
 */
export async function makeNotices(ctx: Context): Promise<void> {
  const remindedOn = reminders.previousRuns(1, ctx.now()).map(utcDay).join()
  for (const { last, ...cursor } of await ctx.notices.behind(remindedOn)) {
    await makeSome(ctx, cursor, { last, remindedOn }).catch(ctx.onError)
  }
}

async function makeSome(ctx: Context, from: NoticeCursor, { last, remindedOn }: { last: number; remindedOn: string }) {
  const { tenantId } = from
  // True without earlier notices, or if the event is still to come because a backup was restored.
  const isLost = from.event < 0 || from.event > last
  const page = isLost ? [] : await ctx.events.after(tenantId, from.event, pageSize)
  const made: StoredNotice[] = []
  for (const { kind, kbId, at, data, candidate } of page) {
    if (!kind.startsWith('candidate.') || Date.parse(at) < ctx.now().getTime() - newsMs) continue
    const told = { kind, candidateId: data.candidateId ?? null, decision: candidate?.decision ?? null }
    made.push(...(await keptOf(ctx, { tenantId, kbId, ...told }, new Date(at))))
  }
  const isWhole = page.length < pageSize
  const isDue = isWhole && !isLost && from.remindedOn < remindedOn
  for (const { id: kbId } of isDue ? await ctx.knowledgeBases.list(tenantId) : [])
    made.push(
      ...(await keptOf(ctx, { tenantId, kbId, kind: 'pages.stale', candidateId: null, decision: null }, ctx.now())),
    )
  // The log leaves out events of a knowledge base that is not served.
  const event = Math.max(page.at(-1)?.id ?? 0, isWhole ? last : 0)
  const to = { tenantId, event, remindedOn: isWhole ? remindedOn : from.remindedOn }
  if ((await ctx.notices.advance(from, to, made)) && !isWhole) await makeSome(ctx, to, { last, remindedOn })
}

type CauseInKb = NoticeCause & Pick<StoredNotice, 'tenantId' | 'kbId'>

/** Returns the notice to store. @param happened time of the event: a digest that was due since then goes out at once */
async function keptOf(ctx: Context, told: CauseInKb, happened: Date): Promise<StoredNotice[]> {
  const [now, isReminder] = [ctx.now(), told.kind === 'pages.stale']
  const at = now.toISOString()
  const users = (await noticesNow(ctx, told)).map(({ user }) => user).filter(({ notices }) => notices !== 'off')
  return users.map(({ id: userId, notices }) => {
    // Leaves out the event's id, since a restored state may assign it again.
    const parts = JSON.stringify([told, userId, isReminder && utcDay(now)])
    const id = createHash('sha256').update(parts).digest('hex').slice(0, 32)
    const isDigest = Number(isReminder || notices === 'digest')
    return {
      id,
      userId,
      ...told,
      isDigest,
      failures: 0,
      at,
      dueAt: notices === 'digest' && !isReminder ? nextDigest(happened) : at,
    }
  })
}

/** Returns the notices for the present state; none if the knowledge base is gone, disabled or damaged. Throws temporary errors, for a retry. */
export async function noticesNow(ctx: Context, { tenantId, kbId, ...told }: CauseInKb): Promise<PersonalNotice[]> {
  try {
    return await inUse(async () => noticesOf(ctx, await ctx.kb(tenantId, kbId), told))
  } catch (error) {
    if (isPassing(error)) throw error
    if (!(error instanceof GanglionError)) ctx.onError(error)
    return []
  }
}
