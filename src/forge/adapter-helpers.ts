import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { type Forge, ForgeError, isForgeError, type PullRequest, type Remark } from './forge-adapter.ts'
import type { ForgeHttp, ForgeHttpTiming } from './forge-http.ts'

/** Credential of a forge: a token, or an App's id and its private key as PEM. */
export type ForgeCredential = { token: string } | { appId: string; privateKey: string }

export type AdapterOptions = ForgeHttpTiming & {
  /** URL of the repository's web page, without `.git`: `https://github.com/acme/handbook`. */
  url: string
  /** URL of the API, if it is not the usual one of that forge. */
  apiUrl?: string | undefined
  credential: ForgeCredential
}

export function withoutEnd(url: string): string {
  return url.replace(/\/+$/, '')
}

/** Schema of a time, which some forges send with the offset of their time zone. Converts it to ISO 8601 in UTC. */
export const Time = z
  .string()
  .pipe(z.coerce.date())
  .transform((at) => at.toISOString())

/** Schema for answers whose content is not used. */
export const Ignored = z.unknown()

/** Marker of drafts in a forge's titles: the prefix to write, and all forms that the forge recognizes. */
export type DraftMark = { prefix: string; known: RegExp }

/** Sorts remarks in place, oldest first. */
export function byTime(remarks: Remark[]): Remark[] {
  return remarks.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** Returns the forge's own id of a comment, from {@link Remark.id}. */
export function commentNumber(id: string): number {
  return Number(id.slice(id.indexOf(':') + 1))
}

export function numberIn(url: string): number {
  return Number(url.slice(url.lastIndexOf('/') + 1))
}

/** Adds or removes the draft marker of a title. A title that only looks like a draft's loses that part. */
export function markedTitle(title: string, isDraft: boolean, { prefix, known }: DraftMark): string {
  return `${isDraft ? prefix : ''}${title.replace(known, '')}`
}

export function plainTitle(title: string, isDraft: boolean, { known }: DraftMark): string {
  return isDraft ? title.replace(known, '') : title
}

/** True if a header contains the HMAC-SHA-256 of a body in hexadecimal digits. Compares in constant time. */
export function isHmacOf(secret: string, body: Buffer, header: string | string[] | undefined): boolean {
  const expected = createHmac('sha256', secret).update(body).digest()
  const given = Buffer.from(typeof header === 'string' && /^[0-9a-f]{64}$/.test(header) ? header : '', 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Returns the token of a credential. @param forge its name, for people @throws {ForgeError} `refused` for an App, which only GitHub has */
export function tokenOf(credential: ForgeCredential, forge: string): string {
  if ('token' in credential) return credential.token
  throw new ForgeError('refused', `${forge} has no Apps: it takes a token`)
}

/** Returns the remarks on all pull requests that changed since a time, by one list request for each. */
export async function remarksOfChanged(
  pulls: readonly PullRequest[],
  since: string | undefined,
  remarksOf: (pull: PullRequest) => Promise<Remark[]>,
): Promise<Remark[]> {
  const remarks: Remark[] = []
  for (const pull of pulls) {
    if (since === undefined || pull.updatedAt >= since) remarks.push(...(await remarksOf(pull)))
  }
  return remarks
}

/** Name of the bridge's checks on a forge. */
export const checkName = 'Ganglion'
/** Maximum characters of a commit status's description, which forges show on one line. */
const maxStatus = 140
/** States of a commit status by outcome. Waiting for a reviewer is no failure; `pending` blocks a merge that main would reject. */
const stateOf = { passed: 'success', failed: 'failure', waiting: 'success', blocked: 'pending' }

/** Operations that have the same requests in the APIs of GitHub and Gitea. */
export function githubOperations(http: ForgeHttp, base: string) {
  return {
    mayClose: async (login) => {
      const path = `${base}/collaborators/${encodeURIComponent(login)}/permission`
      const { permission } = await http.get(path, Permission).catch(noPermission)
      return ['write', 'admin', 'owner'].includes(permission)
    },
    editComment: async (_number, id, body) => {
      await http.send('PATCH', `${base}/issues/comments/${commentNumber(id)}`, { body }, Ignored)
    },
    requestReviews: async (number, reviewers) => {
      await http.send('POST', `${base}/pulls/${number}/requested_reviewers`, { reviewers }, Ignored)
    },
    report: async ({ head, outcome, title, url }) => {
      const status = { state: stateOf[outcome], context: checkName, description: title.slice(0, maxStatus) }
      const sent = url === undefined ? status : { ...status, target_url: url }
      await http.send('POST', `${base}/statuses/${head}`, sent, Ignored)
    },
    headRef: (number) => `refs/pull/${number}/head`,
  } satisfies Partial<Forge>
}

const Permission = z.object({ permission: z.string() })

/** Returns no permission for an account that the repository does not know, or that our account may not ask about. */
function noPermission(error: unknown): { permission: string } {
  if (!isForgeError(error, 'gone', 'refused')) throw error
  return { permission: 'none' }
}
