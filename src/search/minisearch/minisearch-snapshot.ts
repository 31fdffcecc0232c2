import { randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { IndexStore } from '../index/index-store.ts'
import { MiniSearchPostings } from './minisearch-postings.ts'

/** The first line of a snapshot: which it is, and the CRC-32 of what MiniSearch itself made of its index, behind it. */
type Header = { id: string; crc32: number }
const newline = 0x0a

/** The postings of a store's chunks: from a snapshot as far as there is a sound one, else from their terms. */
export function loadPostings(
  store: IndexStore,
  file: string,
): { postings: MiniSearchPostings; terms: Map<number, string> } {
  const postings = restore(store, file) ?? new MiniSearchPostings()
  const terms = new Map<number, string>()
  for (const { id, terms: ofChunk } of store.termsOf(0, Number.MAX_SAFE_INTEGER)) {
    terms.set(id, ofChunk)
    if (!postings.has(id)) postings.add({ id, terms: ofChunk })
  }
  return { postings, terms }
}

/**
 * Writes a snapshot of what is stored in place of the one before; a crash leaves either, or none that counts. Within a
 * transaction.
 */
export function savePostings(store: IndexStore, postings: MiniSearchPostings, file: string): void {
  const id = randomUUID()
  const index = Buffer.from(JSON.stringify(postings))
  const header = JSON.stringify({ id, crc32: crc32(index) } satisfies Header)
  const unfinished = `${file}.new`
  writeFileSync(unfinished, `${header}\n`)
  appendFileSync(unfinished, index)
  renameSync(unfinished, file)
  store.removedChunks.noteSnapshot(id)
}

/** Only the last that the store knows of: since then it tells what was removed, and no id was given out twice. */
function restore(store: IndexStore, file: string): MiniSearchPostings | undefined {
  try {
    const bytes = readFileSync(file)
    const end = bytes.indexOf(newline)
    const { id, crc32: sum }: Partial<Header> = JSON.parse(bytes.toString('utf8', 0, end))
    const index = bytes.subarray(end + 1)
    // The store has none before the first snapshot.
    if (id === undefined || id !== store.removedChunks.snapshot() || sum !== crc32(index)) return undefined
    const postings = MiniSearchPostings.restore(JSON.parse(index.toString('utf8')))
    for (const chunk of store.removedChunks.all()) if (postings.has(chunk.id)) postings.remove(chunk)
    return postings
  } catch {
    return undefined
  }
}
