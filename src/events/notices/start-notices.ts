import { stalePage } from '../../contract/console-paths.ts'
import type { Context } from '../../kb/context.ts'
import { kbLabel } from '../../kb/kb-label.ts'
import { listNeurons } from '../../pages/list-neurons.ts'
import type { User } from '../../state/accounts/users.ts'
import type { StoredNotice } from '../../state/notices.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import { type ObservedWork, observed } from '../../system/work.ts'
import { nextAttempt } from '../webhooks/retry-schedule.ts'
import type { MailItem, SendMail } from './mail-server.ts'
import { inKb, makeNotices, nextDigest } from './make-notices.ts'
import { noticeOf } from './notice-of.ts'
import { stopUrlOf } from './stop-link.ts'

/** `failed`: hears of mails that are given up. `maxHourly`: mails to a person; what is more waits for the digest. */
export type NoticeOptions = { send: SendMail; failed: (message: string) => void; maxHourly?: number }

const intervalMs = 5_000
const atOnce = 500
const maxPages = 20

/** Sends people mails of what concerns them. @returns how to stop it, which waits for the mail that is being sent */
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
 * Makes notices of what has happened, and sends those that are due: one in a mail, or all of a person's digest. Each is kept until the
 * mail server has taken it or never will; what is sent again after a crash has the same `Message-ID`.
 */
export async function sendNotices(ctx: Context, options: NoticeOptions, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  await makeNotices(ctx)
  const due = await ctx.notices.due(ctx.now(), atOnce)
  const mails = Map.groupBy(due, ({ id, isDigest, userId, tenantId }) => (isDigest ? `${userId} ${tenantId}` : id))
  for (const [first, ...others] of mails.values()) {
    if (first === undefined || signal?.aborted || !(await sendMail(ctx, options, first, others))) return
  }
}

/** @returns false where the mail server takes none now */
async function sendMail(
  ctx: Context,
  { send, failed, maxHourly = 20 }: NoticeOptions,
  first: StoredNotice,
  others: readonly StoredNotice[],
): Promise<boolean> {
  const { notices, mailCounter, now } = ctx
  const ids = [first, ...others].map(({ id }) => id)
  const user = await ctx.users.get(first.userId)
  const items: Told[] = []
  for (const notice of [first, ...others])
    items.push(...(user?.disabledAt === null ? await told(ctx, user, notice) : []))
  const [item] = items
  if (user === undefined || user.notices === 'off' || item === undefined) {
    await notices.remove(ids)
    return true
  }
  const isFull = user.notices === 'digest' || (await mailCounter.read(user.id)).points >= maxHourly
  if (first.isDigest === 0 && isFull) {
    await notices.change(ids, { isDigest: 1, dueAt: nextDigest(now()) })
    return true
  }
  const digest = { subject: `Ganglion: ${items.length === 1 ? '1 notice' : `${items.length} notices`}`, thread: null }
  const about = first.isDigest === 0 ? { subject: item.subject, thread: first.candidateId } : digest
  const links = { stopUrl: await stopUrlOf(ctx, user.id), accountUrl: ctx.urls.page('/account#mails') }
  const work = { kind: 'mail', name: 'send mail', use: 'sent' } as ObservedWork
  const refusal = await observed(work, async () => {
    const answer = await send({ ...about, ...links, to: user.email, id: first.id, items })
    work.hasFailed = answer !== undefined
    return answer
  })
  if (refusal === undefined) await mailCounter.add(user.id, 1)
  const failures = first.failures + 1
  const dueAt = refusal?.isFinal === false ? nextAttempt(failures, first.at, now()) : undefined
  if (dueAt !== undefined) await notices.change(ids, { failures, dueAt: dueAt.toISOString() })
  else await notices.remove(ids)
  if (refusal !== undefined && dueAt === undefined) {
    await observed({ ...work, use: 'given-up' }, async () => {})
    failed(`A mail to the user ${user.id} is given up after ${failures} attempts: ${refusal.why}.`)
  }
  return refusal?.isOfServer !== true
}

type Told = MailItem & { subject: string }

/** What a notice tells a person, if they may still know it and it still holds. */
async function told(ctx: Context, { id, name, email }: User, notice: StoredNotice): Promise<Told[]> {
  const { tenantId, kbId } = notice
  const item = await inKb(ctx, tenantId, kbId, async (kb): Promise<Told | undefined> => {
    const { title: kbTitle, slug } = await kbLabel(kb)
    if (notice.kind !== 'pages.stale') {
      const found = await noticeOf(ctx, kb, notice)
      if (found === undefined || !found.people.some((person) => person.id === id)) return undefined
      const { title, did, by, quote } = found
      const url = ctx.urls.candidate(notice.candidateId ?? '')
      return { subject: `[${kbTitle}] ${title}`, text: `“${title}” ${did} (${by}, ${kbTitle})`, quote, url }
    }
    if (!(await ctx.users.curators(tenantId)).some((curator) => curator.id === id)) return undefined
    const caller = { id: `user:${id}`, name, tenantId, role: 'curator', connectors: [] } as const
    const { neurons } = await listNeurons(ctx, caller, kbId, { stale: true, owner: email, limit: maxPages })
    if (neurons.length === 0) return undefined
    const text = `Pages that you answer for are past their date (${kbTitle})`
    return {
      subject: text,
      text,
      quote: neurons.map(({ title }) => title).join('\n'),
      url: ctx.urls.page(stalePage(slug)),
    }
  })
  return item === undefined ? [] : [item]
}
