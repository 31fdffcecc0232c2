import { mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { projectionFile } from '../../../src/kb/projection/projection.ts'
import { DataDirectory } from '../../../src/state/directory/data-directory.ts'
import { type Deployment, remoteUrl } from './deployment.ts'
import { git, gitLines, gitOutput } from './git.ts'
import { approvalsOf, readWholeHistory } from './history.ts'
import type { Ledger } from './ledger.ts'
import { wrongPushes } from './served.ts'
import { wronglyTold } from './told.ts'

/** Resolves when a server whom nobody uses has adopted and told all that there is; rejects after two minutes. */
export async function settled(deployment: Deployment): Promise<void> {
  for (const end = performance.now() + 120_000; ; await delay(50)) {
    const waiting = await unsettled(deployment)
    if (waiting === '') return
    if (performance.now() > end) throw new Error(`still to be done: ${waiting}`)
  }
}

/** Returns the unfinished work of a running server; empty if there is none. */
async function unsettled({ dataDir, gitDir, kbId }: Deployment): Promise<string> {
  const directory = DataDirectory.open(dataDir)
  const refs = await git(gitDir, ['rev-parse', 'refs/heads/main', 'refs/ganglion/queue'])
  const told = read(
    directory.database,
    `SELECT main || char(10) || queue || char(10) AS heads FROM event_cursors
    WHERE kb_id = '${kbId}'`,
  )
  const adopted = read(join(directory.index(kbId), projectionFile), 'SELECT seq_id FROM unapproved')
  if (adopted.length > 0) return `the adoption of ${JSON.stringify(adopted)}`
  return told[0]?.heads === refs.stdout ? '' : 'events'
}

function read(file: string, query: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare(query).all()
  } finally {
    database.close()
  }
}

/** Returns the problems of a settled server: of pushes, of events, and of changes without a candidate. */
export async function auditSettled(deployment: Deployment, ledger: Ledger): Promise<string[]> {
  const history = await readWholeHistory(deployment.gitDir)
  const approvals = approvalsOf(history)
  const last = new Map(history.line.flatMap((commit) => commit.files.map(({ path }) => [path, commit])))
  const unapproved = history.files.filter(({ path, data }) => {
    const commit = last.get(path)
    return commit === undefined || approvals.get(commit)?.includes(String(data.candidate)) !== true
  })
  return [
    ...unapproved.map(({ path }) => `the last version of ${path} has no candidate of its own`),
    ...(await wrongPushes(deployment.gitDir, history, ledger, deployment.pusher.id)),
    ...(await wronglyTold(deployment, history)),
  ]
}

/** Returns the problems of the heads of candidates that a fetch sees: each must be one commit onto main, of a pending candidate. */
export async function wrongHeads(url: string, deployment: Deployment): Promise<string[]> {
  const listed = await gitLines('.', ['ls-remote', remoteUrl(url, deployment), 'refs/candidates/*'])
  const { gitDir } = deployment
  const main = (await gitOutput(gitDir, ['rev-parse', 'refs/heads/main'])).trim()
  const history = await readWholeHistory(gitDir)
  const { queue, commits } = history
  const decided = new Set([...approvalsOf(history).values()].flat())
  const known = new Map(queue.map(({ data }) => [String(data.id), data]))
  const problems = listed.length === 0 ? ['no candidate has a head'] : []
  for (const line of listed) {
    const [oid = '', ref = ''] = line.split('\t')
    const id = ref.split('/')[2] ?? ''
    const head = await git(gitDir, ['log', '-1', '--format=%P%n%b', oid])
    const [onto = '', ...message] = head.stdout.split('\n')
    // One that conflicts with main stands on the version that it was written against.
    const isPlaced = message.some((line) => line.includes('It conflicts with main')) ? commits.has(onto) : onto === main
    if (!isPlaced) problems.push(`${ref} stands on '${onto}': ${head.stderr}`)
    const decisions = known.get(id)?.decisions
    const isDismissed = Array.isArray(decisions) && JSON.stringify(decisions.at(-1)).includes('"dismiss"')
    if (!known.has(id) || decided.has(id) || isDismissed) problems.push(`${ref} is of no candidate that waits`)
  }
  return problems
}

/** Folders of objects that nobody judged yet. */
export function quarantinesIn(gitDir: string): string[] {
  return readdirSync(join(gitDir, 'objects')).filter((name) => name.startsWith('tmp_objdir'))
}

/** Makes what killed pushes left as old as what the next start clears, and leaves one more. */
export function ageQuarantines(gitDir: string): void {
  mkdirSync(join(gitDir, 'objects', 'tmp_objdir-incoming-killed', 'pack'), { recursive: true })
  const longAgo = Date.now() / 1000 - 2 * 60 * 60
  for (const name of quarantinesIn(gitDir)) {
    const folder = join(gitDir, 'objects', name)
    const inside = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
    for (const path of [...inside, folder]) utimesSync(path, longAgo, longAgo)
  }
}
