import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { KbIndex } from '../../src/search/kb-index.ts'
import type { Engine, Scope } from '../../src/search/search-index.ts'
import type { GeneratedChunk } from './chunks.ts'
import { plainPage } from './plain-page.ts'

/** Contestant: an index of chunks, each a page of its own. Searches return the number of results. */
export type Contestant = {
  open: () => void
  /** Whether it has the chunk of that number. */
  has: (number: number) => boolean
  /** Takes chunks in, the first of which has the number `from`, in place of those with the same numbers. */
  put: (from: number, chunks: readonly GeneratedChunk[]) => void
  /** The best pages that hold all of the words, with an excerpt of each. */
  search: (words: readonly string[]) => number
  /** The best chunks that hold any of the words. */
  retrieve: (words: readonly string[]) => number
  /** The best pages with a word that begins so. */
  prefix: (beginning: string) => number
  close: () => void
}

const limits = { pages: 50, chunks: 15 }
const scope: Scope = { audience: 'curator', defaultAudience: ['tool', 'public'], limit: limits.pages }

export function contestantOf(name: string, folder: string): Contestant {
  const directory = join(folder, name)
  mkdirSync(directory, { recursive: true })
  return name === 'fts5' ? fts5(directory) : ctx(name === 'segments' ? 'segments' : 'minisearch', directory)
}

function ctx(engine: Engine, directory: string): Contestant {
  let index: KbIndex
  const keyOf = (number: number) => `bench_${String(number).padStart(8, '0')}`
  const pageOf = ({ title, text }: GeneratedChunk, number: number) =>
    plainPage({ key: keyOf(number), title, chunks: [{ headings: [], content: text, text }] })
  return {
    open() {
      index = new KbIndex(directory, { language: 'en', engine })
    },
    has: (number) => index.version(keyOf(number)) !== undefined,
    put: (from, chunks) => index.apply({ put: chunks.map((chunk, at) => pageOf(chunk, from + at)), remove: [] }),
    search: (words) => index.search(words.join(' '), scope).hits.length,
    retrieve: (words) => index.retrieve(words.join(' '), { ...scope, limit: limits.chunks }).length,
    prefix: (beginning) => index.search(`${beginning}*`, scope).hits.length,
    close() {
      index.save()
      index.close()
    },
  }
}

function fts5(directory: string): Contestant {
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
    has: (number) => db.prepare('SELECT rowid FROM chunks WHERE rowid = ?').get(number + 1) !== undefined,
    put(from, chunks) {
      const remove = db.prepare('DELETE FROM chunks WHERE rowid = ?')
      const insert = db.prepare('INSERT INTO chunks (rowid, title, text) VALUES (?, ?, ?)')
      db.exec('BEGIN')
      for (const [at, { title, text }] of chunks.entries()) {
        remove.run(from + at + 1)
        insert.run(from + at + 1, title, text)
      }
      db.exec('COMMIT')
    },
    search: (words) => find(words.map(quote).join(' '), limits.pages),
    retrieve: (words) => find(words.map(quote).join(' OR '), limits.chunks),
    prefix: (beginning) => find(`${quote(beginning)}*`, limits.pages),
    close: () => db.close(),
  }
}
