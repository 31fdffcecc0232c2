import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { noteAim } from './support/aims.ts'
import { inTurn, milliseconds, show, workFolder } from './support/measure.ts'
import { treeMemory } from './support/process-tree.ts'

const rounds = 9
/** Milliseconds until a server has nothing left to do after its start, and until it has given back what the start took. */
const settling = 5_000
const resting = 60_000
const main = fileURLToPath(new URL('../src/main.js', import.meta.url))
const run = promisify(execFile)

/** Starts of the command line from its sources, with the compile cache that the runs before have filled; and the memory of an idle server. */
export async function benchStart(): Promise<string[]> {
  const empty = workFolder()
  const command = (cwd: string, ...args: string[]) =>
    milliseconds(() => run(process.execPath, [main, ...args], { cwd }))
  const memories: number[] = []
  const times = await inTurn(rounds, {
    node: () => milliseconds(() => run(process.execPath, ['--eval', '0'])),
    version: () => command(empty, '--version'),
    server: async () => {
      const { ready, memory } = await startDemo(settling)
      memories.push(memory)
      return ready
    },
  })
  const memory = memories.sort((a, b) => a - b)[Math.floor(memories.length / 2)] ?? 0
  const { memory: rested } = await startDemo(resting)
  const idle = (megabytes: number, after: number) =>
    `${megabytes} MB after ${after / 1000} s (aim ${noteAim(`idle server with the demo, after ${after / 1000} s`, megabytes, { atMost: 150 }, 'MB')})`
  const ratio = times.version.median / times.node.median
  const aim = noteAim('`ganglion --version`', ratio, { atMost: 2 }, '× `node --eval 0`')
  return [
    '| milliseconds: median (min–max) | time | ratio | aim |',
    '|---|---|---|---|',
    `| \`node --eval 0\` | ${show(times.node)} | 1 | |`,
    `| \`ganglion --version\` | ${show(times.version)} | ${ratio.toFixed(2)}× | ${aim} |`,
    `| \`ganglion serve\`, first start, the demo made and served | ${show(times.server)} | | |`,
    '',
    `Memory of the idle server with the demo, all its processes: ${idle(memory, settling)}, ${idle(rested, resting)}.`,
  ]
}

/** @returns milliseconds until a server with an empty data directory serves the demo, and its megabytes when it was idle for a while. */
async function startDemo(idleTime: number): Promise<{ ready: number; memory: number }> {
  const begin = performance.now()
  const child = spawn(process.execPath, [main, 'serve', '--json', '--data', join(workFolder(), 'data')], {
    env: { ...process.env, GANGLION_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await untilReady(child)
  const ready = performance.now() - begin
  await delay(idleTime)
  const memory = treeMemory(child.pid ?? 0)
  child.kill('SIGTERM')
  await ended
  return { ready, memory: Math.round(memory) }
}

async function untilReady({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) throw new Error('no standard output')
  for await (const line of createInterface({ input: stdout })) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (address === undefined) continue
    while (!(await fetch(`${address}/readyz`)).ok) await delay(5)
    return
  }
  throw new Error('the server ended before it told its address')
}
