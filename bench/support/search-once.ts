import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { KbIndex } from '../../src/search/kb-index.ts'
import { type Scope, SearchTimeout } from '../../src/search/search-index.ts'
import { generateChunks, queriesOf } from './chunks.ts'
import { milliseconds } from './measure.ts'

/** Builds one contestant's index of generated chunks, asks it, and prints what that took. */
type Contestant = {
  open: () => void
  /** The chunks from one number to before another. */
  put: (from: number, to: number) => void
  search: (words: readonly string[]) => number
  /** The best chunks that hold any of the words. */
  retrieve: (words: readonly string[]) => number
  /** Words that begin so. */
  prefix: (beginning: string) => number
  close: () => void
}

const limit = 50
const scope: Scope = { audience: 'curator', defaultAudience: ['tool', 'public'], limit }
const [name = '', size = '0', directory = ''] = process.argv.slice(2)
const chunks = generateChunks(Number(size))

/** In MB, without garbage where node runs with --expose-gc. */
function heapUsed(): number {
  global.gc?.()
  return Math.round(process.memoryUsage().heapUsed / 1024 ** 2)
}

function ganglion(engine: 'minisearch' | 'segments'): Contestant {
  let index: KbIndex
  const documents = chunks.map(({ title, text }, n) => ({
    key: `bench_${String(n).padStart(8, '0')}`,
    kind: 'wiki' as const,
    version: '1',
    title,
    aliases: [],
    tags: [],
    audience: undefined,
    note: undefined,
    chunks: [{ headings: [], content: text, text }],
  }))
  return {
    open() {
      index = new KbIndex(directory, { language: 'en', engine })
    },
    put: (from, to) => index.apply({ put: documents.slice(from, to), remove: [] }),
    search: (words) => index.search(words.join(' '), scope).hits.length,
    retrieve: (words) => index.retrieve(words.join(' '), { ...scope, limit: 15 }).length,
    prefix: (beginning) => index.search(`${beginning}*`, scope).hits.length,
    close() {
      index.save()
      index.close()
    },
  }
}

function fts5(): Contestant {
  let db: DatabaseSync
  const quote = (word: string) => `"${word}"`
  const find = (match: string, count: number) =>
    db
      .prepare(
        `SELECT rowid, rank, snippet(chunks, -1, '<mark>', '</mark>', '…', 40) FROM chunks
          WHERE chunks MATCH ? ORDER BY rank LIMIT ${count}`,
      )
      .all(match).length
  return {
    open() {
      db = new DatabaseSync(join(directory, 'fts5.db'))
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      db.exec("CREATE VIRTUAL TABLE IF NOT EXISTS chunks USING fts5(title, text, tokenize = 'porter unicode61')")
    },
    put(from, to) {
      const remove = db.prepare('DELETE FROM chunks WHERE rowid = ?')
      const insert = db.prepare('INSERT INTO chunks (rowid, title, text) VALUES (?, ?, ?)')
      db.exec('BEGIN')
      for (const [at, { title, text }] of chunks.slice(from, to).entries()) {
        remove.run(from + at + 1)
        insert.run(from + at + 1, title, text)
      }
      db.exec('COMMIT')
    },
    search: (words) => find(words.map(quote).join(' '), limit),
    retrieve: (words) => find(words.map(quote).join(' OR '), 15),
    prefix: (beginning) => find(`${quote(beginning)}*`, limit),
    close: () => db.close(),
  }
}

const contestant = name === 'fts5' ? fts5() : ganglion(name === 'segments' ? 'segments' : 'minisearch')
const batch = 50
const before = heapUsed()
contestant.open()
const build = await milliseconds(() => {
  for (let start = 0; start < chunks.length; start += batch) contestant.put(start, start + batch)
})
contestant.close()
const restart = await milliseconds(() => {
  contestant.open()
  contestant.search(['first'])
})
const queries: Record<string, { p50: number; p99: number }> = {}
const refused: Record<string, number> = {}

async function ask(
  kind: string,
  asked: readonly string[][],
  send: (query: readonly string[]) => number,
): Promise<void> {
  for (const query of asked.slice(0, 30)) answered(kind, () => send(query))
  const times: number[] = []
  for (const query of asked) times.push(await milliseconds(() => answered(kind, () => send(query))))
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
  queries[kind] = { p50: at(0.5), p99: at(0.99) }
}

function answered(kind: string, send: () => number): void {
  try {
    send()
  } catch (error) {
    if (!(error instanceof SearchTimeout)) throw error
    refused[kind] = (refused[kind] ?? 0) + 1
  }
}

for (const words of [1, 2, 5]) await ask(`${words} words`, queriesOf(chunks, words, 300), contestant.search)
const single = queriesOf(chunks, 1, 300)
await ask(
  'prefix',
  single.map(([word = '']) => [word.slice(0, 4)]),
  ([beginning = '']) => contestant.prefix(beginning),
)
await ask('retrieve', queriesOf(chunks, 5, 300), contestant.retrieve)
const updates: number[] = []
for (let n = 0; n < 200; n++) {
  const [query = []] = queriesOf(chunks.slice(n * 7, n * 7 + 1), 1, 1)
  const change = () => {
    contestant.put(n * 7, n * 7 + 1)
    contestant.search(query)
  }
  updates.push(await milliseconds(change))
}
const update = updates.sort((a, b) => a - b)[100] ?? 0
const heapMb = heapUsed() - before
const rssMb = Math.round(process.memoryUsage().rss / 1024 ** 2)
console.log(JSON.stringify({ build, restart, update, heapMb, rssMb, queries, refused }))
contestant.close()
