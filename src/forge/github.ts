import { z } from 'zod'
import {
  type AdapterOptions,
  byTime,
  checkName,
  githubOperations,
  Ignored,
  isHmacOf,
  numberIn,
  remarksOfChanged,
  withoutEnd,
} from './adapter-helpers.ts'
import {
  type Delivery,
  type Forge,
  type ForgeAccount,
  ForgeError,
  type PullRequest,
  type Remark,
  type Report,
} from './forge-adapter.ts'
import { ForgeHttp } from './forge-http.ts'
import { githubAuth } from './github-auth.ts'

/** Fields that are read from GitHub's answers; see the description of the REST API, version 2022-11-28. */
const User = z.object({ login: z.string() })

/** Visibility of a repository. `private` is also true for `visibility: internal`, which all members of an enterprise can read. */
export const GithubRepository = z.object({ private: z.boolean(), visibility: z.string().optional() })

export const GithubPull = z.object({
  number: z.number().int(),
  html_url: z.string(),
  /** State: `open` or `closed`. The API description declares plain text for lists. */
  state: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  user: User.nullable(),
  labels: z.array(z.object({ name: z.string() })),
  draft: z.boolean().optional(),
  updated_at: z.string(),
  merged_at: z.string().nullable(),
  merged_by: User.nullish(),
  merge_commit_sha: z.string().nullish(),
  /** Source branch. `repo` is null if the fork was deleted. */
  head: z.object({ ref: z.string(), sha: z.string(), repo: z.object({ full_name: z.string() }).nullable() }),
  base: z.object({ ref: z.string(), repo: z.object({ full_name: z.string() }) }),
})

const GithubCommit = z.object({ sha: z.string() })

const Said = z.object({
  id: z.number().int(),
  html_url: z.string(),
  body: z.string().optional(),
  user: User.nullable(),
  created_at: z.string(),
})
export type Said = z.output<typeof Said>

export const IssueComment = Said.extend({ issue_url: z.string() })

export const GithubReviewComment = Said.extend({ pull_request_url: z.string() })

/** Review of a pull request. `submitted_at` is absent while it is a draft that only its author sees. */
export const GithubReview = Said.omit({ created_at: true }).extend({ submitted_at: z.string().optional() })

/** Returns an account. GitHub shows `ghost` for a deleted one. */
function githubAccount(user: z.output<typeof User> | null | undefined): ForgeAccount {
  const login = user?.login ?? 'ghost'
  return { id: login, name: login }
}

