import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { AppContext } from '../../../src/app/open-context.ts'
import { GanglionError } from '../../../src/contract/errors.ts'
import { updateRef } from '../../../src/git/refs/refs.ts'
import type { Judgement, Receiver, RefOutcome, RefUpdate } from '../../../src/git/serve/receive-hooks.ts'
import type { ServerOptions } from '../../../src/http/server.ts'
import type { ZodFastify } from '../../../src/http/zod-compilers.ts'
import type { openGitDoor } from '../../../src/push/git/open-git-door.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { tempDir } from '../../support/temp.ts'
import { type GitRun, runUserGit, userEnvironment } from '../../support/user-git.ts'
import { listen, testServer } from './test-server.ts'

const clientEnvironment = userEnvironment('cleo')

/** Runs a user's git to its end, while this process serves it. */
export function git(cwd: string, ...args: string[]): Promise<GitRun> {
  return runUserGit(cwd, args, clientEnvironment)
}

/** A user's git that goes on by itself. Its helpers die with it. */
export function startGit(cwd: string, ...args: string[]): { kill(): void; ended: Promise<unknown> } {
  const child = spawn('git', args, { cwd, env: clientEnvironment, detached: true, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('close', resolve))
  return { kill: () => child.pid && process.kill(-child.pid, 'SIGKILL'), ended }
}

/** Commits a file, and gives the commit. */
export function commitFile(clone: string, name: string, content: string | Buffer): string {
  const blob = nativeGit(clone, ['hash-object', '-w', '--stdin'], content)
  nativeGit(clone, ['update-index', '--add', '--cacheinfo', `100644,${blob},${name}`])
  nativeGit(clone, ['commit', '--quiet', '-m', `Write ${name}`])
  return nativeGit(clone, ['rev-parse', 'HEAD'])
}

export type GitServer = {
  app: ZodFastify
  ctx: AppContext
  port: number
  gitDir: string
  /** Returns the URL of the repository, for a key named after its role; by default a curator. */
  url(role?: string): string
  /** Calls of the receiver, in order. */
  judged: { updates: readonly RefUpdate[]; quarantine: string | undefined }[]
  received: { updates: readonly RefUpdate[]; options: readonly string[] }[]
  /** The prefixes of each fetch, in order. */
  prepared: (readonly string[])[]
}

export type GitServerOptions = {
  judge?: (updates: readonly RefUpdate[], quarantine: string | undefined) => Promise<Judgement>
  /** Takes the place of a receiver that moves every ref. */
  receive?: Receiver['receive']
  /** Takes the place of the door to the repository. */
  openDoor?: typeof openGitDoor
  server?: ServerOptions
}

/** A server with one repository, `acme/handbook`, whose `main` has one commit of the file `a.md`. */
export async function gitServer(options: GitServerOptions = {}): Promise<GitServer> {
  const gitDir = join(tempDir(), 'handbook.git')
  mkdirSync(gitDir)
  nativeGit(gitDir, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
  const tree = nativeGit(
    gitDir,
    ['mktree'],
    `100644 blob ${nativeGit(gitDir, ['hash-object', '-w', '--stdin'], 'a\n')}\ta.md\n`,
  )
  nativeGit(gitDir, ['update-ref', 'refs/heads/main', nativeGit(gitDir, ['commit-tree', tree, '-m', 'Begin'])])

  const judged: GitServer['judged'] = []
  const received: GitServer['received'] = []
  const prepared: GitServer['prepared'] = []
  const receiver: Receiver = {
    async judge(updates, quarantine) {
      judged.push({ updates, quarantine })
      return options.judge?.(updates, quarantine) ?? { accepted: true, lines: ['Looks good.'] }
    },
    async receive(updates, pushOptions) {
      received.push({ updates, options: pushOptions })
      if (options.receive !== undefined) return options.receive(updates, pushOptions)
      const outcomes: RefOutcome[] = []
      for (const update of updates) outcomes.push(await moveRef(gitDir, update))
      return { outcomes, lines: ['Taken.'] }
    },
  }
  const openDoor: typeof openGitDoor = async (_, { id: key, tenantId }, { tenant, kb }) => {
    if (tenant !== 'acme' || kb !== 'handbook') throw new GanglionError('not_found')
    const claim = { key, repository: kb, tenant: tenantId }
    return {
      gitDir,
      claim,
      brokenRefs: [],
      receiver,
      prepareFetch: async (prefixes) => void prepared.push(prefixes),
    }
  }
  const git = { openDoor: options.openDoor ?? openDoor, ...options.server?.git }
  const { app, ctx } = await testServer({}, { ...options.server, git })
  const port = await listen(app)
  const url = (role = 'curator') => `http://any:${role}@127.0.0.1:${port}/git/acme/handbook.git`
  return { app, ctx, port, gitDir, url, judged, received, prepared }
}

async function moveRef(gitDir: string, { ref, from, to }: RefUpdate): Promise<RefOutcome> {
  if (to === undefined) rmSync(join(gitDir, ref))
  else if (!(await updateRef(gitDir, ref, from, to))) return { ref, refused: 'fetch first' }
  return { ref }
}

/** A clone of the server's repository by a curator. */
export async function cloned(server: GitServer, ...options: string[]): Promise<string> {
  const path = join(tempDir(), 'clone')
  const { code, stderr } = await git(tempDir(), 'clone', '--quiet', ...options, server.url(), path)
  if (code !== 0) throw new Error(stderr)
  return path
}

/** Ids of the processes that work in a folder. */
export function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(join('/proc', name, 'cwd')) === folder
    } catch {
      return false
    }
  })
}

/** Folders of objects that nobody judged yet. */
export function quarantinesIn(gitDir: string): string[] {
  return readdirSync(join(gitDir, 'objects')).filter((name) => name.startsWith('tmp_objdir'))
}

/** Waits until something is so, but not for ever. */
export async function until(isSo: () => boolean, { forMs = 100_000 } = {}): Promise<void> {
  for (const end = performance.now() + forMs; !isSo(); ) {
    if (performance.now() > end) throw new Error('It did not come to be.')
    await delay(20)
  }
}

/** Returns a log target, and the lines in it that report errors. */
export function loggedLines(): { level: 'trace'; stream: { write(line: string): void }; errors(): string[] } {
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  return { level: 'trace', stream, errors: () => lines.filter((line) => Number(/"level":(\d+)/.exec(line)?.[1]) >= 50) }
}

/** A gate that tells when somebody came to it, and lets everybody pass once it was opened; at the latest when the test ends. */
export function gate(): { pass(): Promise<void>; arrived: Promise<void>; open(): void } {
  const arrival = Promise.withResolvers<void>()
  const opening = Promise.withResolvers<void>()
  onTestFinished(() => opening.resolve())
  return {
    arrived: arrival.promise,
    open: opening.resolve,
    async pass() {
      arrival.resolve()
      await opening.promise
    },
  }
}
