import type { Context } from '../../kb/context.ts'
import { timeOfBundle } from '../../kb/projection/candidate-queue.ts'
import type { StoredNotice } from '../../state/notices.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import { type ObservedWork, observed } from '../../system/work.ts'
import { nextAttempt } from '../webhooks/retry-schedule.ts'
import type { SendMail } from './mail-server.ts'
import { makeNotices, nextDigest, noticesNow } from './make-notices.ts'
import { isOfWaiting, type PersonalNotice } from './notices-of.ts'
import { stopUrlOf } from './stop-link.ts'

/** Options. `failed`: called for abandoned mails. `maxHourly`: maximum mails to a person; others wait for the digest. */
export type NoticeOptions = { send: SendMail; failed: (message: string) => void; maxHourly?: number }

const intervalMs = 5_000
const atOnce = 10_000
/** Maximum items that a digest lists one by one. */
const maxItems = 50
/** Minimum attempts, within eight hours: after an outage, a server first retries mails that are three days old. */
const leastAttempts = 8

/** Sends mails about notices. @returns a function that stops it and waits for the mail in progress */
export function startNotices(ctx: Context, options: NoticeOptions): () => Promise<void> {
  const stopping = new AbortController()
  const work = coalesce(() => sendNotices(ctx, options, stopping.signal).catch(ctx.onError))
  const timer = setInterval(work, intervalMs)
  return async () => {
    stopping.abort()
    clearInterval(timer)
    await work()
  }
}

/**
 * Creates notices for new events, and sends those that are due: one per mail, those about one push in one, or all of a person's digest. A notice
 * is kept until the mail server accepts or finally rejects it. A mail that is repeated after a crash has the same `Message-ID`.
 */
export async function sendNotices(ctx: Context, options: NoticeOptions, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  await makeNotices(ctx)
  const due = await ctx.notices.due(ctx.now(), atOnce)
  const mails = Map.groupBy(due, mailOf)
  for (const mail of mails.values()) {
    if (signal?.aborted) return
    const isTaking = await sendMail(ctx, options, mail).catch(ctx.onError)
    if (isTaking === false) return
  }
}

/** Returns the key of the mail to which a notice belongs. */
function mailOf({ id, isDigest, userId, tenantId, kbId, kind, candidateId, decision }: StoredNotice): string {
  if (isDigest) return `${userId} ${tenantId}`
  return candidateId === null ? id : [userId, kbId, kind, decision, timeOfBundle(candidateId)].join(' ')
}

/** Sends one mail. @returns false if the mail server accepts none now */
async function sendMail(ctx: Context, options: NoticeOptions, all: readonly StoredNotice[]): Promise<boolean> {
  const { notices, mailCounter, now, urls } = ctx
  const [first, ids, found] = [all[0], all.map(({ id }) => id), [] as PersonalNotice[]]
  if (first === undefined) return true
  const putOff = () => notices.change(ids, { isDigest: 1, dueAt: nextDigest(now()) }).then(() => true)
  const { points } = await mailCounter.read(first.userId)
  // Half of the limit is reserved for people's actions.
  const maxHourly = (options.maxHourly ?? 20) / (isOfWaiting(first) ? 2 : 1)
  if (first.isDigest === 0 && points >= maxHourly) return putOff()
  let looked = 0
  for (const { userId, tenantId, kbId, kind, candidateId, decision } of all) {
    if (found.length === maxItems) break
    const told = await noticesNow(ctx, { tenantId, kbId, kind, candidateId, decision })
    found.push(...told.filter(({ user }) => user.id === userId && user.notices !== 'off'))
    looked++
  }
  const [notice] = found
  if (notice === undefined) return notices.remove(ids).then(() => true)
  const { user, subject } = notice
  if (first.isDigest === 0 && user.notices === 'digest') return putOff()
  const more = all.length - looked
  const others = found.length + more - 1
  const about =
    first.isDigest === 0
      ? { subject: others === 0 ? subject : `${subject} and ${others} more`, thread: first.candidateId }
      : { subject: `Ganglion: ${others === 0 ? '1 notice' : `${others + 1} notices`}`, thread: null }
  const links = { stopUrl: await stopUrlOf(ctx, user.id), accountUrl: urls.page('/account#mails') }
  const items = found.map(({ path, ...item }) => ({ ...item, url: urls.page(path) }))
  const work = { kind: 'mail', name: 'send mail', use: 'sent' } as ObservedWork
  const refusal = await observed(work, async () => {
    const answer = await options.send({ id: first.id, to: user.email, ...about, ...links, items, more })
    work.hasFailed = answer !== undefined
    return answer
  })
  if (refusal === undefined) await mailCounter.add(user.id, 1)
  if (refusal === undefined) return notices.remove(ids).then(() => true)
  const failures = first.failures + 1
  const isOver = ({ at, failures }: StoredNotice) =>
    refusal.isFinal || (failures + 1 >= leastAttempts && nextAttempt(failures + 1, at, now()) === undefined)
  const over = all.filter(isOver).map(({ id }) => id)
  const kept = ids.filter((id) => !over.includes(id))
  const dueAt = nextAttempt(failures, null, now())
  if (kept.length > 0 && dueAt) await notices.change(kept, { failures, dueAt: dueAt.toISOString() })
  if (over.length > 0) {
    await notices.remove(over)
    await observed({ ...work, use: 'given-up' }, async () => {})
    options.failed(`A mail to the user ${user.id} is given up after ${failures} attempts: ${refusal.why}.`)
  }
  return !refusal.isOfServer
}
