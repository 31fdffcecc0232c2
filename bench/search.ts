import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { workFolder } from './support/measure.ts'

const runner = fileURLToPath(new URL('./support/search-once.ts', import.meta.url))
const Figures = z.object({
  build: z.number(),
  restart: z.number(),
  update: z.number(),
  heapMb: z.number(),
  rssMb: z.number(),
  refused: z.record(z.string(), z.number()),
  queries: z.record(z.string(), z.object({ p50: z.number(), p99: z.number() })),
})
type Figures = z.infer<typeof Figures>

/** Chunks: `SEARCH_CHUNKS=1000000` for others. */
const sizes = process.env.SEARCH_CHUNKS?.split(',').map(Number) ?? [10_000, 100_000]
const contestants = ['fts5', 'minisearch', 'segments'] as const

/** Both engines against a bare FTS5 table on the same chunks of about 1 KB, each in a process of its own. */
export async function benchSearch(): Promise<string[]> {
  const lines: string[] = []
  for (const size of sizes) {
    lines.push('', `${size} chunks:`, '')
    lines.push(
      '| milliseconds | build, chunks/s | restart | update | heap | RSS | 1 word p50 / p99 | 2 words | 5 words | prefix | retrieve | refused |',
    )
    lines.push('|---|---|---|---|---|---|---|---|---|---|---|---|')
    for (const contestant of contestants) {
      // What `auto` never does.
      if (contestant === 'minisearch' && size > 20_000) continue
      lines.push(row(contestant, run(contestant, size), size))
    }
  }
  return lines
}

function run(contestant: string, size: number): Figures {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', runner, contestant, String(size), workFolder()],
    {
      encoding: 'utf8',
    },
  )
  if (stdout === '') throw new Error(stderr)
  return Figures.parse(JSON.parse(stdout))
}

function row(contestant: string, figures: Figures, size: number): string {
  const { build, restart, update, heapMb, rssMb, queries, refused } = figures
  const times = Object.values(queries).map(({ p50, p99 }) => `${p50.toFixed(2)} / ${p99.toFixed(2)}`)
  const name = contestant === 'fts5' ? 'bare FTS5, `snippet()` included' : `Ganglion, ${contestant}`
  const rate = ((1000 * size) / build).toFixed(0)
  const count = Object.values(refused).reduce((sum, ofKind) => sum + ofKind, 0)
  return `| ${[name, rate, restart.toFixed(0), update.toFixed(2), `${heapMb} MB`, `${rssMb} MB`, ...times, count].join(' | ')} |`
}
