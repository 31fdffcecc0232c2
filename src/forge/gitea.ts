import { z } from 'zod'
import {
  type AdapterOptions,
  byTime,
  type DraftMark,
  githubOperations,
  Ignored,
  isHmacOf,
  markedTitle,
  numberIn,
  plainTitle,
  remarksOfChanged,
  Time,
  tokenOf,
  withoutEnd,
} from './adapter-helpers.ts'
import {
  type Delivery,
  type Forge,
  type ForgeAccount,
  ForgeError,
  isForgeError,
  type PullRequest,
  type Remark,
  type Report,
  type ReportedFinding,
  unlessGone,
} from './forge-adapter.ts'
import { ForgeHttp } from './forge-http.ts'

/**
 * Fields that are read from answers of Gitea 1.23 and Forgejo 11. Their API description requires no fields; the needed ones are required
 * here.
 */
export const GiteaUser = z.object({ login: z.string(), full_name: z.string().nullish() })

export const GiteaRepository = z.object({ private: z.boolean() })

const Branch = z.object({
  label: z.string(),
  /** Name of the branch. `refs/pull/7/head` after the branch was deleted. */
  ref: z.string(),
  sha: z.string(),
  repo_id: z.number().int(),
})

export const GiteaPull = z.object({
  number: z.number().int(),
  html_url: z.string(),
  /** State: `open` or `closed`. */
  state: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  user: GiteaUser.nullish(),
  labels: z.array(z.object({ name: z.string() })).nullish(),
  draft: z.boolean().nullish(),
  updated_at: Time,
  merged: z.boolean().nullish(),
  merged_by: GiteaUser.nullish(),
  merge_commit_sha: z.string().nullish(),
  head: Branch,
  base: Branch,
})

const GiteaCommit = z.object({ sha: z.string() })

/** Comment on a pull request, or on a line of it. */
export const Comment = z.object({
  id: z.number().int(),
  html_url: z.string(),
  /** URL of the pull request. Empty for a comment on an issue. */
  pull_request_url: z.string().nullish(),
  body: z.string(),
  user: GiteaUser.nullish(),
  created_at: Time,
})

export const GiteaReview = z.object({
  id: z.number().int(),
  html_url: z.string(),
  body: z.string().nullish(),
  /** State of the review. `PENDING` while it is a draft that only its author sees. */
  state: z.string(),
  user: GiteaUser.nullish(),
  submitted_at: Time,
  comments_count: z.number().int().nullish(),
})

export const GiteaLabel = z.object({ id: z.number().int(), name: z.string() })

/** Returns an account. Gitea shows `Ghost` for a deleted one. */
function giteaAccount(user: z.output<typeof GiteaUser> | null | undefined): ForgeAccount {
  const login = user?.login ?? 'Ghost'
  return { id: login, name: user?.full_name || login }
}

/** Hidden marker at the start of a review with findings. */
const marker = '<!-- ganglion:report -->'

/** Default markers of Gitea, which its operator can change. */
const draftMark: DraftMark = { prefix: 'WIP: ', known: /^\s*(?:(?:WIP:|\[WIP\])\s*)+/i }
/** Maximum length of a title without the draft prefix. */
const maxTitle = 255 - draftMark.prefix.length
/** Maximum items of a page, by Gitea's default limit. */
const pageSize = 50
/** Colour of new labels: grey. */
const labelColour = '#6e7781'

