import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import {
  type AdapterOptions,
  byTime,
  checkName,
  commentNumber,
  type DraftMark,
  Ignored,
  markedTitle,
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
  type PullRequest,
  type Remark,
  type Report,
} from './forge-adapter.ts'
import { ForgeHttp } from './forge-http.ts'

export const GitlabUser = z.object({ username: z.string(), name: z.string() })

export const GitlabProject = z.object({ visibility: z.string() })

export const MergeRequest = z.object({
  iid: z.number().int(),
  web_url: z.string(),
  /** State: `opened`, `closed`, `merged`, or `locked` while it is being merged. */
  state: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  author: GitlabUser.nullish(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])).nullish(),
  draft: z.boolean().nullish(),
  updated_at: Time,
  source_branch: z.string(),
  target_branch: z.string(),
  /** Id of the source project. Absent if the fork was deleted. */
  source_project_id: z.number().int().nullish(),
  target_project_id: z.number().int(),
  /** Head commit. Absent if the branch has no commit of its own. */
  sha: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  squash_commit_sha: z.string().nullish(),
  /** Account that merged. Since GitLab 14.7; `merged_by` is the earlier name. */
  merge_user: GitlabUser.nullish(),
  merged_by: GitlabUser.nullish(),
})

const Reviewers = z.object({ reviewers: z.array(z.object({ id: z.number().int() })).nullish() })

const GitlabCommit = z.object({ id: z.string() })

const Member = z.object({ id: z.number().int(), username: z.string(), access_level: z.number().int() })

export const GitlabNote = z.object({
  id: z.number().int(),
  body: z.string(),
  author: GitlabUser.nullish(),
  created_at: Time,
  /** True for notes that GitLab wrote itself, about a push or a label. */
  system: z.boolean(),
  /** True if only members of the project may read it. */
  internal: z.boolean().nullish(),
})

/** Returns an account. GitLab shows `ghost` for a deleted one. */
function gitlabAccount(user: z.output<typeof GitlabUser> | null | undefined): ForgeAccount {
  const id = user?.username ?? 'ghost'
  return { id, name: user?.name || id }
}

const draftMark: DraftMark = { prefix: 'Draft: ', known: /^\s*(?:(?:draft:|\[draft\]|\(draft\))\s*)+/i }
/** Maximum length of a title without the draft prefix. */
const maxTitle = 255 - draftMark.prefix.length
/** Lowest access level that may push. */
const developer = 30
/** Maximum characters of a commit status's description, and of its URL. */
const maxStatus = 255
/** Prefix of a signing token; the rest is the key in base64. */
const signingPrefix = 'whsec_'

/** Opens a project on gitlab.com, or on a self-managed GitLab. */
export function openGitlab(options: AdapterOptions): Forge {
  const token = tokenOf(options.credential, 'GitLab')
  const url = withoutEnd(options.url)
  const apiUrl = withoutEnd(options.apiUrl ?? `${new URL(url).origin}/api/v4`)
  const http = new ForgeHttp({
    ...options,
    apiUrl,
    headers: { accept: 'application/json', 'user-agent': 'Ganglion' },
    authorize: async () => ({ 'private-token': token }),
  })
  const project = `/projects/${encodeURIComponent(projectPath(url, apiUrl))}`
  const base = `${project}/merge_requests`
  const list = async (query: Record<string, string>) => {
    const all = await http.list(`${base}?${new URLSearchParams({ ...query, per_page: '100' })}`, MergeRequest)
    return all.map(toPull)
  }
  const pullAt = async (number: number) => toPull(await http.get(`${base}/${number}`, MergeRequest))
  const edit = async (number: number, changes: Record<string, string>) =>
    toPull(await http.send('PUT', `${base}/${number}`, changes, MergeRequest))
  const setState = async (number: number, event: 'close' | 'reopen') => {
    const { state } = await edit(number, { state_event: event })
    if (state !== (event === 'close' ? 'closed' : 'open'))
      throw new ForgeError('conflict', `the merge request ${number} stays ${state}`)
  }
  const membersLike = (login: string) =>
    http.list(`${project}/members/all?${new URLSearchParams({ query: login, per_page: '100' })}`, Member)
  const notesOf = async ({ number, url: page }: Pick<PullRequest, 'number' | 'url'>) => {
    const notes = await http.list(`${base}/${number}/notes?sort=asc&order_by=created_at&per_page=100`, GitlabNote)
    return notes
      .filter(({ system, internal }) => !system && internal !== true)
      .map((note) => remarkOf(number, page, note))
  }
  const pageOf = (number: number) => `${url}/-/merge_requests/${number}`

  return {
    kind: 'gitlab',
    limits: { title: maxTitle, body: 500_000, remark: 500_000, findings: 0 },
    showsSummary: false,
    who: async () => gitlabAccount(await http.get('/user', GitlabUser)),
    access: async () => ({ url: `${url}.git`, username: 'oauth2', password: token }),
    isPublic: async () => (await http.get(project, GitlabProject)).visibility !== 'private',
    openPulls: async () => {
      const opened = await list({ state: 'opened', order_by: 'created_at', sort: 'asc' })
      // A merge request without a commit proposes nothing yet.
      return opened.filter(({ head }) => head !== '')
    },
    recentlyMerged: (into, since) => list({ state: 'merged', target_branch: into, updated_after: since }),
    mayClose: async (login) => {
      return (await membersLike(login)).some(
        ({ username, access_level: level }) => username === login && level >= developer,
      )
    },
    pull: pullAt,
    pullOfBranch: async (branch, into) => {
      const wanted = { source_branch: branch, target_branch: into }
      const pulls = await list({ ...wanted, order_by: 'created_at', sort: 'desc' })
      return pulls.find((pull) => pull.isOwnBranch && pull.branch === branch && pull.base === into)
    },
    open: async ({ branch, isDraft, labels, base: into, title, body }) => {
      const named = { source_branch: branch, target_branch: into, title: markedTitle(title, isDraft, draftMark) }
      const sent = { ...named, description: body, labels: labels.join(',') }
      return toPull(await http.send('POST', base, sent, MergeRequest))
    },
    update: async (number, { title, body, labels = [] }) => {
      const isDraft = title !== undefined && (await pullAt(number)).isDraft
      await edit(number, {
        ...(title === undefined ? {} : { title: markedTitle(title, isDraft, draftMark) }),
        ...(body === undefined ? {} : { description: body }),
        ...(labels.length === 0 ? {} : { add_labels: labels.join(',') }),
      })
    },
    close: (number) => setState(number, 'close'),
    reopen: (number) => setState(number, 'reopen'),
    comment: async (number, text) => {
      const note = await http.send('POST', `${base}/${number}/notes`, { body: text }, GitlabNote)
      return remarkOf(number, pageOf(number), note)
    },
    editComment: async (number, id, text) => {
      await http.send('PUT', `${base}/${number}/notes/${commentNumber(id)}`, { body: text }, Ignored)
    },
    commitsOf: async (number) =>
      (await http.list(`${base}/${number}/commits?per_page=100`, GitlabCommit)).map(({ id }) => id),
    requestReviews: async (number, logins) => {
      const ids = (await http.get(`${base}/${number}`, Reviewers)).reviewers?.map(({ id }) => id) ?? []
      for (const login of logins) {
        const id = (await membersLike(login)).find(({ username }) => username === login)?.id
        if (id !== undefined) ids.push(id)
      }
      await http.send('PUT', `${base}/${number}`, { reviewer_ids: [...new Set(ids)] }, Ignored)
    },
    remarksOf: (number) => notesOf({ number, url: pageOf(number) }),
    remarksSince: async (since, pulls) => byTime(await remarksOfChanged(pulls, since, notesOf)),
    report: async (report) => {
      await http.send('POST', `${project}/statuses/${report.head}`, statusOf(report), Ignored)
    },
    headRef: (number) => `refs/merge-requests/${number}/head`,
  }
}

