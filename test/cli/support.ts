import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import { openDatabase } from '../../src/state/database/open-database.ts'
import { DataDirectory } from '../../src/state/directory/data-directory.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { type Finished, runNode, startNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'

export const main = fileURLToPath(new URL('../../src/main.js', import.meta.url))

export const bearer = (token: string | undefined) => ({ headers: { authorization: `Bearer ${token}` } })

/** A port that another program listens on until it is released. */
export async function takenPort(): Promise<{ port: string; release(): void }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: String(address.port), release: () => void server.close() }
}

export type Ran = { code: number; stdout: string; stderr: string }

/** Runs a command line of `ganglion` in a process of its own: for tests of what only a process has. */
export function ganglionProcess(args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return runNode([main, ...args], { cwd: tempDir(), env })
}

/**
 * Runs a command line of `ganglion` in the process of the test, which spares the start of another: with the environment, the
 * folder and the arguments that a process of its own would have. One at a time.
 */
export async function ganglion(
  args: string[],
  env: Record<string, string> = {},
  { cwd = tempDir() }: { cwd?: string } = {},
): Promise<Ran> {
  if (vi.isMockFunction(process.stdout.write)) throw new Error('Another command is running.')
  const before = { env: process.env, argv: process.argv, cwd: process.cwd() }
  const { GANGLION_DATA: _, ...inherited } = process.env
  const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const written = ({ mock }: typeof stdout) => mock.calls.map(([text]) => String(text)).join('')
  try {
    process.chdir(cwd)
    process.env = { ...inherited, ...env }
    process.argv = [process.execPath, main, ...args]
    const code = await runProgram(args)
    return { code, stdout: written(stdout), stderr: written(stderr) }
  } finally {
    Object.assign(process, { env: before.env, argv: before.argv })
    process.chdir(before.cwd)
    stdout.mockRestore()
    stderr.mockRestore()
  }
}

/** The one line of JSON that a command with `--json` prints. */
export async function ganglionJson(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; json: unknown }> {
  const { code, stdout, stderr } = await ganglion([...args, '--json'], env)
  if (!/^[^\n]+\n$/.test(stdout) || stderr !== '') throw new Error(`not one line of JSON: ${stdout}${stderr}`)
  return { code, json: JSON.parse(stdout) }
}

/** A data directory that holds nothing but tenants. */
export async function dataWithTenants(...slugs: string[]): Promise<string> {
  const root = tempDir()
  const { db, close } = await openDatabase(DataDirectory.open(root).database)
  for (const slug of slugs) await new Tenants(db).ensure(slug, new Date())
  await close()
  return root
}

type Begun = { child: ChildProcess; line: Record<string, string>; log: string[] }

/** Starts `serve --json` on a free port; answers the process, the line that it prints once it listens, and its log as it grows. */
export async function serve(data: string, env: Record<string, string> = {}): Promise<Begun> {
  const begun = await beginToServe(data, env)
  if (begun.line.url !== undefined) return begun
  throw new Error(`serve has not started: ${JSON.stringify(begun.line)} ${begun.log.join('')}`)
}

/** Starts `serve --json`, which may print its address or why it has not started. */
export async function beginToServe(data: string, env: Record<string, string> = {}): Promise<Begun> {
  const settings = { GANGLION_PORT: '0', GANGLION_LOG_LEVEL: 'error', ...env }
  const child = startNode([main, 'serve', '--data', data, '--json'], { env: settings })
  if (child.stdout === null) throw new Error('no output')
  child.stderr?.pipe(process.stderr)
  const log: string[] = []
  child.stderr?.on('data', (chunk: Buffer) => log.push(chunk.toString()))
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`serve ended with ${code}`))),
  ])
  return { child, line: JSON.parse(String(line)), log }
}
