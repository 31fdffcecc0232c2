import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { noteAim } from './support/aims.ts'
import { importNotes } from './support/imported-notes.ts'
import { durableGit, inTurn, milliseconds, show, summary, type Timing } from './support/measure.ts'

const neurons = 10_000
const opener = fileURLToPath(new URL('./support/open-once.ts', import.meta.url))
const Opened = z.object({
  readable: z.number(),
  milliseconds: z.number(),
  heldUp: z.number(),
  cpu: z.object({ all: z.number(), loop: z.number() }),
  rssMb: z.number(),
  neurons: z.number(),
})

/** Opening a knowledge base, projection and links included, against only reading its blobs. Each opening is a process. */
export async function benchOpening(): Promise<string[]> {
  const { ctx, dataDir, kbId, gitDir } = await importNotes(neurons)
  await ctx.close()
  durableGit(gitDir, ['repack', '-adq'])

  const index = join(dataDir, 'index', kbId)
  const oids = durableGit(gitDir, ['ls-tree', '-r', '--format=%(objectname)', 'main', 'neurons/'])
  const opened = () => {
    const { stdout, stderr } = spawnSync(process.execPath, [opener, dataDir], { encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return Opened.parse(JSON.parse(stdout))
  }
  let memory = { first: 0, second: 0 }
  const firsts: z.infer<typeof Opened>[] = []
  const times = await inTurn(3, {
    first: async () => {
      rmSync(index, { recursive: true, force: true })
      const first = opened()
      if (first.neurons !== neurons) throw new Error(`opened ${first.neurons} Neurons`)
      firsts.push(first)
      memory = { ...memory, first: first.rssMb }
      return first.milliseconds
    },
    second: async () => {
      const { milliseconds: time, rssMb } = opened()
      memory = { ...memory, second: rssMb }
      return time
    },
    catFile: () => milliseconds(() => durableGit(gitDir, ['cat-file', '--batch'], `${oids}\n`)),
  })
  const counted = firsts.slice(1)
  const readable = summary(counted.map((first) => first.readable))
  const compared = (what: string, { median }: Timing, atMost: number) => {
    const ratio = median / times.catFile.median
    return `${ratio.toFixed(2)}× | ${noteAim(what, ratio, { atMost }, '× `cat-file`')}`
  }
  const read = compared(`first opening, until ${neurons} Neurons are read`, readable, 6)
  const whole = compared(`first opening of ${neurons} Neurons`, times.first, 10)
  const second = compared('second start', times.second, 0.5)
  const middle = (part: 'all' | 'loop') => Math.round(summary(counted.map(({ cpu }) => cpu[part])).median)
  return [
    '| milliseconds: median (min–max) | time | memory | ratio | aim |',
    '|---|---|---|---|---|',
    `| bare \`git cat-file --batch\` of ${neurons} Neurons | ${show(times.catFile)} | | 1 | |`,
    `| first opening, until Neurons are read, with their links | ${show(readable)} | | ${read} |`,
    `| first opening: rules, links and ${neurons} candidates included | ${show(times.first)} | ${memory.first} MB | ${whole} |`,
    `| its CPU time, all threads; that of the event loop | ${middle('all')}; ${middle('loop')} | | | |`,
    `| the longest that following the candidates held up the event loop | ${show(summary(counted.map(({ heldUp }) => heldUp)))} | | | |`,
    `| second start | ${show(times.second)} | ${memory.second} MB | ${second} |`,
  ]
}