export function openGitea(kind: 'gitea' | 'forgejo', options: AdapterOptions): Forge {
  const token = tokenOf(options.credential, kind === 'gitea' ? 'Gitea' : 'Forgejo')
  const url = withoutEnd(options.url)
  // A server may have a path prefix.
  const [, root = '', path = ''] = /^(.*)\/([^/]+\/[^/]+)$/.exec(url) ?? []
  const http = new ForgeHttp({
    ...options,
    apiUrl: withoutEnd(options.apiUrl ?? `${root}/api/v1`),
    headers: { accept: 'application/json', 'user-agent': 'Ganglion' },
    authorize: async () => ({ authorization: `token ${token}` }),
  })
  const base = `/repos/${path}`
  const openPulls = async () =>
    (await http.list(`${base}/pulls?state=open&sort=oldest&limit=${pageSize}`, GiteaPull)).map(toPull)
  const closed = `${base}/pulls?state=closed&sort=recentupdate&limit=${pageSize}`
  const pullAt = async (number: number) => toPull(await http.get(`${base}/pulls/${number}`, GiteaPull))
  const who = async () => giteaAccount(await http.get('/user', GiteaUser))
  let me: string | undefined
  const edit = async (number: number, changes: { title?: string; body?: string; state?: 'open' | 'closed' }) =>
    toPull(await http.send('PATCH', `${base}/pulls/${number}`, changes, GiteaPull))
  const setState = async (number: number, state: 'open' | 'closed') => {
    const { state: now } = await edit(number, { state })
    if (now !== state) throw new ForgeError('conflict', `the pull request ${number} stays ${now}`)
  }
  const labelIds = async (names: readonly string[]) => {
    const known = names.length === 0 ? [] : await http.list(`${base}/labels?limit=${pageSize}`, GiteaLabel)
    const ids: number[] = []
    for (const name of new Set(names)) {
      const label =
        known.find((each) => each.name === name) ??
        (await http.send('POST', `${base}/labels`, { name, color: labelColour }, GiteaLabel))
      ids.push(label.id)
    }
    return ids
  }
  const reviewsOf = async (number: number) => {
    const remarks: Remark[] = []
    for (const review of await http.list(`${base}/pulls/${number}/reviews?limit=${pageSize}`, GiteaReview)) {
      if (review.state === 'PENDING' || isReport(review.body)) continue
      const { body, submitted_at: created_at } = review
      if (body?.trim()) remarks.push(remarkOf('review', number, { ...review, body, created_at }))
      if (!review.comments_count) continue
      const inline = await http.list(`${base}/pulls/${number}/reviews/${review.id}/comments`, Comment)
      remarks.push(...inline.map((comment) => remarkOf('line', number, comment)))
    }
    return remarks
  }

  const shared = githubOperations(http, base)

  return {
    ...shared,
    kind,
    limits: { title: maxTitle, body: 65_536, remark: 65_536, findings: 50 },
    showsSummary: false,
    who,
    // Any user name is accepted with a token.
    access: async () => ({ url: `${url}.git`, username: 'oauth2', password: token }),
    isPublic: async () => !(await http.get(base, GiteaRepository)).private,
    openPulls,
    pull: pullAt,
    pullOfBranch: async (branch, into) => {
      const path = `${base}/pulls/${encodeURIComponent(into)}/${branch.split('/').map(encodeURIComponent).join('/')}`
      const found = await http.get(path, GiteaPull).then(toPull, unlessGone)
      if (found === undefined || found.state === 'open') return found
      // The endpoint returns an arbitrary one of several, so open and recently closed requests are searched first.
      const recent = (await http.get(closed, GiteaPull.array())).map(toPull)
      const others = [...(await openPulls()), ...recent]
      const same = others.filter((pull) => pull.isOwnBranch && pull.branch === branch && pull.base === into)
      return [found, ...same].reduce((newest, pull) => (pull.number > newest.number ? pull : newest))
    },
    open: async ({ branch, isDraft, labels, base: into, title, body }) => {
      const sent = { head: branch, base: into, title: markedTitle(title, isDraft, draftMark), body }
      const pull = toPull(
        await http.send('POST', `${base}/pulls`, { ...sent, labels: await labelIds(labels) }, GiteaPull),
      )
      if (!isDraft || pull.isDraft) return pull
      // The operator may have configured other draft markers.
      await http.send('POST', `${base}/issues/${pull.number}/labels`, { labels: await labelIds(['draft']) }, Ignored)
      return edit(pull.number, { title: markedTitle(title, false, draftMark) })
    },
    update: async (number, { labels = [], title, ...texts }) => {
      const isDraft = title !== undefined && (await pullAt(number)).isDraft
      const changes = title === undefined ? texts : { ...texts, title: markedTitle(title, isDraft, draftMark) }
      if (Object.keys(changes).length > 0) await edit(number, changes)
      if (labels.length === 0) return
      await http.send('POST', `${base}/issues/${number}/labels`, { labels: await labelIds(labels) }, Ignored)
    },
    recentlyMerged: async (into, since) => {
      const pulls = (await http.list(closed, GiteaPull, (last) => last.updated_at < since)).map(toPull)
      return pulls.filter(({ state, base: of }) => state === 'merged' && of === into)
    },
    close: (number) => setState(number, 'closed'),
    reopen: (number) => setState(number, 'open'),
    comment: async (number, text) => {
      const said = await http.send('POST', `${base}/issues/${number}/comments`, { body: text }, Comment)
      return remarkOf('comment', number, said)
    },
    commitsOf: async (number) => {
      const query = new URLSearchParams({ limit: String(pageSize), verification: 'false', files: 'false' })
      return (await http.list(`${base}/pulls/${number}/commits?${query}`, GiteaCommit)).map(({ sha }) => sha)
    },
    remarksOf: async (number) => {
      const comments = await http.list(`${base}/issues/${number}/comments`, Comment)
      return byTime([...comments.map((each) => remarkOf('comment', number, each)), ...(await reviewsOf(number))])
    },
    remarksSince: async (since, pulls) => {
      const query = new URLSearchParams({ limit: String(pageSize), ...(since === undefined ? {} : { since }) })
      const remarks = (await http.list(`${base}/issues/comments?${query}`, Comment)).flatMap((comment) =>
        comment.pull_request_url ? [remarkOf('comment', numberIn(comment.pull_request_url), comment)] : [],
      )
      // Reviews can be listed for one pull request only.
      remarks.push(...(await remarksOfChanged(pulls, since, ({ number }) => reviewsOf(number))))
      return byTime(remarks)
    },
    report: async (report) => {
      me ??= (await who()).id
      await shared.report(report)
      await replaceReview(http, base, me, report)
    },
  }
}