/**
 * Milliseconds between writing requests, as GitHub asks for: docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
const writePauseMs = 1_000

export function openGithub(options: AdapterOptions): Forge {
  const { url } = options
  const [owner = '', repo = ''] = new URL(url).pathname.split('/').slice(1)
  const context = {
    ...{ now: options.now, timeoutMs: options.timeoutMs },
    apiUrl: withoutEnd(options.apiUrl ?? apiOf(url)),
    headers: {
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': 'Ganglion',
    },
    ...{ owner, repo },
  }
  const auth = githubAuth(options.credential, context)
  const http = new ForgeHttp({
    ...context,
    writePauseMs: options.writePauseMs ?? writePauseMs,
    authorize: async () => ({ authorization: `Bearer ${await auth.token()}` }),
    onRefused: () => auth.forget(),
  })
  const base = `/repos/${owner}/${repo}`
  const setState = async (number: number, state: 'open' | 'closed') => {
    const { state: now } = toPull(await http.send('PATCH', `${base}/pulls/${number}`, { state }, GithubPull))
    if ((now === 'open') !== (state === 'open'))
      throw new ForgeError('conflict', `the pull request ${number} stays ${now}`)
  }
  const addLabels = async (number: number, labels: readonly string[]) => {
    if (labels.length > 0) await http.send('POST', `${base}/issues/${number}/labels`, { labels }, Ignored)
  }
  const reviewsOf = async (number: number) => {
    const reviews = await http.list(`${base}/pulls/${number}/reviews?per_page=100`, GithubReview)
    return reviews.flatMap(({ submitted_at: at, ...review }) =>
      at === undefined || !review.body?.trim() ? [] : [remarkOf('review', number, { ...review, created_at: at })],
    )
  }

  const shared = githubOperations(http, base)

  return {
    ...shared,
    kind: 'github',
    limits: { title: 256, body: 65_536, remark: 65_536, findings: 50 },
    showsSummary: auth.isApp,
    who: () => auth.who(http),
    access: async () => {
      return { url: `${withoutEnd(url)}.git`, username: 'x-access-token', password: await auth.token() }
    },
    isPublic: async () => {
      const { private: isPrivate, visibility } = await http.get(base, GithubRepository)
      return !isPrivate || visibility === 'internal'
    },
    openPulls: async () => {
      const pulls = await http.list(`${base}/pulls?state=open&sort=created&direction=asc&per_page=100`, GithubPull)
      return pulls.map(toPull)
    },
    recentlyMerged: async (into, since) => {
      const query = new URLSearchParams({ state: 'closed', base: into, sort: 'updated', direction: 'desc' })
      const isBefore = (pull: z.output<typeof GithubPull>) => pull.updated_at < since
      const closed = await http.list(`${base}/pulls?${query}&per_page=100`, GithubPull, isBefore)
      return closed.map(toPull).filter(({ state }) => state === 'merged')
    },
    pull: async (number) => toPull(await http.get(`${base}/pulls/${number}`, GithubPull)),
    pullOfBranch: async (branch, into) => {
      const query = new URLSearchParams({ state: 'all', head: `${owner}:${branch}`, base: into, direction: 'desc' })
      const pulls = (await http.list(`${base}/pulls?${query}`, GithubPull)).map(toPull)
      return pulls.find((pull) => pull.isOwnBranch && pull.branch === branch && pull.base === into)
    },
    open: async ({ branch, isDraft, labels, base: into, title, body }) => {
      const sent = { head: branch, base: into, title, body }
      const openAs = async (draft: boolean) =>
        toPull(await http.send('POST', `${base}/pulls`, { ...sent, draft }, GithubPull))
      const pull = await openAs(isDraft).catch((error: unknown) => {
        // Private repositories of some plans have no drafts.
        if (!isDraft || !(error instanceof ForgeError && /draft/i.test(error.message))) throw error
        return openAs(false)
      })
      const wanted = isDraft && !pull.isDraft ? [...labels, 'draft'] : labels
      await addLabels(pull.number, wanted)
      return { ...pull, labels: [...new Set([...pull.labels, ...wanted])] }
    },
    update: async (number, { labels = [], ...texts }) => {
      if (Object.keys(texts).length > 0) await http.send('PATCH', `${base}/pulls/${number}`, texts, Ignored)
      await addLabels(number, labels)
    },
    close: (number) => setState(number, 'closed'),
    reopen: (number) => setState(number, 'open'),
    comment: async (number, text) => {
      return issueRemark(await http.send('POST', `${base}/issues/${number}/comments`, { body: text }, IssueComment))
    },
    commitsOf: async (number) =>
      (await http.list(`${base}/pulls/${number}/commits?per_page=100`, GithubCommit)).map(({ sha }) => sha),
    remarksOf: async (number) => {
      const comments = await http.list(`${base}/issues/${number}/comments?per_page=100`, IssueComment)
      const inline = await http.list(`${base}/pulls/${number}/comments?per_page=100`, GithubReviewComment)
      return byTime([...comments.map(issueRemark), ...inline.map(lineRemark), ...(await reviewsOf(number))])
    },
    remarksSince: async (since, pulls) => {
      const query = new URLSearchParams({ sort: 'created', direction: 'asc', per_page: '100' })
      if (since !== undefined) query.set('since', since)
      const comments = await http.list(`${base}/issues/comments?${query}`, IssueComment)
      const inline = await http.list(`${base}/pulls/comments?${query}`, GithubReviewComment)
      // Reviews can be listed for one pull request only.
      const reviews = await remarksOfChanged(pulls, since, ({ number }) => reviewsOf(number))
      return byTime([...comments.map(issueRemark), ...inline.map(lineRemark), ...reviews])
    },
    report: async (report) => {
      // Only an App may create check runs; other credentials create a status, which has no findings.
      if (auth.isApp) await http.send('POST', `${base}/check-runs`, checkRunOf(report), Ignored)
      else await shared.report(report)
    },
  }
}

/** True if a delivery is signed with a webhook's secret. Compares in constant time. */
export function isGithubDelivery(secret: string, { headers, body }: Delivery): boolean {
  const signature = headers['x-hub-signature-256']
  return isHmacOf(secret, body, typeof signature === 'string' ? signature.replace(/^sha256=/, '') : undefined)
}

function apiOf(url: string): string {
  const { origin, hostname } = new URL(url)
  return hostname === 'github.com' ? 'https://api.github.com' : `${origin}/api/v3`
}

function toPull(pull: z.output<typeof GithubPull>): PullRequest {
  const { head, base, merged_at: mergedAt, merged_by: mergedBy, merge_commit_sha: mergeCommit } = pull
  const state = mergedAt !== null ? 'merged' : pull.state === 'open' ? 'open' : 'closed'
  return {
    ...{ number: pull.number, url: pull.html_url, state, title: pull.title, body: pull.body ?? '' },
    ...{ branch: head.ref, isOwnBranch: head.repo?.full_name === base.repo.full_name, head: head.sha, base: base.ref },
    ...{ author: githubAccount(pull.user), labels: pull.labels.map(({ name }) => name), isDraft: pull.draft === true },
    updatedAt: pull.updated_at,
    ...(state === 'merged' && mergedBy ? { mergedBy: githubAccount(mergedBy) } : {}),
    // Before the merge, this field is the commit of a test merge.
    ...(state === 'merged' && mergeCommit ? { mergeCommit } : {}),
  }
}

function remarkOf(sort: string, number: number, { id, html_url: url, body, user, created_at: at }: Said): Remark {
  return { id: `${sort}:${id}`, number, author: githubAccount(user), text: body ?? '', at, url }
}

function issueRemark(comment: z.output<typeof IssueComment>): Remark {
  return remarkOf('comment', numberIn(comment.issue_url), comment)
}

function lineRemark(comment: z.output<typeof GithubReviewComment>): Remark {
  return remarkOf('line', numberIn(comment.pull_request_url), comment)
}

function checkRunOf({ head, outcome, title, summary, findings, url }: Report) {
  const conclusion = { passed: 'success', failed: 'failure', waiting: 'neutral', blocked: 'action_required' }[outcome]
  const annotations = findings.map(({ path, line, severity, message }) => ({
    ...{ path, start_line: line, end_line: line, message },
    annotation_level: severity === 'error' ? 'failure' : 'warning',
  }))
  return {
    ...{ name: checkName, head_sha: head, status: 'completed', conclusion },
    ...(url === undefined ? {} : { details_url: url }),
    output: { title, summary, annotations },
  }
}
