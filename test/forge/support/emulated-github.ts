import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createEmulator } from 'emulate'
import { onTestFinished } from 'vitest'
import { ForgeDescription } from './described.ts'
import { type Answer, type Request, startFront } from './forge-front.ts'
import { ForgeGit, type MergeMethod } from './forge-git.ts'
import { strangers, type Visibility } from './forge-people.ts'

export const githubDescription = new ForgeDescription(
  JSON.parse(readFileSync(new URL('../descriptions/github.json', import.meta.url), 'utf8')),
)
const owner = 'acme'
const repo = 'handbook'
const people = ['ada', 'bob', 'eve']
const users = [owner, ...people, ...strangers]
const appId = '4711'

type Json = Record<string, unknown>
type Hook = { headers: Record<string, string>; body: Buffer }

/**
 * GitHub as the package `emulate` has it, behind a server that adds what it lacks: git, ETags, faults, commits that stand behind
 * pull requests, and a check of each exchange of ours against GitHub's published description of its API.
 */
export async function startGithub() {
  const git = new ForgeGit(`${owner}/${repo}.git`)
  const wrong: string[] = []
  const merges = new Map<number, string>()
  /** Commits of merged pull requests. */
  const merged = new Map<number, string[]>()
  const forks = new Set<number>()
  const hooks: Hook[] = []
  let visibility: Visibility = 'private'
  /** Numbers of pull requests that somebody has written on. */
  const discussed = new Set<number>()
  let onHook: (hook: Hook) => void = () => {}
  const { url, requests, ...front } = await startFront({
    ...{ git, gitPath: `/${owner}/${repo}.git/`, hasEtags: true },
    isPassword: (password) => /^(ghs_|token-)/.test(password),
    answer: (request) => answer(request),
    onPush: () => noteMerged(),
    divert: ({ path, headers, body }) => {
      if (path !== '/_hook') return false
      const named = Object.entries(headers).map(([name, value]) => [name, String(value)])
      const hook = { headers: Object.fromEntries(named), body }
      hooks.push(hook)
      onHook(hook)
      return true
    },
  })
  const port = await freePort()
  const emulator = await createEmulator({
    service: 'github',
    port,
    baseUrl: url,
    seed: {
      tokens: Object.fromEntries(users.map((login) => [`token-${login}`, { login, scopes: ['repo'] }])),
      github: {
        users: users.map((login) => ({ login })),
        repos: [{ owner, name: repo }],
        apps: [
          {
            app_id: Number(appId),
            slug: 'ganglion',
            name: 'Ganglion',
            permissions: {
              contents: 'write',
              pull_requests: 'write',
              issues: 'write',
              checks: 'write',
              metadata: 'read',
            },
            events: ['*'],
            webhook_url: `${url}/_hook`,
            webhook_secret: 'hush',
            installations: [{ installation_id: 12, account: owner }],
          },
        ],
      },
    },
  })
  onTestFinished(() => emulator.close())
  const noteDiscussed = (method: string, path: string) => {
    const [, number] = /\/(?:issues|pulls)\/(\d+)\/comments/.exec(path) ?? []
    if (method === 'POST' && number !== undefined) discussed.add(Number(number))
  }
  const ask = async (method: string, path: string, token: string, body?: unknown) => {
    noteDiscussed(method, path)
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }
  for (const login of people) {
    await ask('PUT', `/repos/${owner}/${repo}/collaborators/${login}`, `token-${owner}`, { permission: 'push' })
  }
  const at = (path: string) => `/repos/${owner}/${repo}${path}`
  const act = async (login: string, method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await ask(method, at(path), `token-${login}`, body)
    if (answer.status >= 300)
      throw new Error(`${method} ${path} as ${login}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const pulls = async (): Promise<Json[]> => {
    const listed = (await ask('GET', at('/pulls?state=all&per_page=100'), `token-${owner}`)).body as Json[]
    const heads = git.heads()
    return listed.map((pull) => withCommits(pull, heads))
  }

  /** Replaces the emulator's own commits by those that git has. */
  const withCommits = (pull: Json, heads: ReadonlyMap<string, string>): Json => {
    const head = pull.head as Json
    const commit = heads.get(String(head.ref)) ?? head.sha
    const merged = merges.get(Number(pull.number))
    const repository = forks.has(Number(pull.number)) ? { repo: { full_name: 'stranger/handbook' } } : {}
    return {
      ...pull,
      head: { ...head, ...repository, sha: commit },
      ...(merged === undefined ? {} : { merge_commit_sha: merged }),
    }
  }
  const corrected = (body: unknown): unknown => {
    // GitHub's own names of permissions, where the emulator has those of its requests.
    if (typeof body === 'object' && body !== null && 'permission' in body && body.permission === 'push')
      return { ...body, permission: 'write' }
    const isPull = (value: unknown): value is Json => typeof value === 'object' && value !== null && 'head' in value
    if (![body].flat().some(isPull)) return body
    const heads = git.heads()
    return Array.isArray(body) ? body.map((pull) => withCommits(pull, heads)) : withCommits(body as Json, heads)
  }

  /** The emulator takes `comments` for the number of an issue. */
  const commentsOfAll = async (sort: string, query: URLSearchParams): Promise<Json[]> => {
    const since = query.get('since') ?? ''
    const all: Json[] = []
    for (const number of discussed) {
      const listed = (await ask('GET', at(`/${sort}/${number}/comments?per_page=100`), `token-${owner}`)).body as Json[]
      all.push(...listed.filter(({ updated_at: updatedAt }) => String(updatedAt) >= since))
    }
    return all
  }

  const answer = async ({ method, path, headers, body, sent }: Request): Promise<Answer> => {
    const [bare = ''] = path.split('?')
    noteDiscussed(method, bare)
    const { searchParams: query } = new URL(path, url)
    const patched = method === 'PATCH' ? /\/pulls\/(\d+)$/.exec(bare)?.[1] : undefined
    if (patched !== undefined && (sent as Json).state === 'open' && !(await hasBranch(Number(patched)))) {
      return { status: 422, body: { message: 'Validation Failed' } }
    }
    const statuses = /\/statuses\/([0-9a-f]{40})$/.exec(bare)
    const commitsOf = /\/pulls\/(\d+)\/commits$/.exec(bare)
    const isOfAll = /\/(issues|pulls)\/comments$/.exec(bare)
    const given =
      statuses !== null
        ? { status: 201, link: null, body: statusAnswer(statuses[1] ?? '', sent as Json) }
        : commitsOf !== null
          ? { status: 200, link: null, body: (await commitsOfPull(Number(commitsOf[1]))).map((sha) => ({ sha })) }
          : isOfAll !== null
            ? { status: 200, link: null, body: await commentsOfAll(isOfAll[1] ?? '', query) }
            : await fetchEmulator(port, method, path, headers, body)
    // The emulator answers with 200 here.
    if (bare.endsWith('/requested_reviewers') && given.status === 200) given.status = 201
    wrong.push(...githubDescription.problemsOf({ method, path: bare, query, sent, status: given.status }))
    const { status, link } = given
    if (bare === `/repos/${owner}/${repo}`)
      return { status, body: { ...(given.body as Json), visibility, private: visibility !== 'public' } }
    return { status, body: corrected(given.body), ...(link === null ? {} : { headers: { link } }) }
  }

  const commitsOfPull = async (number: number): Promise<string[]> => {
    const pull = (await pulls()).find((known) => known.number === number)
    const { sha } = (pull?.head ?? {}) as Json
    return merged.get(number) ?? git.commitsBetween('main', String(sha))
  }

  /** GitHub reopens no pull request whose branch is gone. */
  const hasBranch = async (number: number): Promise<boolean> => {
    const pull = (await pulls()).find((known) => known.number === number)
    return pull === undefined || git.heads().has((pull.head as { ref: string }).ref)
  }

  /** Follows GitHub: a pull request whose head is in main is merged, and one whose branch is gone is closed. */
  const noteMerged = async () => {
    const heads = git.heads()
    const merged = heads.has('main') ? git.merged() : new Set()
    for (const pull of await pulls()) {
      if (pull.state !== 'open') continue
      const { sha, ref } = pull.head as { sha: string; ref: string }
      if (merged.has(ref)) {
        merges.set(Number(pull.number), sha)
        if (pull.draft) await act(owner, 'PATCH', `/pulls/${pull.number}`, { draft: false })
        await act(owner, 'PUT', `/pulls/${pull.number}/merge`, {})
      } else if (!heads.has(ref)) {
        await act(owner, 'PATCH', `/pulls/${pull.number}`, { state: 'closed' })
      }
    }
  }
  const secret = emulator.generatedSecrets.find(({ kind }) => kind === 'github.app_private_key')?.value ?? ''

  return {
    kind: 'github' as const,
    url: `${url}/${owner}/${repo}`,
    apiUrl: url,
    git,
    app: { appId, privateKey: secret },
    token: { token: `token-${owner}` },
    webhookSecret: 'hush',
    /** Requests to the API or to git, in order. */
    requests,
    /** Violations of GitHub's description, in words. */
    wrong,
    hooks,
    /** Is told of each delivery of a webhook as it comes. */
    deliverTo: (receive: (hook: Hook) => void) => {
      onHook = receive
    },
    ...{ fail: front.fail, mend: front.mend, awaitsFaults: front.awaitsFaults },
    /** Sets who may read the repository. */
    show: (to: Visibility) => {
      visibility = to
    },
    pulls,
    openPull: async (login: string, branch: string, title: string, base = 'main') =>
      Number((await act(login, 'POST', '/pulls', { head: branch, base, title, body: '' })).number),
    /** Opens a pull request as {@link openPull} does, of a branch that is shown as one of a fork. */
    openForkPull: async (login: string, branch: string, title: string) => {
      const sent = { head: branch, base: 'main', title, body: '' }
      const number = Number((await act(login, 'POST', '/pulls', sent)).number)
      forks.add(number)
      return number
    },
    retarget: (login: string, number: number, base: string) => act(login, 'PATCH', `/pulls/${number}`, { base }),
    close: (login: string, number: number) => act(login, 'PATCH', `/pulls/${number}`, { state: 'closed' }),
    reopen: (login: string, number: number) => act(login, 'PATCH', `/pulls/${number}`, { state: 'open' }),
    ready: (login: string, number: number) => act(login, 'PATCH', `/pulls/${number}`, { draft: false }),
    comment: (login: string, number: number, body: string) =>
      act(login, 'POST', `/issues/${number}/comments`, { body }),
    review: (login: string, number: number, body: string) =>
      act(login, 'POST', `/pulls/${number}/reviews`, { body, event: 'COMMENT' }),
    comments: async (number: number) =>
      (await act(owner, 'GET', `/issues/${number}/comments?per_page=100`)) as unknown as { body: string }[],
    label: (login: string, number: number, label: string) =>
      act(login, 'POST', `/issues/${number}/labels`, { labels: [label] }),
    labels: async (number: number) => {
      const labels = (await act(owner, 'GET', `/issues/${number}/labels`)) as unknown as { name: string }[]
      return labels.map(({ name }) => name)
    },
    reviewers: async (number: number) => {
      const { requested_reviewers: reviewers } = await act(owner, 'GET', `/pulls/${number}`)
      return (reviewers as { login: string }[]).map(({ login }) => login)
    },
    checkRuns: async (): Promise<Json[]> => {
      const runs: Json[] = []
      for (let id = 1; ; id++) {
        const { status, body } = await ask('GET', at(`/check-runs/${id}`), `token-${owner}`)
        if (status !== 200) return runs
        runs.push(body)
      }
    },
    /** Presses the button. @returns main's new head */
    merge: async (login: string, number: number, method: MergeMethod = 'merge') => {
      const pull = (await pulls()).find((known) => known.number === number)
      if (pull?.draft === true) throw new Error('Draft pull requests cannot be merged.')
      if (pull === undefined) throw new Error(`There is no pull request ${number}.`)
      const { sha } = pull.head as { sha: string }
      merged.set(number, git.commitsBetween('main', sha))
      const tip = git.merge(sha, method, `${pull.title} (#${number})`)
      if (tip === undefined) throw new Error(`The pull request ${number} conflicts with main.`)
      merges.set(number, tip)
      await act(login, 'PUT', `/pulls/${number}/merge`, { merge_method: method === 'fast-forward' ? 'rebase' : method })
      return tip
    },
  }
}

export type EmulatedGithub = Awaited<ReturnType<typeof startGithub>>

async function fetchEmulator(
  port: number,
  method: string,
  path: string,
  headers: IncomingMessage['headers'],
  body: Buffer,
): Promise<{ status: number; link: string | null; body: unknown }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  })
  const text = await response.text()
  await delay(0)
  return { status: response.status, link: response.headers.get('link'), body: text === '' ? null : JSON.parse(text) }
}

/** The emulator knows no commit statuses. */
function statusAnswer(sha: string, sent: Json): Json {
  const at = '2026-01-01T00:00:00Z'
  const { state, context, description: text = null, target_url: target = null } = sent
  return {
    ...{ url: `https://api.github.com/${sha}`, avatar_url: null, id: 1, node_id: 'S_1', state, description: text },
    ...{ target_url: target, context, created_at: at, updated_at: at, creator: null },
  }
}

async function freePort(): Promise<number> {
  const socket = createSocket()
  await new Promise<void>((resolve) => socket.listen(0, '127.0.0.1', resolve))
  const { port } = socket.address() as AddressInfo
  await new Promise((resolve) => socket.close(resolve))
  return port
}
