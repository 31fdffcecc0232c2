import { hash } from 'node:crypto'
import { Signer } from '@fastify/cookie'
import { v7 as uuidv7 } from 'uuid'
import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import { isUuid } from '../rules/candidates/candidate-id.ts'
import type { Site } from '../state/sites.ts'

/** Page that uses a site, identified by headers of its requests. */
export type VisitingPage = { origin: string | undefined; fetchSite: string | undefined }

/** Milliseconds for which a token is valid, and for which it can be exchanged for a new one. */
const tokenAge = 30 * 60_000
const visitAge = 24 * 60 * 60_000
const dayMs = 24 * 60 * 60_000

/**
 * Returns a site if the page may use it: from one of its origins, or the console's preview.
 * @throws {GanglionError} `not_found`, `site_disabled`, `foreign_origin`
 */
export async function openSite({ sites }: Pick<Context, 'sites'>, id: string, page: VisitingPage): Promise<Site> {
  const site = isUuid(id) ? await sites.find(id) : undefined
  if (site === undefined) throw new GanglionError('not_found')
  if (site.disabledAt !== null) throw new GanglionError('site_disabled')
  const isAllowed = page.fetchSite === 'same-origin' || site.origins.includes(page.origin ?? '')
  if (!isAllowed) throw new GanglionError('foreign_origin', 'The address of this page is not among those of the site.')
  return site
}

/** Returns a token for a visitor of a page with this origin: a new visitor, or that of an earlier token. */
export function visitorToken(
  site: Site,
  { origin }: VisitingPage,
  now: Date,
  earlier?: string,
): { token: string; expiresAt: string } {
  const known = earlier === undefined ? undefined : readToken(site, earlier)
  const isKnown = known !== undefined && known.issuedAt > now.getTime() - visitAge
  const value = [isKnown ? known.visitor : uuidv7(), now.getTime(), digestOf(origin)].join('.')
  return { token: new Signer(site.secret).sign(value), expiresAt: new Date(now.getTime() + tokenAge).toISOString() }
}

/** Returns the visitor of a token. Visitors see public pages, and their input waits for a curator. @throws {GanglionError} `invalid_token` */
export function visitorOf(site: Site, { origin }: VisitingPage, now: Date, token: string | undefined): Caller {
  const known = token === undefined ? undefined : readToken(site, token)
  const isGood = known !== undefined && known.issuedAt > now.getTime() - tokenAge && known.digest === digestOf(origin)
  if (!isGood) throw new GanglionError('invalid_token')
  const { id, name, tenantId } = { ...site, id: `visitor:${known.visitor}` }
  return { id, name: `Visitor of ${name}`, tenantId, role: 'reader', audience: 'public', connectors: [] }
}

/** Counts a question. @returns why it is rejected, and the seconds until it would be accepted; undefined if it is accepted */
export async function questionRefusal(
  { sites, requestCounter, now }: Pick<Context, 'sites' | 'requestCounter' | 'now'>,
  site: Site,
  visitor: Caller,
): Promise<{ message: string; seconds: number } | undefined> {
  const { points, endsIn } = await requestCounter.add(`site ${site.id} ${visitor.id}`, 1)
  const seconds = Math.max(1, Math.ceil(endsIn / 1000))
  if (points > site.perMinute) return { message: `Too many questions; try again in ${seconds} s.`, seconds }
  const time = now()
  if (await sites.count(site.id, time)) return undefined
  const untilTomorrow = Math.ceil((dayMs - (time.getTime() % dayMs)) / 1000)
  return { message: 'The questions of today are used up; try again tomorrow.', seconds: untilTomorrow }
}

function readToken(site: Site, token: string): { visitor: string; issuedAt: number; digest: string } | undefined {
  const { valid, value } = new Signer(site.secret).unsign(token)
  const [visitor = '', issuedAt, digest = ''] = valid ? (value ?? '').split('.') : []
  return visitor === '' ? undefined : { visitor, issuedAt: Number(issuedAt), digest }
}

function digestOf(origin = ''): string {
  return hash('sha256', origin).slice(0, 16)
}
