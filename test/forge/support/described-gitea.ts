import { type Asked, type DescribedForge, pageOf, type Routes, startDescribed } from './described-forge.ts'
import { type FakePull, type FakeRemark, type ForgePeople, owner, Refusal, strangers } from './forge-people.ts'

const base = '/repos/{owner}/{repo}'
const repository = 'acme/handbook'
const labels = new WeakMap<ForgePeople, { id: number; name: string }[]>()
const labelsOf = (people: ForgePeople) => labels.get(people) ?? labels.set(people, []).get(people) ?? []

/** Gitea, or Forgejo, as its description has it. */
export function startGitea(kind: 'gitea' | 'forgejo', draftPrefix = 'WIP: '): Promise<DescribedForge> {
  return startDescribed({
    ...{ kind, repository, api: '/api/v1', draftPrefix, hasEtags: false, routes },
    // As a repository is made; a setting changes it.
    seesMerges: false,
    headRef: (number) => `refs/pull/${number}/head`,
    tokenIn: ({ headers }) => headers.authorization?.replace(/^token /, ''),
    // The route ends in a wildcard, which a description cannot tell.
    described: (path) =>
      path.replace(
        /(\/pulls\/(?!\d+\/)[^/]+\/)(.+)$/,
        (_, start: string, branch: string) => start + encodeURIComponent(branch),
      ),
  })
}

const routes: Routes = {
  'GET /user': [200, () => ({ login: owner, full_name: '' })],
  [`GET ${base}`]: [
    200,
    (_, { visibility }) => ({ private: visibility === 'private', internal: visibility === 'internal' }),
  ],
  [`GET ${base}/pulls`]: [
    200,
    ({ query }, people) =>
      page(
        sorted(people, query).map((pull) => shown(people, pull)),
        query,
      ),
  ],
  [`POST ${base}/pulls`]: [
    201,
    ({ sent }, people) => {
      const { head: branch, base: into = '', title, body } = sent as Record<string, string>
      const made = {
        base: into,
        branch: branch ?? '',
        title: title ?? '',
        body: body ?? '',
        labels: namesOf(people, sent.labels),
      }
      return shown(people, people.open(owner, made))
    },
  ],
  [`GET ${base}/pulls/{index}`]: [200, ({ path }, people) => shown(people, people.find(Number(path.index)))],
  [`GET ${base}/pulls/{base}/{head}`]: [
    200,
    ({ path }, people) => {
      const found = people.all.find((pull) => pull.branch === path.head && pull.base === path.base)
      if (found === undefined) throw new Refusal(404, 'Not Found')
      return shown(people, found)
    },
  ],
  [`PATCH ${base}/pulls/{index}`]: [
    201,
    ({ path, sent: { state, ...texts } }, people) => {
      const number = Number(path.index)
      if (state !== undefined) people.setState(number, state === 'open' ? 'open' : 'closed')
      return shown(people, people.change(number, texts))
    },
  ],
  [`GET ${base}/pulls/{index}/reviews`]: [
    200,
    ({ path, query }, people) => page(remarksOf(people, path, 'review').map(reviewShown), query, 'no Link'),
  ],
  [`POST ${base}/pulls/{index}/reviews`]: [
    200,
    ({ path, sent }, people) => {
      const review = people.say(owner, Number(path.index), String(sent.body), 'review')
      for (const line of (sent.comments ?? []) as { path: string; body: string }[])
        review.lines.push({ id: people.newId(), path: line.path, text: line.body })
      return reviewShown(review)
    },
  ],
  [`DELETE ${base}/pulls/{index}/reviews/{id}`]: [
    204,
    ({ path }, { remarks }) => {
      remarks.splice(
        remarks.findIndex(({ id }) => id === Number(path.id)),
        1,
      )
      return null
    },
  ],
  [`GET ${base}/pulls/{index}/reviews/{id}/comments`]: [
    200,
    ({ path }, { remarks }) => {
      const review = remarks.find(({ id }) => id === Number(path.id))
      return (review?.lines ?? []).map(({ id, text }) => {
        const login = review?.author
        return {
          id,
          body: text,
          user: { login },
          created_at: local(review?.at ?? new Date()),
          html_url: `https://x/#c${id}`,
        }
      })
    },
  ],
  [`GET ${base}/issues/comments`]: [
    200,
    ({ query }, { remarks }) => {
      const since = new Date(query.get('since') ?? 0)
      return page(
        remarks.filter(({ sort, at }) => sort === 'comment' && at >= since).map(commentShown),
        query,
        'no Link',
      )
    },
  ],
  [`GET ${base}/issues/{index}/comments`]: [
    200,
    ({ path }, people) => remarksOf(people, path, 'comment').map(commentShown),
  ],
  [`POST ${base}/issues/{index}/comments`]: [
    201,
    ({ path, sent }, people) => commentShown(people.say(owner, Number(path.index), String(sent.body))),
  ],
  [`PATCH ${base}/issues/comments/{id}`]: [
    200,
    ({ path, sent }, people) => commentShown(people.reword(Number(path.id), String(sent.body))),
  ],
  [`GET ${base}/pulls/{index}/commits`]: [
    200,
    ({ path, query }, people) =>
      page(
        people.commitsOf(Number(path.index)).map((sha) => ({ sha })),
        query,
      ),
  ],
  [`POST ${base}/pulls/{index}/requested_reviewers`]: [
    201,
    ({ path, sent }, people) => {
      const pull = people.find(Number(path.index))
      pull.reviewers = [...(pull.reviewers ?? []), ...(sent.reviewers as string[])]
      return []
    },
  ],
  [`POST ${base}/issues/{index}/labels`]: [
    200,
    ({ path, sent }, people) => {
      const pull = people.find(Number(path.index))
      pull.labels = [...new Set([...pull.labels, ...namesOf(people, sent.labels)])]
      return pull.labels.map((name) => ({ name }))
    },
  ],
  [`GET ${base}/collaborators/{collaborator}/permission`]: [
    200,
    ({ path: { collaborator = '' } }) => ({ permission: strangers.has(collaborator) ? 'read' : 'write' }),
  ],
  [`GET ${base}/labels`]: [200, ({ query }, people) => page(labelsOf(people), query)],
  [`POST ${base}/labels`]: [
    201,
    ({ sent }, people) => {
      const label = { id: people.newId(), name: String(sent.name) }
      labelsOf(people).push(label)
      return label
    },
  ],
  [`POST ${base}/statuses/{sha}`]: [
    201,
    ({ path, sent }, { statuses }) => {
      statuses.push({ sha: path.sha ?? '', state: String(sent.state), text: String(sent.description) })
      return { status: sent.state }
    },
  ],
}

