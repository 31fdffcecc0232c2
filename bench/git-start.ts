import { text } from 'node:stream/consumers'
import type { Order } from '../src/git/native/child-program.ts'
import { type StartProgram, startDirectly } from '../src/git/native/child-program.ts'
import { Spawner } from '../src/git/native/spawner.ts'
import { inTurn, milliseconds } from './support/measure.ts'

const sizes = [150, 300, 600, 1000]
const mb = 1024 * 1024
const startsAtOnce = 20
const rounds = 9
const order: Order = {
  command: 'git',
  args: ['--version'],
  cwd: '/',
  env: { PATH: process.env.PATH },
  hasInput: false,
  channels: 0,
}

/**
 * Measures the cost of a short git process for a server, by the server's memory: started by `fork` of the server, and through a spawner.
 */
export async function benchGitStart(): Promise<string[]> {
  const spawner = await Spawner.start()
  const ballast: Buffer[] = []
  const rows: string[] = []
  for (const size of sizes) {
    while (process.memoryUsage.rss() < size * mb) ballast.push(Buffer.alloc(10 * mb, 1))
    const rss = Math.round(process.memoryUsage.rss() / mb)
    const held = { fork: 0, spawner: 0 }
    const contestant = (name: keyof typeof held, start: StartProgram) => async () => {
      const before = performance.eventLoopUtilization()
      const time = await milliseconds(() => runInTurn(start))
      held[name] = performance.eventLoopUtilization(before).active / startsAtOnce
      return time / startsAtOnce
    }
    const times = await inTurn(rounds, {
      fork: contestant('fork', startDirectly),
      spawner: contestant('spawner', (asked) => spawner.launch(asked)),
    })
    const ratios = [held.fork / held.spawner, times.fork.median / times.spawner.median]
    rows.push(`| ${rss} MB | ${ratios.map((ratio) => `${ratio.toFixed(1)} ×`).join(' | ')} |`)
  }
  spawner.stop()
  return [
    '| memory of the server | event loop held: `fork` / spawner | until git has ended: `fork` / spawner |',
    '|---|---|---|',
    ...rows,
  ]
}

async function runInTurn(start: StartProgram): Promise<void> {
  for (let count = 0; count < startsAtOnce; count++) {
    const { stdout, ended } = await start(order)
    await Promise.all([text(stdout), ended])
  }
}
