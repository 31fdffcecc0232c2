import { createHmac, timingSafeEqual } from 'node:crypto'
import { GanglionError } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'

/** Query of the link by which a person unsubscribes from mails without signing in. */
export type StopLink = { to: string; signature: string }

export async function stopUrlOf({ users, urls }: Pick<Context, 'users' | 'urls'>, to: string): Promise<string> {
  const signature = signatureOf(to, await users.noticeKey(to))
  return urls.page(`/notices/stop?${new URLSearchParams({ to, signature })}`)
}

const badLink = 'This link stops no mails. Choose “No mails” in your account, or open the link of a newer mail.'

/** Checks the link. @throws {GanglionError} `link_expired` if the signature is wrong, or the person is gone */
export async function requireStopLink({ users }: Pick<Context, 'users'>, { to, signature }: StopLink): Promise<void> {
  const isKnown = (await users.get(to)) !== undefined
  const own = Buffer.from(isKnown ? signatureOf(to, await users.noticeKey(to)) : '')
  const given = Buffer.from(signature)
  if (!isKnown || own.length !== given.length || !timingSafeEqual(own, given))
    throw new GanglionError('link_expired', badLink)
}

function signatureOf(userId: string, key: string): string {
  return createHmac('sha256', key).update(`stop notices ${userId}`).digest('base64url')
}
