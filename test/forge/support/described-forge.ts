import { readFileSync } from 'node:fs'
import type { ForgeKind } from '../../../src/forge/forge-adapter.ts'
import { ForgeDescription } from './described.ts'
import { type Answer, type Request, startFront } from './forge-front.ts'
import { ForgeGit, type MergeMethod } from './forge-git.ts'
import { ForgePeople, owner, Refusal, tokenOf, type Visibility } from './forge-people.ts'

type Json = Record<string, unknown>
/** A request to the API, with what stands in its path, by name. */
export type Asked = { path: Record<string, string>; query: URLSearchParams; sent: Json }
/** Values of an answer; the rest of it is an example of what the description permits. */
export type Said = Json | Json[] | { page: Json[]; headers: Record<string, string> } | null
/** Behaviour of the forge, by method and path as in its description, with the status. */
export type Routes = Record<string, [status: number, (asked: Asked, people: ForgePeople) => Said]>

export type Dialect = {
  kind: ForgeKind
  /** Paths of the repository's page, without the host, and of the API. */
  repository: string
  api: string
  draftPrefix: string
  headRef: (number: number) => string
  hasEtags: boolean
  /** Whether it sees by itself that a pull request was merged by a push. */
  seesMerges: boolean
  routes: Routes
  tokenIn(request: Request): string | undefined
  /** A path as the description can have it. */
  described?(path: string): string
}

const descriptions = new Map<ForgeKind, ForgeDescription>()

/** Read once in a process: its checks take long to compile. */
export function descriptionOf(kind: ForgeKind): ForgeDescription {
  const file = new URL(`../descriptions/${kind}.json`, import.meta.url)
  const description = descriptions.get(kind) ?? new ForgeDescription(JSON.parse(readFileSync(file, 'utf8')))
  descriptions.set(kind, description)
  return description
}

/**
 * A forge that answers by its published description: each request is checked against it, and each answer is made of an example of it
 * and checked, too. What people do there is {@link ForgePeople}.
 */
export async function startDescribed(dialect: Dialect) {
  const { kind, repository, api, routes, described = (path) => path } = dialect
  const description = descriptionOf(kind)
  const git = new ForgeGit(`${repository}.git`)
  const people = new ForgePeople(git, dialect.draftPrefix, dialect.headRef)
  const wrong: string[] = []

  const answer = async (request: Request): Promise<Answer> => {
    if (dialect.tokenIn(request) !== tokenOf(owner)) return { status: 401, body: { message: 'Unauthorized' } }
    people.look()
    const { pathname, searchParams: query } = new URL(request.path, 'http://forge')
    const path = described(pathname.slice(api.length))
    const { method } = request
    const template = description.templateOf(path)
    const route = routes[`${method} ${template}`]
    const exchange = { method, path, query, sent: request.sent }
    if (template === undefined || route === undefined) {
      wrong.push(`${method} ${path} is not described`)
      return { status: 404, body: { message: 'Not Found' } }
    }
    const [status, act] = route
    try {
      const asked = { path: parametersOf(template, path), query, sent: (request.sent ?? {}) as Json }
      const said = act(asked, people)
      const isPage = said !== null && 'page' in said && Array.isArray(said.page)
      const { page, headers } = isPage
        ? (said as { page: Json[]; headers: Record<string, string> })
        : { page: said, headers: {} }
      const body = page === null ? null : like(description.examplesOf(method, template, status)[0], page)
      wrong.push(...description.problemsOf({ ...exchange, status, ...(body === null ? {} : { answer: body }) }))
      return { status, body, headers }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      wrong.push(...description.problemsOf({ ...exchange, status: error.status }))
      return { status: error.status, body: { message: error.message } }
    }
  }
  const front = await startFront({
    ...{ git, gitPath: `/${repository}.git/`, hasEtags: dialect.hasEtags, answer },
    isPassword: (password) => password === tokenOf(owner),
    onPush: async () => people.notePush(dialect.seesMerges),
  })
  return {
    ...{
      kind,
      git,
      people,
      wrong,
      requests: front.requests,
      fail: front.fail,
      mend: front.mend,
      awaitsFaults: front.awaitsFaults,
    },
    url: `${front.url}/${repository}`,
    apiUrl: `${front.url}${api}`,
    token: { token: tokenOf(owner) },
    webhookSecret: 'hush',
    show: (to: Visibility) => {
      people.visibility = to
    },
    pulls: async (): Promise<Json[]> => {
      people.look()
      return people.all.map(({ number, title, body, branch, head, state }) => {
        return { number, title, body, state: state === 'open' ? 'open' : 'closed', head: { ref: branch, sha: head } }
      })
    },
    openPull: async (login: string, branch: string, title: string, base = 'main') =>
      people.open(login, { branch, base, title, body: '', labels: [] }).number,
    close: async (_login: string, number: number) => people.setState(number, 'closed'),
    reopen: async (_login: string, number: number) => people.setState(number, 'open'),
    ready: async (_login: string, number: number) => people.ready(number),
    merge: async (login: string, number: number, method?: MergeMethod) => people.merge(login, number, method),
    comment: async (login: string, number: number, text: string) => people.say(login, number, text),
    review: async (login: string, number: number, text: string) => people.say(login, number, text, 'review'),
    comments: async (of: number) =>
      people.remarks
        .filter(({ number, sort }) => number === of && sort === 'comment')
        .map(({ text }) => ({ body: text })),
    labels: async (number: number) => people.find(number).labels,
  }
}

export type DescribedForge = Awaited<ReturnType<typeof startDescribed>>

/** A page of a list, by numbers. */
export function pageOf<Item>(all: readonly Item[], query: URLSearchParams, size: number): { page: Item[]; at: number } {
  const at = Number(query.get('page') ?? 1)
  return { page: all.slice((at - 1) * size, at * size), at }
}

function parametersOf(template: string, path: string): Record<string, string> {
  const given = path.split('/')
  const named = template.split('/').map((part, at) => [part.replace(/[{}]/g, ''), decodeURIComponent(given[at] ?? '')])
  return Object.fromEntries(named)
}

/** An example with what is said in the place of what it has. What is said to be undefined is left out. */
function like(example: unknown, said: unknown): unknown {
  if (Array.isArray(said)) return said.map((item) => like(Array.isArray(example) ? example[0] : undefined, item))
  if (typeof said !== 'object' || said === null) return said
  const known = (typeof example === 'object' && example !== null ? example : {}) as Json
  const merged = Object.entries(said).map(([name, value]) => [name, like(known[name], value)])
  return { ...known, ...Object.fromEntries(merged) }
}
