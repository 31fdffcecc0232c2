import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { noteAim } from './support/aims.ts'
import { importNotes } from './support/imported-notes.ts'
import { durableGit, inTurn, milliseconds, show } from './support/measure.ts'

const neurons = 10_000
const opener = fileURLToPath(new URL('./support/open-once.ts', import.meta.url))
const Opened = z.object({
  milliseconds: z.number(),
  cpu: z.object({ all: z.number(), loop: z.number() }),
  rssMb: z.number(),
  neurons: z.number(),
})

/** Opening a knowledge base, projection and links included, against only reading its blobs. Each opening is a process. */
export async function benchOpening(): Promise<string[]> {
  const { ganglion, dataDir, kbId, gitDir } = await importNotes(neurons)
  await ganglion.close()
  durableGit(gitDir, ['repack', '-adq'])

  const index = join(dataDir, 'index', kbId)
  const oids = durableGit(gitDir, ['ls-tree', '-r', '--format=%(objectname)', 'main', 'neurons/'])
  const opened = () => {
    const { stdout, stderr } = spawnSync(process.execPath, [opener, dataDir], { encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return Opened.parse(JSON.parse(stdout))
  }
  let memory = { first: 0, second: 0 }
  const cpu: { all: number; loop: number }[] = []
  const times = await inTurn(3, {
    first: async () => {
      rmSync(index, { recursive: true, force: true })
      const { milliseconds: time, rssMb, neurons: count, cpu: used } = opened()
      cpu.push(used)
      if (count !== neurons) throw new Error(`opened ${count} Neurons`)
      memory = { ...memory, first: rssMb }
      return time
    },
    second: async () => {
      const { milliseconds: time, rssMb } = opened()
      memory = { ...memory, second: rssMb }
      return time
    },
    catFile: () => milliseconds(() => durableGit(gitDir, ['cat-file', '--batch'], `${oids}\n`)),
  })
  const ratio = times.first.median / times.catFile.median
  const aim = noteAim(`first opening of ${neurons} Neurons / \`cat-file\``, ratio, { atMost: 4 }, '×')
  const again = noteAim('second start', times.second.median, { atMost: 1000 }, 'ms')
  const middle = (part: 'all' | 'loop') =>
    Math.round(cpu.map((used) => used[part]).sort((a, b) => a - b)[Math.floor(cpu.length / 2)] ?? 0)
  return [
    '| milliseconds: median (min–max) | time | memory | ratio | aim |',
    '|---|---|---|---|---|',
    `| bare \`git cat-file --batch\` of ${neurons} Neurons | ${show(times.catFile)} | | 1 | |`,
    `| first opening: rules, links and ${neurons} candidates included | ${show(times.first)} | ${memory.first} MB | ${ratio.toFixed(2)}× | ${aim} |`,
    `| its CPU time, all threads; that of the event loop | ${middle('all')}; ${middle('loop')} | | | |`,
    `| second start | ${show(times.second)} | ${memory.second} MB | | ${again} |`,
  ]
}
