import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { load, type WireAnswer, type WireRequest } from './http-load.ts'
import { workFolder } from './measure.ts'

/** A server in a process of its own. */
export type MeasuredServer = {
  url: string
  /** CPU time of the process since its start, all threads: microseconds. */
  cpu(): Promise<number>
  /** Resolves when it has nothing left to do. */
  idle(): Promise<void>
  stop(): Promise<void>
}

export type Measured = { answers: WireAnswer[]; cpu: number; perSecond: number; p50: number; p99: number }

/** A server is idle that takes less than these microseconds of CPU in so many milliseconds. */
const idleCpu = 20_000
const idleMs = 1_000

/** Starts `ganglion serve` with its defaults, but for the rate limits: from this checkout, or from another. */
export function serveGanglion(dataDir: string, root = fileURLToPath(new URL('../..', import.meta.url))) {
  const main = pathToFileURL(join(root, 'src/main.js')).href
  return startServer(main, ['serve', '--json', '--data', dataDir], {
    GANGLION_PORT: '0',
    GANGLION_RATE_READS: '1000000',
    GANGLION_RATE_WRITES: '1000000',
  })
}

/** Starts a program, relative to this module, that prints its address. Its standard error goes to a file. */
export async function startServer(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<MeasuredServer> {
  const log = openSync(join(workFolder(), 'log'), 'a')
  const preloaded = new URL('tell-cpu.ts', import.meta.url).href
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), args, {
    env: { ...process.env, ...env },
    execArgv: [...(process.env.SERVER_ARGS?.split(' ') ?? []), '--import', preloaded],
    stdio: ['ignore', 'pipe', log, 'ipc'],
  })
  closeSync(log)
  const url = await addressIn(child)
  const cpu = async () => {
    const answered = once(child, 'message')
    child.send('cpu')
    const [{ user, system }] = await answered
    return user + system
  }
  return {
    url,
    cpu,
    async idle() {
      let before = -idleCpu
      for (let now = await cpu(); now - before >= idleCpu; now = await cpu()) {
        before = now
        await delay(idleMs)
      }
    },
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function addressIn({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('no standard output')
  for await (const line of createInterface({ input: stdout })) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('the server ended before it told its address')
}

/** Sends requests and gives the microseconds of CPU that each took of the server, and how long the answers took. */
export async function measure(
  server: MeasuredServer,
  requests: readonly WireRequest[],
  { connections }: { connections: number },
): Promise<Measured> {
  const before = await server.cpu()
  const begin = performance.now()
  const answers = await load(server.url, requests, { connections })
  const seconds = (performance.now() - begin) / 1000
  const cpu = ((await server.cpu()) - before) / requests.length
  const failed = answers.find(({ status }) => status >= 400)
  if (failed !== undefined) throw new Error(`${failed.status}: ${failed.body}`)
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0
  return { answers, cpu, perSecond: requests.length / seconds, p50: at(0.5), p99: at(0.99) }
}