/** True if a delivery is signed with a webhook's secret. Compares in constant time. */
export function isGiteaDelivery(secret: string, { headers, body }: Delivery): boolean {
  return isHmacOf(secret, body, headers['x-forgejo-signature'] ?? headers['x-gitea-signature'])
}

function toPull(pull: z.output<typeof GiteaPull>): PullRequest {
  const { head, base, merged_by: mergedBy, merge_commit_sha: mergeCommit } = pull
  const isMerged = pull.merged === true
  const isDraft = pull.draft === true
  return {
    ...{ number: pull.number, url: pull.html_url, body: pull.body ?? '' },
    state: isMerged ? 'merged' : pull.state === 'open' ? 'open' : 'closed',
    title: plainTitle(pull.title, isDraft, draftMark),
    ...{ branch: head.label, isOwnBranch: head.repo_id === base.repo_id, head: head.sha, base: base.ref },
    ...{ author: giteaAccount(pull.user), labels: (pull.labels ?? []).map(({ name }) => name), isDraft },
    updatedAt: pull.updated_at,
    ...(isMerged && mergedBy ? { mergedBy: giteaAccount(mergedBy) } : {}),
    ...(isMerged && mergeCommit ? { mergeCommit } : {}),
  }
}

function remarkOf(
  sort: 'comment' | 'line' | 'review',
  number: number,
  { id, html_url: url, body: text, user, created_at: at }: Omit<z.output<typeof Comment>, 'pull_request_url'>,
): Remark {
  return { id: `${sort}:${id}`, number, author: giteaAccount(user), text, at, url }
}

/** True if a review is a report of findings, not a remark. */
function isReport(body: string | null | undefined): boolean {
  return body?.startsWith(marker) === true
}

/**
 * Writes a review with a comment on the line of each finding, which replaces the previous one.
 * @param me the account that writes
 */
async function replaceReview(http: ForgeHttp, base: string, me: string, report: Report): Promise<void> {
  const { number, head, findings } = report
  const reviews = `${base}/pulls/${number}/reviews`
  for (const { id, body, user } of await http.list(`${reviews}?limit=50`, GiteaReview)) {
    // People may quote a report, so its marker alone proves nothing.
    if (isReport(body) && user?.login === me) await http.send('DELETE', `${reviews}/${id}`, undefined, Ignored)
  }
  if (findings.length === 0) return
  const review = { event: 'COMMENT', commit_id: head }
  const comments = findings.map(({ path, line, ...finding }) => ({ path, new_position: line, body: textOf(finding) }))
  try {
    await http.send('POST', reviews, { ...review, body: `${marker}\n${literal(report.title)}`, comments }, Ignored)
  } catch (error) {
    if (!isForgeError(error, 'conflict')) throw error
    // Gitea rejects comments on lines outside of the diff.
    const lines = findings.map(({ path, line, ...finding }) => `- ${literal(`${path}:${line}`)} ${textOf(finding)}`)
    await http.send('POST', reviews, { ...review, body: [marker, ...lines].join('\n') }, Ignored)
  }
}

function textOf({ severity, message }: Pick<ReportedFinding, 'severity' | 'message'>): string {
  return `**${severity}:** ${literal(message)}`
}

/** Returns a code span (CommonMark 6.1), in which nothing is markup or a mention. */
function literal(text: string): string {
  const fence = '`'.repeat(1 + Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length)))
  return `${fence} ${text.replace(/\s+/g, ' ')} ${fence}`
}
