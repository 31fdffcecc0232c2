import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { ByteReader, ByteWriter } from '../bytes/byte-writer.ts'
import { openTables } from './store-file.ts'

/** Row of a page. The chunks of a page have consecutive ids from `firstChunk`. Ids are not reused until all are renumbered; see `renumber`. */
export type StoredPage = {
  id: number
  key: string
  version: string
  /** Id of the page's `PageClass`. */
  class: number
  firstChunk: number
  /** Length of each chunk, in terms. */
  lengths: Uint32Array
}

/** Version of the tables' content. Raise it whenever derived data changes: an older file is emptied and filled again. */
const storeVersion = 12

/** KB of SQLite's page cache: the inner pages of a tree of a million chunks take 10 MB. */
const cacheSize = 16 * 1024
/** Tables that grow with the content. The catalog is read completely and has checksums of its own. */
const bigTables = ['pages', 'chunks', 'hashes', 'removed', 'catalog']

const statements = [
  'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT',
  `CREATE TABLE classes (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, audience TEXT, tags TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, version TEXT NOT NULL, title TEXT NOT NULL,
    path TEXT NOT NULL, tags TEXT NOT NULL, changed_at TEXT NOT NULL, note TEXT
  ) STRICT`,
  // catalog: data of pages that is in memory while the index is open, several pages per row; see packPages
  'CREATE TABLE catalog (block INTEGER PRIMARY KEY, pages BLOB NOT NULL) STRICT',
  'CREATE INDEX noted_pages ON pages (id) WHERE note IS NOT NULL',
  // terms: searchable terms in the order of the text; offsets: their places in the text; see pageTerms, OffsetWriter
  // text: NULL if equal to content, as in a chunk without markup, so that the row fits into one page of the file
  `CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, terms TEXT NOT NULL, own_at INTEGER NOT NULL, text_at INTEGER NOT NULL, offsets BLOB NOT NULL,
    headings TEXT NOT NULL, text TEXT, content TEXT NOT NULL
  ) STRICT`,
  // hash: identifies the text embedded for a chunk, see embeddedText; id: order of insertion. A separate table, because scanning the
  // texts takes long
  'CREATE TABLE hashes (id INTEGER PRIMARY KEY AUTOINCREMENT, chunk INTEGER NOT NULL UNIQUE, hash BLOB NOT NULL) STRICT',
  // removed: deleted chunks that an engine's files still contain
  'CREATE TABLE removed (id INTEGER PRIMARY KEY, page INTEGER NOT NULL, class INTEGER NOT NULL, terms TEXT NOT NULL) STRICT',
  'CREATE INDEX removed_by_page ON removed (page)',
  // segments: the current files; sums: checksums of their parts; see SegmentFile
  'CREATE TABLE segments (name TEXT PRIMARY KEY, shape TEXT NOT NULL, sums BLOB NOT NULL) STRICT',
]

/** Opens the file of an index store, or creates it. Discards data of another version, and damaged data. @param analyser version of the analyser */
export function openStore(file: string, analyser: string): DatabaseSync {
  const db = openTables(file, { made: `${storeVersion} ${analyser}`, statements, bigTables })
  db.exec(`PRAGMA cache_size = -${cacheSize}`)
  return db
}

/** True if a file has this version of the tables; {@link openStore} empties others. */
export function isOfStoreVersion(db: DatabaseSync): boolean {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() === undefined) return false
  const made = db.prepare("SELECT value FROM meta WHERE key = 'made'").get()?.value
  return String(made).startsWith(`${storeVersion} `)
}

/** Data of a page that is in memory while an index is open. */
export type CatalogPage = Omit<StoredPage, 'version' | 'lengths'> & { isWhole: boolean; lengths: ArrayLike<number> }

/** Number of pages in one row, so that few rows are read when an index is opened. */
export const pagesPerBlock = 256

const sumLength = 4

/** Packs the pages of one block, by ascending id: a checksum, then for each page its numbers in base 128 and its key. */
export function packPages(pages: Iterable<CatalogPage>): Uint8Array {
  const out = new ByteWriter()
  out.bytes(new Uint8Array(sumLength))
  let lastId = 0
  let lastChunk = 0
  for (const { id, key, class: ofPages, isWhole, firstChunk, lengths } of pages) {
    const name = Buffer.from(key)
    out.varint(id - lastId)
    out.varint(ofPages)
    // Chunks get their ids in the order of the pages.
    out.varint(firstChunk - lastChunk)
    out.varint(2 * lengths.length + (isWhole ? 1 : 0))
    for (let index = 0; index < lengths.length; index++) out.varint(lengths[index] ?? 0)
    out.varint(name.length)
    out.bytes(name)
    lastId = id
    lastChunk = firstChunk
  }
  const packed = Buffer.from(out.written)
  packed.writeUInt32LE(crc32(packed.subarray(sumLength)))
  return packed
}

/** Unpacks a block. @throws if the bytes are not as {@link packPages} wrote them */
export function* unpackPages(bytes: Uint8Array): Generator<CatalogPage> {
  const packed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (packed.length < sumLength || packed.readUInt32LE() !== crc32(packed.subarray(sumLength))) {
    throw new Error('The catalog of a search index is damaged.')
  }
  const reader = new ByteReader(packed, sumLength)
  let id = 0
  let firstChunk = 0
  while (reader.at < packed.length) {
    id += reader.varint()
    const ofPages = reader.varint()
    firstChunk += reader.varint()
    const head = reader.varint()
    const lengths: number[] = []
    for (let left = head >>> 1; left > 0; left--) lengths.push(reader.varint())
    const keyLength = reader.varint()
    const key = packed.toString('utf8', reader.at, reader.at + keyLength)
    reader.at += keyLength
    yield { id, key, class: ofPages, isWhole: (head & 1) === 1, firstChunk, lengths }
  }
}
