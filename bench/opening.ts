import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { createKnowledgeBase, operator } from '../src/services/create-kb.ts'
import { Ganglion } from '../src/services/ganglion.ts'
import { importDirectory } from '../src/services/import/import-directory.ts'
import { durableGit, inTurn, milliseconds, show, workFolder } from './support/measure.ts'
import { generateNotes } from './support/notes.ts'

const neurons = 10_000
const opener = fileURLToPath(new URL('./support/open-once.ts', import.meta.url))
const Opened = z.object({ milliseconds: z.number(), rssMb: z.number(), neurons: z.number() })

/** Opening a knowledge base, projection and links included, against only reading its blobs. Each opening is a process. */
export async function benchOpening(): Promise<string[]> {
  const dir = workFolder()
  const dataDir = join(dir, 'data')
  const vault = join(dir, 'vault')
  for (const { path, text } of generateNotes(neurons)) {
    mkdirSync(dirname(join(vault, path)), { recursive: true })
    writeFileSync(join(vault, path), text)
  }
  const ganglion = await Ganglion.open({ dataDir })
  const { id, gitDir } = await createKnowledgeBase(ganglion, { tenant: 'bench', slug: 'bench' })
  const tenantId = (await ganglion.tenants.find('bench'))?.id ?? ''
  const kb = await ganglion.kb(tenantId, 'bench')
  const importing = await milliseconds(() => importDirectory(kb, vault, { actor: operator, now: ganglion.now }))
  await ganglion.close()
  durableGit(gitDir, ['repack', '-adq'])

  const index = join(dataDir, 'index', id)
  const oids = durableGit(gitDir, ['ls-tree', '-r', '--format=%(objectname)', 'main', 'neurons/'])
  const opened = () => {
    const { stdout, stderr } = spawnSync(process.execPath, [opener, dataDir], { encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return Opened.parse(JSON.parse(stdout))
  }
  let memory = { first: 0, second: 0 }
  const times = await inTurn(3, {
    first: async () => {
      rmSync(index, { recursive: true, force: true })
      const { milliseconds: time, rssMb, neurons: count } = opened()
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
  const ratio = (times.first.median / times.catFile.median).toFixed(2)
  return [
    `Import of ${neurons} notes: ${(importing / 1000).toFixed(1)} s.`,
    '',
    '| milliseconds: median (min–max) | time | memory | ratio | aim |',
    '|---|---|---|---|---|',
    `| bare \`git cat-file --batch\` of ${neurons} Neurons | ${show(times.catFile)} | | 1 | |`,
    `| first opening: rules, links and ${neurons} candidates included | ${show(times.first)} | ${memory.first} MB | ${ratio}× | ≤ 3× |`,
    `| second start | ${show(times.second)} | ${memory.second} MB | | < 1000 ms |`,
  ]
}
