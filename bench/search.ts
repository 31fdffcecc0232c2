import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { noteAim } from './support/aims.ts'
import { workFolder } from './support/measure.ts'

const runner = fileURLToPath(new URL('./support/search-once.ts', import.meta.url))
const Spread = z.object({ p50: z.number(), p99: z.number() })
const Answers = z.object({ times: z.record(z.string(), Spread), refused: z.number() })
/** Times in milliseconds, memory in MB. */
const Figures = z.object({
  /** Chunks a second; absent where the index was there. */
  rate: z.number().optional(),
  restart: z.number(),
  update: Spread,
  heap: z.number(),
  outside: z.number(),
  rss: z.number(),
  quiet: Answers,
  busy: Answers.optional(),
})
type Figures = z.infer<typeof Figures>

/** Chunks: `SEARCH_CHUNKS=1000000` for others. */
const sizes = process.env.SEARCH_CHUNKS?.split(',').map(Number) ?? [10_000, 100_000]
/** `SEARCH_CONTESTANTS=segments` for some of them. */
const contestants = process.env.SEARCH_CONTESTANTS?.split(',') ?? ['fts5', 'minisearch', 'segments']
/** Chunks up to which `auto` takes it. */
const maxMinisearch = 20_000

/** Aims of the engine of large knowledge bases: ratios to the bare FTS5 table, and MB of heap at a million chunks. */
const aims = { rate: 0.4, p50: 0.5, p99: 0.1, update: 1, heap: 300 }

const kinds = ['1 words', '2 words', '5 words', 'prefix', 'retrieve']
const headings = [
  'p50 / p99, milliseconds',
  'build, chunks/s',
  'restart',
  'update',
  'heap',
  'outside',
  'RSS',
  '1 word',
  '2 words',
  '5 words',
  'prefix',
  'retrieve',
]

/** Both engines against a bare FTS5 table on the same chunks of about 1 KB, each in a process of its own. */
export async function benchSearch(): Promise<string[]> {
  const lines: string[] = []
  for (const size of sizes) {
    const figures = contestants
      .filter((contestant) => contestant !== 'minisearch' || size <= maxMinisearch)
      .map((contestant) => ({ contestant, figures: run(contestant, size) }))
    lines.push('', `${size} chunks:`, '', line(headings), line(headings.map(() => '---')))
    for (const { contestant, figures: all } of figures) lines.push(line(cells(contestant, all)))
    const figuresOf = (name: string) => figures.find(({ contestant }) => contestant === name)?.figures
    const segments = figuresOf('segments')
    if (segments !== undefined) noteAims(size, segments, figuresOf('fts5'))
    lines.push('', 'While four times as many processes as there are cores compute:', '')
    lines.push(line(['p50 / p99, milliseconds', ...kinds, 'refused']), line(Array(kinds.length + 2).fill('---')))
    for (const { contestant, figures: all } of figures) {
      if (all.busy !== undefined) lines.push(line([nameOf(contestant), ...times(all.busy), String(all.busy.refused)]))
    }
  }
  return lines
}

function run(contestant: string, size: number): Figures {
  // A big index is built once, and goes on where it was interrupted.
  const folder = process.env.SEARCH_FOLDER ?? workFolder()
  const args = ['--expose-gc', runner, contestant, String(size), folder]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return Figures.parse(JSON.parse(stdout))
}

function noteAims(size: number, ours: Figures, floor: Figures | undefined): void {
  const at = `${size} chunks`
  if (ours.busy !== undefined) noteAim(`busy machine, ${at}`, ours.busy.refused, { atMost: 0 }, 'rejected queries')
  if (size === 1_000_000) noteAim(`heap, ${at}`, ours.heap, { atMost: aims.heap }, 'MB')
  if (size <= maxMinisearch || floor === undefined) return
  const unit = '× FTS5'
  if (ours.rate !== undefined && floor.rate !== undefined) {
    noteAim(`building, chunks a second, ${at}`, ours.rate / floor.rate, { atLeast: aims.rate }, unit)
  }
  for (const kind of kinds) {
    const [time, bare] = [ours.quiet.times[kind], floor.quiet.times[kind]]
    if (time === undefined || bare === undefined) continue
    noteAim(`${kind}, ${at}, p50`, time.p50 / bare.p50, { atMost: aims.p50 }, unit)
    noteAim(`${kind}, ${at}, p99`, time.p99 / bare.p99, { atMost: aims.p99 }, unit)
  }
  noteAim(`an update until it is found, ${at}`, ours.update.p50 / floor.update.p50, { atMost: aims.update }, unit)
}

function cells(contestant: string, figures: Figures): string[] {
  const { rate, restart, update, heap, outside, rss, quiet } = figures
  const memory = [heap, outside, rss].map((mb) => `${mb} MB`)
  const refused = quiet.refused === 0 ? '' : ` (${quiet.refused} refused)`
  return [
    nameOf(contestant) + refused,
    rate?.toFixed(0) ?? '',
    restart.toFixed(0),
    show(update),
    ...memory,
    ...times(quiet),
  ]
}

function times({ times: byKind }: Figures['quiet']): string[] {
  return kinds.map((kind) => show(byKind[kind] ?? { p50: 0, p99: 0 }))
}

function show({ p50, p99 }: z.infer<typeof Spread>): string {
  return `${p50.toFixed(2)} / ${p99.toFixed(2)}`
}

function nameOf(contestant: string): string {
  return contestant === 'fts5' ? 'bare FTS5, `snippet()` included' : `Ganglion, ${contestant}`
}

function line(parts: readonly string[]): string {
  return `| ${parts.join(' | ')} |`
}
