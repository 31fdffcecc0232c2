import { expect, vi } from 'vitest'
import { ForgeError } from '../../../src/forge/forge-adapter.ts'
import { RemoteError } from '../../../src/git/transport/remote.ts'
import { startGitea } from '../../forge/support/described-gitea.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { startGithub } from '../../forge/support/emulated-github.ts'
import type { Fault } from '../../forge/support/forge-front.ts'
import { ForgeRounds } from './forge-rounds.ts'
import { bridgedTo, type FakeForge } from './forge-support.ts'

const git = ['POST git-upload-pack ls-refs', 'POST git-upload-pack fetch', 'POST git-receive-pack']
/** Every kind of call that the bridge sends, by {@link kindOf}. */
export const calls = {
  GitHub: [
    ...git,
    ...[
      'GET repository',
      'GET app',
      'GET installation',
      'POST app/installations/n/access_tokens',
      'GET pulls?open',
      'GET pulls?all',
      'GET pulls/n',
    ],
    ...['GET issues/comments', 'GET pulls/comments', 'GET pulls/n/reviews', 'GET issues/n/comments'],
    ...['GET pulls/n/comments', 'POST issues/n/comments', 'POST pulls', 'POST issues/n/labels', 'PATCH pulls/n'],
    ...['PATCH pulls/n closed', 'PATCH pulls/n open', 'POST check-runs', 'GET collaborators/bob/permission'],
  ],
  Gitea: [
    ...git,
    ...[
      'GET user',
      'GET repository',
      'GET pulls?open',
      'GET pulls?closed',
      'GET pulls/main/branch',
      'GET pulls/n',
      'GET issues/comments',
    ],
    ...['GET pulls/n/reviews', 'GET issues/n/comments', 'POST issues/n/comments', 'GET labels', 'POST labels'],
    ...['POST issues/n/labels', 'POST pulls', 'PATCH pulls/n', 'PATCH pulls/n closed', 'PATCH pulls/n open'],
    ...['POST statuses/commit', 'GET collaborators/bob/permission'],
  ],
  GitLab: [
    ...git,
    ...[
      'GET user',
      'GET repository',
      'GET merge_requests?opened',
      'GET merge_requests?branch',
      'GET merge_requests/n',
      'GET merge_requests/n/notes',
    ],
    ...['POST merge_requests/n/notes', 'POST merge_requests', 'PUT merge_requests/n', 'PUT merge_requests/n close'],
    ...['PUT merge_requests/n reopen', 'POST statuses/commit', 'GET members/all'],
  ],
} as const satisfies Record<string, readonly string[]>
export type ForgeName = keyof typeof calls
export const forgeNames = Object.keys(calls) as ForgeName[]

const starts: Record<ForgeName, () => Promise<FakeForge>> = {
  GitHub: startGithub,
  Gitea: () => startGitea('gitea'),
  GitLab: startGitlab,
}

/** Milliseconds that git waits for a byte. */
const transferTimeout = 60_000
/** Seconds that a forge asks to be left alone for. */
const rest = 3600
const headers = { 'retry-after': String(rest) }
export const faults = {
  '403': { status: 403, body: { message: 'Resource not accessible by integration' } },
  '403 for a limit': { status: 403, headers, body: { message: 'You have exceeded a secondary rate limit.' } },
  '404': { status: 404 },
  '409': { status: 409 },
  '422': { status: 422, body: { message: 'Validation Failed' } },
  '429': { status: 429, headers },
  '500': { status: 500 },
  '502': { status: 502 },
  '503': { status: 503, headers },
  'no answer': 'never answer',
  'lost answer': 'lose the answer',
  'cut answer': 'cut the answer',
} as const satisfies Record<string, Fault>
export type FaultName = keyof typeof faults

/**
 * Lets a fault happen to a call of every kind, and again in each round with other faults. Whatever a comparison could not do,
 * later ones do: after each round both sides must agree.
 * @param rounds the faults of a round, which the kinds of calls meet by turns
 */
export async function meetFaults(name: ForgeName, rounds: readonly (readonly FaultName[])[]): Promise<void> {
  const forge = await starts[name]()
  const bridged = await bridgedTo(forge)
  const work = new ForgeRounds(bridged)
  await work.begin()
  forge.requests.length = 0
  const expire = holdTimeouts()
  const asked = new Set<string>()
  for (const [n, round] of rounds.entries()) {
    const named = `${n} ${round.join(' ')}`
    await work.work(named)
    for (const [at, call] of calls[name].entries()) {
      const met = round[at % round.length] ?? '500'
      // What somebody may do is told by these.
      const isVerdict = /collaborators|members/.test(call) && (met === '403' || met === '404')
      const fault = faults[isVerdict ? '500' : met]
      const matches = { source: call, test: (label: string) => kindOf(label) === call }
      forge.fail(matches, fault === 'never answer' ? expire : fault)
    }
    // Some work takes two comparisons.
    for (let n = 0; n < 2 * calls[name].length && forge.awaitsFaults(); n++) {
      await compare(bridged)
      // Otherwise a limit would have to be waited for.
      bridged.restart()
    }
    expect([named, 'calls that were not sent', ...forge.mend()]).toEqual([named, 'calls that were not sent'])
    await bridged.syncNoted()
    await bridged.syncNoted()
    await work.agreed()
    for (const label of forge.requests.splice(0)) asked.add(kindOf(label))
  }
  expect([...asked].sort()).toEqual([...calls[name]].sort())
}

/** Compares both sides once. A failure is one of the forge's, and is noted with when to try again. */
async function compare({ syncNoted, product: { ctx }, link }: Awaited<ReturnType<typeof bridgedTo>>) {
  const error = await syncNoted().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error === undefined) return
  expect([ForgeError, RemoteError]).toContain((error as object).constructor)
  const { note, failingSince, dueAt } = (await ctx.forgeLinks.find(link.id)) ?? {}
  expect([note, failingSince]).toEqual([(error as Error).message, expect.any(String)])
  const asksForRest =
    error instanceof ForgeError ? error.until !== undefined : (error as RemoteError).retryAfter !== null
  const waits = (Date.parse(dueAt ?? '') - Date.now()) / 1000
  if (asksForRest) expect(waits).toBeGreaterThan(rest / 2)
}

/** Time-outs that end when the test says so: of requests, and of a transfer by git. */
function holdTimeouts(): () => void {
  let last = () => {}
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const held = new AbortController()
    last = () => held.abort(new DOMException('The operation timed out.', 'TimeoutError'))
    return held.signal
  })
  const setTimer = globalThis.setTimeout
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(
    Object.assign((run: (...args: unknown[]) => void, delay?: number, ...args: unknown[]) => {
      if (delay === transferTimeout) last = run
      return setTimer(run, delay, ...args)
    }, setTimer),
  )
  return () => last()
}

/** Returns the kind of a request: its method and its path below the repository, without numbers, names and most of its query. */
function kindOf(label: string): string {
  const [method, path = '', ...more] = label.split(' ')
  const { pathname, searchParams } = new URL(path, 'http://forge')
  const bare = pathname
    .replace(/^.*(?:\/|%2F)handbook$/, 'repository')
    .replace(/^.*handbook(\.git)?\/|^\/(api\/v\d\/)?/, '')
    .replace(/(pulls\/main)\/.+/, '$1/branch')
    .replace(/\b[0-9a-f]{40}\b/g, 'commit')
    .replace(/\b\d+\b/g, 'n')
  const state = searchParams.get('state') ?? (searchParams.has('source_branch') ? 'branch' : undefined)
  return [method, state === undefined ? bare : `${bare}?${state}`, ...more].join(' ')
}
