import { randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import MiniSearch, { type Options } from 'minisearch'
import type { IndexStore } from '../index/index-store.ts'
import { boundary } from '../index/page-terms.ts'
import type { TermChunk } from '../index/term-engine.ts'

const options: Options<TermChunk> = {
  fields: ['terms'],
  tokenize: (terms) => terms.trim().split(' '),
  processTerm: (term) => (term === boundary ? null : term),
}

/** First line of a snapshot: its id, and the CRC-32 of MiniSearch's own serialisation, which follows. */
type Header = { id: string; crc32: number }
const newline = 0x0a

/** Loads the chunks of a store into MiniSearch: from a valid snapshot if there is one, the rest from their terms. */
export function loadChunks(
  store: IndexStore,
  file: string,
): { index: MiniSearch<TermChunk>; terms: Map<number, string> } {
  const index = restore(store, file) ?? new MiniSearch(options)
  const terms = new Map<number, string>()
  for (const { id, terms: ofChunk } of store.termsOf(0, Number.MAX_SAFE_INTEGER)) {
    terms.set(id, ofChunk)
    if (!index.has(id)) index.add({ id, terms: ofChunk })
  }
  return { index, terms }
}

/** Replaces the snapshot. After a crash there is the old one, the new one, or one that is ignored. Within a transaction. */
export function saveChunks(store: IndexStore, index: MiniSearch<TermChunk>, file: string): void {
  const id = randomUUID()
  const json = Buffer.from(JSON.stringify(index))
  const header = JSON.stringify({ id, crc32: crc32(json) } satisfies Header)
  const unfinished = `${file}.new`
  writeFileSync(unfinished, `${header}\n`)
  appendFileSync(unfinished, json)
  renameSync(unfinished, file)
  store.removedChunks.noteSnapshot(id)
}

/** Loads the snapshot that the store names: the store lists chunks removed since then, and has reused no id. */
function restore(store: IndexStore, file: string): MiniSearch<TermChunk> | undefined {
  try {
    const bytes = readFileSync(file)
    const end = bytes.indexOf(newline)
    const { id, crc32: sum }: Partial<Header> = JSON.parse(bytes.toString('utf8', 0, end))
    const json = bytes.subarray(end + 1)
    // The store names none before the first snapshot.
    if (id === undefined || id !== store.removedChunks.snapshot() || sum !== crc32(json)) return undefined
    const index = MiniSearch.loadJSON<TermChunk>(json.toString('utf8'), options)
    for (const chunk of store.removedChunks.all()) if (index.has(chunk.id)) index.remove(chunk)
    return index
  } catch {
    return undefined
  }
}