/** Returns the path of a project. A GitLab server may have a path before the project's, which its API then has, too. */
function projectPath(url: string, apiUrl: string): string {
  const root = `${apiUrl.replace(/\/api\/v4$/, '')}/`
  return url.startsWith(root) ? url.slice(root.length) : new URL(url).pathname.slice(1)
}

function toPull(merge: z.output<typeof MergeRequest>): PullRequest {
  const { state, sha, merge_commit_sha: merged, squash_commit_sha: squashed } = merge
  const mergedBy = merge.merge_user ?? merge.merged_by
  const isDraft = merge.draft === true
  // A fast-forward merge has moved the target branch to the head.
  const mergeCommit = merged ?? squashed ?? sha
  return {
    ...{ number: merge.iid, url: merge.web_url, body: merge.description ?? '' },
    state: state === 'merged' ? 'merged' : state === 'closed' ? 'closed' : 'open',
    title: plainTitle(merge.title, isDraft, draftMark),
    ...{ branch: merge.source_branch, isOwnBranch: merge.source_project_id === merge.target_project_id },
    ...{
      head: sha ?? '',
      base: merge.target_branch,
      author: gitlabAccount(merge.author),
      labels: merge.labels ?? [],
      isDraft,
    },
    updatedAt: merge.updated_at,
    ...(state === 'merged' && mergedBy ? { mergedBy: gitlabAccount(mergedBy) } : {}),
    ...(state === 'merged' && mergeCommit ? { mergeCommit } : {}),
  }
}

function remarkOf(
  number: number,
  page: string,
  { id, author, body, created_at: at }: z.output<typeof GitlabNote>,
): Remark {
  return { id: `note:${id}`, number, author: gitlabAccount(author), text: body, at, url: `${page}#note_${id}` }
}

/** States of a commit status by outcome. Waiting is no failure; `pending` blocks a merge if pipelines must succeed. */
const stateOf = { passed: 'success', failed: 'failed', waiting: 'success', blocked: 'pending' }

function statusOf({ outcome, title, url, branch }: Report) {
  return {
    ...{ state: stateOf[outcome], name: checkName, description: title.slice(0, maxStatus) },
    // GitLab otherwise chooses any branch that has the commit, and the merge request may not show the status.
    ref: branch,
    ...(url === undefined || url.length > maxStatus ? {} : { target_url: url }),
  }
}

/**
 * True if a delivery has a webhook's secret. A signing token signs as in the Standard Webhooks specification; any other secret is sent as
 * it is. Old deliveries are accepted, since they only trigger a comparison. Compares in constant time.
 */
export function isGitlabDelivery(secret: string, { headers, body }: Delivery): boolean {
  if (!secret.startsWith(signingPrefix)) return isEqual(secret, textOf(headers['x-gitlab-token']))
  const key = Buffer.from(secret.slice(signingPrefix.length), 'base64')
  const signed = `${textOf(headers['webhook-id'])}.${textOf(headers['webhook-timestamp'])}.`
  const expected = `v1,${createHmac('sha256', key).update(signed).update(body).digest('base64')}`
  const given = textOf(headers['webhook-signature']).split(' ')
  return key.length > 0 && given.filter((signature) => isEqual(expected, signature)).length > 0
}

function isEqual(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => createHash('sha256').update(text).digest())
  return first !== undefined && second !== undefined && timingSafeEqual(first, second)
}

function textOf(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}
