import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export type Finished = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/** Makes a program see an old Node; the process that it starts sees its own version again. */
export const onOldNode = [
  '--import',
  `data:text/javascript,${encodeURIComponent(
    "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } })\n" +
      "Object.defineProperty(process, 'version', { value: 'v20.1.0' })",
  )}`,
]

/** A Node process of the running test's own: at the end of the test it is killed if it still runs. */
export function startNode(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}): ChildProcess {
  const { GANGLION_DATA: _, NODE_COMPILE_CACHE: __, ...inherited } = process.env
  const child = spawn(process.execPath, args, { cwd: options.cwd, env: { ...inherited, ...options.env } })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  })
  return child
}

/** Runs a Node process to its end. */
export async function runNode(
  args: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Finished> {
  return finished(startNode(args, options))
}

/** Waits for a process's end; reads what it has not written yet. */
export async function finished(child: ChildProcess): Promise<Finished> {
  if (child.stdout === null || child.stderr === null) throw new Error('The process has no pipes.')
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, signal, stdout, stderr }
}
