import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { openOrReplace, openSound, removeFile } from './store-file.ts'

/** Row of a page. The chunks of a page have consecutive ids from `firstChunk`. Ids are not reused until all are renumbered; see `renumber`. */
export type StoredPage = {
  id: number
  key: string
  version: string
  /** The id of its `PageClass`. */
  class: number
  firstChunk: number
  /** Length of each chunk, in terms. */
  lengths: Uint32Array
}

/** Raised whenever what is derived into the tables changes: an older file is emptied and filled again. */
const storeVersion = 12

/** KB of SQLite's page cache: the inner pages of a tree of a million chunks take 10 MB. */
const cacheSize = 16 * 1024
/** Tables that grow with the content. The catalog is read completely and has checksums of its own. */
const bigTables = ['pages', 'chunks', 'hashes', 'removed', 'catalog']

const tables = [
  'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT',
  `CREATE TABLE classes (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, audience TEXT, tags TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, version TEXT NOT NULL, title TEXT NOT NULL,
    path TEXT NOT NULL, tags TEXT NOT NULL, changed_at TEXT NOT NULL, note TEXT
  ) STRICT`,
  // what of the pages is in memory while the index is open, many in a row; see packPages
  'CREATE TABLE catalog (block INTEGER PRIMARY KEY, pages BLOB NOT NULL) STRICT',
  'CREATE INDEX noted_pages ON pages (id) WHERE note IS NOT NULL',
  // terms: what the chunk is found by, in the order of the text, and offsets where it stands there; see pageTerms, OffsetWriter
  // text: NULL where it is the content, as in a chunk without markup, so that the row fits into one page of the file
  `CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, terms TEXT NOT NULL, own_at INTEGER NOT NULL, text_at INTEGER NOT NULL, offsets BLOB NOT NULL,
    headings TEXT NOT NULL, text TEXT, content TEXT NOT NULL
  ) STRICT`,
  // hash: names the text that a chunk's vector is of, see embeddedText; id: in the order in which chunks came. Apart from the texts,
  // which are long to read over
  'CREATE TABLE hashes (id INTEGER PRIMARY KEY AUTOINCREMENT, chunk INTEGER NOT NULL UNIQUE, hash BLOB NOT NULL) STRICT',
  // chunks that are gone, which the files of an engine still have
  'CREATE TABLE removed (id INTEGER PRIMARY KEY, page INTEGER NOT NULL, class INTEGER NOT NULL, terms TEXT NOT NULL) STRICT',
  'CREATE INDEX removed_by_page ON removed (page)',
  // the files that count; sums: checksums of their parts; see SegmentFile
  'CREATE TABLE segments (name TEXT PRIMARY KEY, shape TEXT NOT NULL, sums BLOB NOT NULL) STRICT',
]

/** Opens the file of an index store, or creates it. Discards data of another version, and damaged data. @param analyser version of the analyser */
export function openStore(file: string, analyser: string): DatabaseSync {
  const made = `${storeVersion} ${analyser}`
  return openOrReplace(
    () => openMade(file, made),
    () => removeFile(file),
  )
}

/** Opens a file, and empties it if another version created it. */
function openMade(file: string, made: string): DatabaseSync {
  const db = openSound(file, { bigTables })
  try {
    db.exec(`PRAGMA cache_size = -${cacheSize}`)
    if (!isMade(db, made)) make(db, made)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function isMade(db: DatabaseSync, made: string): boolean {
  const held = new Set(
    db
      .prepare('SELECT sql FROM sqlite_schema')
      .all()
      .map(({ sql }) => sql),
  )
  if (!tables.every((statement) => held.has(statement))) return false
  return db.prepare("SELECT value FROM meta WHERE key = 'made'").get()?.value === made
}

/** True if a file has this version of the tables; {@link openStore} empties others. */
export function isOfStoreVersion(db: DatabaseSync): boolean {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() === undefined) return false
  const made = db.prepare("SELECT value FROM meta WHERE key = 'made'").get()?.value
  return String(made).startsWith(`${storeVersion} `)
}

function make(db: DatabaseSync, made: string): void {
  db.exec('BEGIN IMMEDIATE')
  // Another process may have created the tables meanwhile.
  if (!isMade(db, made)) {
    // A virtual table takes others with it.
    const names = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rootpage")
      .all()
    for (const { name } of names) db.exec(`DROP TABLE IF EXISTS "${name}"`)
    for (const statement of tables) db.exec(statement)
    db.prepare("INSERT INTO meta (key, value) VALUES ('made', ?), ('stamp', ?)").run(made, randomUUID())
  }
  db.exec('COMMIT')
}
