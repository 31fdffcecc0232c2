import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { noteAim } from './support/aims.ts'
import { importNotes } from './support/imported-notes.ts'
import { workFolder } from './support/measure.ts'

const neurons = 10_000
const rounds = 5
const worker = fileURLToPath(new URL('./support/work-once.ts', import.meta.url))
const Work = z.object({ opening: z.number(), approval: z.number(), read: z.number() })
type Work = z.output<typeof Work>

/** The same work with the machine's git and with none on PATH. Each has a copy of its own of one data directory, and works in turn. */
export async function benchWithoutGit(): Promise<string[]> {
  const { ctx, dataDir, kbId } = await importNotes(neurons)
  await ctx.close()
  const other = join(workFolder(), 'data')
  cpSync(dataDir, other, { recursive: true, preserveTimestamps: true })
  const contestants = { git: { dir: dataDir, path: process.env.PATH }, hidden: { dir: other, path: workFolder() } }
  const work = ({ dir, path }: (typeof contestants)['git']): Work => {
    rmSync(join(dir, 'index', kbId), { recursive: true, force: true })
    const { stdout, stderr } = spawnSync(process.execPath, [worker, dir], {
      encoding: 'utf8',
      env: { ...process.env, PATH: path },
    })
    if (stdout === '') throw new Error(stderr)
    return Work.parse(JSON.parse(stdout))
  }
  const times: Record<keyof typeof contestants, Work[]> = { git: [], hidden: [] }
  for (let round = 0; round <= rounds; round++) {
    for (const name of ['git', 'hidden'] as const) {
      const took = work(contestants[name])
      if (round > 0) times[name].push(took)
    }
  }
  const row = (what: string, part: keyof Work, atMost: number) => {
    const [git, hidden] = [least(times.git, part), least(times.hidden, part)]
    const aim = noteAim(`${what} without git`, hidden / git, { atMost }, '× with git')
    return `| ${what} | ${git.toFixed(2)} | ${hidden.toFixed(2)} | ${(hidden / git).toFixed(2)}× | ${aim} |`
  }
  return [
    `| milliseconds, the least of ${rounds} processes; ${neurons} Neurons | git | no git | ratio | aim |`,
    '|---|---|---|---|---|',
    row('first opening', 'opening', 4),
    row('an approval alone', 'approval', 1.2),
    // Equal, but for what a machine does beside.
    row('a read of a Neuron', 'read', 1.1),
  ]
}

/** Returns the minimum, which excludes what other work on the machine adds. */
function least(times: readonly Work[], part: keyof Work): number {
  return Math.min(...times.map((time) => time[part]))
}
