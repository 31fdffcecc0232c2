import { type DescribedForge, pageOf, type Routes, startDescribed } from './described-forge.ts'
import { type FakePull, type FakeRemark, type ForgePeople, owner, strangers } from './forge-people.ts'

const project = '/projects/{id}'
const merges = `${project}/merge_requests`
const repository = 'acme/docs/handbook'

/** GitLab as those describe it who wrote a client after its documentation. */
export function startGitlab(): Promise<DescribedForge> {
  return startDescribed({
    ...{ kind: 'gitlab', repository, api: '/api/v4', draftPrefix: 'Draft: ', hasEtags: true, seesMerges: true, routes },
    headRef: (number) => `refs/merge-requests/${number}/head`,
    tokenIn: ({ headers }) => String(headers['private-token']),
  })
}

const routes: Routes = {
  'GET /user': [200, () => ({ username: owner, name: 'Acme' })],
  [`GET ${project}`]: [200, (_, { visibility }) => ({ visibility })],
  [`GET ${merges}`]: [
    200,
    ({ query }, people) => {
      const state = query.get('state')
      const branch = query.get('source_branch')
      const base = query.get('target_branch')
      const found = people.all.filter(
        (pull) =>
          (state === null || stateOf(pull) === state) &&
          (branch === null || pull.branch === branch) &&
          (base === null || pull.base === base),
      )
      return page(
        (query.get('sort') === 'asc' ? found : found.reverse()).map((pull) => shown(people, pull)),
        query,
      )
    },
  ],
  [`POST ${merges}`]: [
    201,
    ({ sent }, people) => {
      const {
        source_branch: branch,
        target_branch: base = '',
        title,
        description,
        labels,
      } = sent as Record<string, string>
      const texts = { title: title ?? '', body: description ?? '', labels: labels?.split(',') ?? [] }
      return shown(people, people.open(owner, { base, branch: branch ?? '', ...texts }))
    },
  ],
  [`GET ${merges}/{merge_request_iid}`]: [
    200,
    ({ path }, people) => shown(people, people.find(Number(path.merge_request_iid))),
  ],
  [`PUT ${merges}/{merge_request_iid}`]: [
    200,
    (
      { path, sent: { state_event: event, add_labels: added, title, description: body, reviewer_ids: ids } },
      people,
    ) => {
      const pull = people.find(Number(path.merge_request_iid))
      // An event that does not fit the state has no effect.
      if (event === 'close' && pull.state === 'open') people.setState(pull.number, 'closed')
      if (event === 'reopen' && pull.state === 'closed') people.setState(pull.number, 'open')
      const labels = typeof added === 'string' ? [...new Set([...pull.labels, ...added.split(',')])] : pull.labels
      if (Array.isArray(ids)) pull.reviewers = ids.map(loginOf)
      const texts = Object.entries({ title, body }).filter(([, text]) => text !== undefined)
      return shown(people, people.change(pull.number, { labels, ...Object.fromEntries(texts) }))
    },
  ],
  [`GET ${merges}/{merge_request_iid}/notes`]: [
    200,
    ({ path, query }, { remarks }) =>
      page(remarks.filter(({ number }) => number === Number(path.merge_request_iid)).map(noteShown), query),
  ],
  [`POST ${merges}/{merge_request_iid}/notes`]: [
    201,
    ({ path, sent }, people) => noteShown(people.say(owner, Number(path.merge_request_iid), String(sent.body))),
  ],
  [`PUT ${merges}/{merge_request_iid}/notes/{note_id}`]: [
    200,
    ({ path, sent }, people) => noteShown(people.reword(Number(path.note_id), String(sent.body))),
  ],
  [`GET ${merges}/{merge_request_iid}/commits`]: [
    200,
    ({ path, query }, people) =>
      page(
        people.commitsOf(Number(path.merge_request_iid)).map((id) => ({ id })),
        query,
      ),
  ],
  [`GET ${project}/members/all`]: [
    200,
    ({ query }) => {
      const username = query.get('query') ?? ''
      return strangers.has(username) ? [] : [{ id: idOf(username), username, access_level: 40 }]
    },
  ],
  [`POST ${project}/statuses/{sha}`]: [
    201,
    ({ path, sent }, { statuses }) => {
      statuses.push({
        sha: path.sha ?? '',
        ref: String(sent.ref),
        state: String(sent.state),
        text: String(sent.description),
      })
      return { status: sent.state }
    },
  ],
}

function page<Item extends object>(all: readonly Item[], query: URLSearchParams) {
  const size = Math.min(Number(query.get('per_page') ?? 20), 100)
  const { page: items } = pageOf(all, query, size)
  return { page: items as Record<string, unknown>[], headers: { 'x-total': String(all.length) } }
}

function stateOf({ state }: FakePull): string {
  return state === 'open' ? 'opened' : state
}

function shown(people: ForgePeople, pull: FakePull) {
  const { number, title, body, branch, head, author, labels, mergedBy, mergeCommit, updatedAt } = pull
  return {
    ...{ iid: number, title, description: body, state: stateOf(pull), draft: people.isDraft(pull), labels, sha: head },
    ...{ web_url: `https://gitlab.example.org/${repository}/-/merge_requests/${number}`, author: user(author) },
    ...{ source_branch: branch, target_branch: pull.base, source_project_id: 1, target_project_id: 1 },
    reviewers: (pull.reviewers ?? []).map((login) => ({ ...user(login), id: idOf(login) })),
    // A merge that only moves main has no commit of its own.
    ...{ merge_commit_sha: mergeCommit === head ? null : (mergeCommit ?? null), squash_commit_sha: null },
    ...{ merged_by: mergedBy === undefined ? null : user(mergedBy), updated_at: updatedAt.toISOString() },
  }
}

function noteShown({ id, number, author, text, at, sort }: FakeRemark) {
  return {
    id,
    noteable_iid: number,
    body: text,
    author: user(author),
    created_at: at.toISOString(),
    system: sort === 'system',
  }
}

/** Each login that was seen has an id: its place. */
const logins: string[] = []
function idOf(login: string): number {
  if (!logins.includes(login)) logins.push(login)
  return logins.indexOf(login)
}
const loginOf = (id: number) => logins[id] ?? ''

function user(login: string) {
  return { username: login, name: login }
}
