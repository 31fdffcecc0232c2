import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import { DataDirectory } from '../../src/store/data-directory.ts'
import { openDatabase } from '../../src/store/database.ts'
import { Tenants } from '../../src/store/tenants.ts'
import { type Finished, runNode, startNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'

export const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Runs a command line of `ganglion` in a process of its own. */
export function ganglion(args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return runNode([main, ...args], { cwd: tempDir(), env })
}

/** Runs a command line in the process of the test; gives its exit code and what it prints. */
export async function runHere(...args: string[]): Promise<{ code: number; stdout: string }> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const code = await runProgram(args)
    return { code, stdout: write.mock.calls.map(([text]) => String(text)).join('') }
  } finally {
    write.mockRestore()
  }
}

/** The one line of JSON that a command with `--json` prints. */
export async function ganglionJson(args: string[]): Promise<{ code: number | null; json: unknown }> {
  const { code, stdout, stderr } = await ganglion([...args, '--json'])
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

/** Starts `serve --json` on a free port; answers the process and the line that it prints once it listens. */
export async function serve(
  data: string,
  env: Record<string, string> = {},
): Promise<{ child: ChildProcess; line: Record<string, string> }> {
  const settings = { GANGLION_PORT: '0', GANGLION_LOG_LEVEL: 'error', ...env }
  const child = startNode([main, 'serve', '--data', data, '--json'], { env: settings })
  if (child.stdout === null) throw new Error('no output')
  child.stderr?.pipe(process.stderr)
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`serve ended with ${code}`))),
  ])
  return { child, line: JSON.parse(String(line)) }
}