function sorted({ all }: ForgePeople, query: URLSearchParams): FakePull[] {
  const state = query.get('state')
  const some = all.filter((pull) => (pull.state === 'open') === (state === 'open'))
  if (query.get('sort') === 'oldest') return some
  return some.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime())
}

/** Some lists tell how many items there are, and not where the next page is. */
function page<Item extends object>(all: readonly Item[], query: URLSearchParams, links?: 'no Link') {
  const size = Math.min(Number(query.get('limit') ?? 30), 50)
  const { page: items, at } = pageOf(all, query, size)
  const next = new URLSearchParams(query)
  next.set('page', String(at + 1))
  const link =
    links === undefined && all.length > at * size
      ? { link: `<https://elsewhere.example.org/?${next}>; rel="next"` }
      : {}
  return { page: items as Record<string, unknown>[], headers: { 'x-total-count': String(all.length), ...link } }
}

function shown(people: ForgePeople, pull: FakePull) {
  const { number, title, body, branch, head, author, mergedBy, mergeCommit } = pull
  return {
    ...{ number, title, body, html_url: `https://gitea.example.org/${repository}/pulls/${number}` },
    ...{
      state: pull.state === 'open' ? 'open' : 'closed',
      merged: pull.state === 'merged',
      draft: people.isDraft(pull),
    },
    ...{ user: { login: author }, labels: pull.labels.map((name) => ({ name })), updated_at: local(pull.updatedAt) },
    ...{ merged_by: mergedBy && { login: mergedBy }, merge_commit_sha: mergeCommit },
    head: { label: branch, ref: pull.state === 'open' ? branch : `refs/pull/${number}/head`, sha: head, repo_id: 1 },
    base: { label: pull.base, ref: pull.base, repo_id: 1 },
  }
}

function commentShown({ id, number, author: login, text, at }: FakeRemark) {
  const page = `https://gitea.example.org/${repository}/pulls/${number}`
  return {
    ...{ id, body: text, user: { login }, created_at: local(at), updated_at: local(at), issue_url: '' },
    ...{ pull_request_url: page, html_url: `${page}#issuecomment-${id}` },
  }
}

function reviewShown({ id, author: login, text, at, lines }: FakeRemark) {
  return { id, body: text, state: 'COMMENT', user: { login }, submitted_at: local(at), comments_count: lines.length }
}

function remarksOf({ remarks }: ForgePeople, { index }: Asked['path'], wanted: FakeRemark['sort']): FakeRemark[] {
  return remarks.filter(({ number, sort }) => number === Number(index) && sort === wanted)
}

function namesOf(people: ForgePeople, ids: unknown): string[] {
  return (Array.isArray(ids) ? ids : []).map((wanted) => {
    const label = labelsOf(people).find(({ id }) => id === wanted)
    if (label === undefined) throw new Refusal(422, 'There is no such label')
    return label.name
  })
}

/** A time as a server in Berlin tells it, to the second. */
function local(at: Date): string {
  return new Date(at.getTime() + 2 * 60 * 60_000).toISOString().replace(/\.\d+Z$/, '+02:00')
}
