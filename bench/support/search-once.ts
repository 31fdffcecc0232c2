import { type ChildProcess, spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { SearchTimeout } from '../../src/search/search-index.ts'
import { type GeneratedChunk, generateChunks, queriesOf } from './chunks.ts'
import { milliseconds } from './measure.ts'
import { contestantOf } from './search-contestants.ts'

/**
 * Builds the index of one contestant in a folder, asks it, and prints what that took, all times in milliseconds:
 * NAME CHUNKS FOLDER. Chunks are made while the index is built, so that memory is that of the index.
 */
const [name = '', count = '0', folder = ''] = process.argv.slice(2)
const size = Number(count)
const batch = 50
/** Chunks that queries are made of. */
const sampleSize = 2000
/** Queries of each kind: fewer of a very big index, where FTS5 takes long. */
const asked = { quiet: size > 100_000 ? 100 : 300, busy: 60, updates: 200 }
/** Number of runs of each query. The minimum of its times counts, so that other work on the machine matters less. */
const rounds = 3
/** Processes that keep the machine busy, by core. */
const busyFactor = 4

type Spread = { p50: number; p99: number }
/** Queries by their kind. */
type Query = { kind: string; send: () => number }

const contestant = contestantOf(name, folder)
const before = memory()

/** Returns memory in MB, without garbage if node runs with --expose-gc. */
function memory(): { heap: number; outside: number; rss: number } {
  global.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  const [heap = 0, outside = 0, all = 0] = [heapUsed, external, rss].map((bytes) => Math.round(bytes / 1024 ** 2))
  return { heap, outside, rss: all }
}

function spread(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}

/** Returns the number of chunks, which came in the order of their numbers. */
function heldCount(): number {
  let [low, high] = [0, size]
  while (low < high) {
    const middle = (low + high) >> 1
    if (contestant.has(middle)) low = middle + 1
    else high = middle
  }
  return low
}

/** Takes all chunks in that are not there. @returns how many a second, without making them, and some of all by their number. */
async function build(): Promise<{ rate: number | undefined; sample: Map<number, GeneratedChunk> }> {
  const held = heldCount()
  const sample = new Map<number, GeneratedChunk>()
  const every = Math.max(1, Math.floor(size / sampleSize))
  let time = 0
  let next = 0
  let waiting: GeneratedChunk[] = []
  const put = async () => {
    const [from, chunks] = [next - waiting.length, waiting]
    waiting = []
    time += await milliseconds(() => contestant.put(from, chunks))
  }
  for (const chunk of generateChunks(size)) {
    if (next % every === 0) sample.set(next, chunk)
    next++
    if (next <= held) continue
    waiting.push(chunk)
    if (waiting.length === batch) await put()
  }
  await put()
  time += await milliseconds(() => contestant.close())
  return { rate: held === size ? undefined : (1000 * (size - held)) / time, sample }
}

function queriesFrom(sample: readonly GeneratedChunk[], most: number): Query[] {
  const { search, prefix, retrieve } = contestant
  const words = [1, 2, 5].flatMap((length) =>
    queriesOf(sample, length, most).map((query) => ({ kind: `${length} words`, send: () => search(query) })),
  )
  const beginnings = queriesOf(sample, 1, most).map(([word = '']) => word.slice(0, 4))
  return [
    ...words,
    ...beginnings.map((beginning) => ({ kind: 'prefix', send: () => prefix(beginning) })),
    ...queriesOf(sample, 5, most).map((query) => ({ kind: 'retrieve', send: () => retrieve(query) })),
  ]
}

/** Asks all queries of a kind, round after round. */
async function ask(
  queries: readonly Query[],
  roundCount: number,
): Promise<{ times: Record<string, Spread>; refused: number }> {
  const times: Record<string, Spread> = {}
  let refused = 0
  for (const [kind, ofKind] of Map.groupBy(queries, (query) => query.kind)) {
    const least = ofKind.map(() => Number.POSITIVE_INFINITY)
    for (let round = 0; round < roundCount; round++) {
      for (const [index, { send }] of ofKind.entries()) {
        const time = await milliseconds(() => {
          try {
            send()
          } catch (error) {
            if (!(error instanceof SearchTimeout)) throw error
            refused++
          }
        })
        least[index] = Math.min(least[index] ?? time, time)
      }
    }
    times[kind] = spread(least)
  }
  return { times, refused }
}

/** While processes do nothing but compute. */
async function whileBusy<Result>(work: () => Promise<Result>): Promise<Result> {
  const others = Array.from(
    { length: busyFactor * availableParallelism() },
    (): ChildProcess => spawn(process.execPath, ['-e', 'for (;;) ;'], { stdio: 'ignore' }),
  )
  try {
    return await work()
  } finally {
    for (const other of others) other.kill('SIGKILL')
  }
}

contestant.open()
const { rate, sample } = await build()
const restart = await milliseconds(() => {
  contestant.open()
  contestant.search(['first'])
})
const texts = [...sample.values()]
const quiet = await ask(queriesFrom(texts, asked.quiet), rounds)
const busy = name === 'fts5' ? undefined : await whileBusy(() => ask(queriesFrom(texts, asked.busy), 1))
const updates: number[] = []
for (const [number, chunk] of [...sample].slice(0, asked.updates)) {
  const [query = []] = queriesOf([chunk], 1, 1)
  const change = () => {
    contestant.put(number, [chunk])
    contestant.search(query)
  }
  updates.push(await milliseconds(change))
}
const after = memory()
console.log(
  JSON.stringify({
    rate,
    restart,
    update: spread(updates),
    heap: after.heap - before.heap,
    outside: after.outside - before.outside,
    rss: after.rss,
    quiet,
    busy,
  }),
)
contestant.close()
