import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { z } from 'zod'
import { ganglion, ganglionJson, type Ran, serve } from '../../cli/support.ts'

export type Deployment = {
  dataDir: string
  gitDir: string
  kbId: string
  token: string
  /** The key of those who push to the server. */
  pusher: { id: string; token: string }
  /** Location of its state, if not in the data directory. */
  database?: string
}
export type Server = { url: string; process: ChildProcess }

export const tenant = 'acme'
export const kbSlug = 'faults'

const Made = z.object({ id: z.string(), gitDir: z.string() })
const Key = z.object({ id: z.string(), token: z.string() })

/** A data directory with one knowledge base and keys that may do everything. */
export async function newDeployment(dataDir: string, env: Record<string, string> = {}): Promise<Deployment> {
  const make = async (...args: string[]) => (await ganglionJson([...args, '--data', dataDir], env)).json
  const kb = Made.parse(await make('kb', 'create', kbSlug, '--tenant', tenant))
  const create = ['key', 'create', '--tenant', tenant, '--role', 'curator']
  const { token } = Key.parse(await make(...create))
  const pusher = Key.parse(await make(...create, '--name', 'Pusher'))
  return { dataDir, gitDir: kb.gitDir, kbId: kb.id, token, pusher }
}

/** Returns the URL from which the knowledge base is cloned and to which it is pushed. */
export function remoteUrl(url: string, { pusher }: Deployment): string {
  return `${url.replace('//', `//any:${pusher.token}@`)}/git/${tenant}/${kbSlug}.git`
}

/** Starts a real server on a free port, without a limit of requests. */
export async function startServer({ dataDir }: Deployment, env: Record<string, string> = {}): Promise<Server> {
  const unlimited = { GANGLION_RATE_READS: '1000000', GANGLION_RATE_WRITES: '1000000' }
  const { child, line } = await serve(dataDir, { ...unlimited, ...env })
  return { url: z.string().parse(line.url), process: child }
}

/** Ends a process and waits until it is gone. */
export async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

/** Returns the output of `ganglion verify`. */
export function verify({ dataDir }: Deployment, env: Record<string, string> = {}): Promise<Ran> {
  return ganglion(['verify', '--json', '--data', dataDir], env)
}
