import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { IndexStore } from './index-store.ts'
import { MiniSearchPostings } from './minisearch-postings.ts'

/** What a snapshot holds beside what MiniSearch itself makes of its index. */
const Header = z.object({ store: z.string() })

/** The postings of a store's chunks: from a snapshot as far as there is a sound one, else from their terms. */
export function loadPostings(
  store: IndexStore,
  file: string,
): { postings: MiniSearchPostings; terms: Map<number, string> } {
  const postings = restore(store, file) ?? new MiniSearchPostings()
  const terms = new Map<number, string>()
  for (const { id, terms: ofChunk } of store.allTerms()) {
    terms.set(id, ofChunk)
    if (!postings.has(id)) postings.add({ id, terms: ofChunk })
  }
  // A snapshot that holds anything else is not of this store.
  return postings.documentCount === terms.size ? { postings, terms } : { postings: fill(terms), terms }
}

/** Writes a snapshot in place of the one before; a crash leaves either. */
export function savePostings(store: IndexStore, postings: MiniSearchPostings, file: string): void {
  const unfinished = `${file}.new`
  writeFileSync(unfinished, JSON.stringify({ store: store.id, index: postings }))
  renameSync(unfinished, file)
  store.forgetRemoved()
}

function restore(store: IndexStore, file: string): MiniSearchPostings | undefined {
  try {
    const snapshot = JSON.parse(readFileSync(file, 'utf8'))
    if (Header.parse(snapshot).store !== store.id) return undefined
    const postings = MiniSearchPostings.restore(snapshot.index)
    for (const chunk of store.removed()) if (postings.has(chunk.id)) postings.remove(chunk)
    return postings
  } catch {
    rmSync(file, { force: true })
    return undefined
  }
}

function fill(terms: ReadonlyMap<number, string>): MiniSearchPostings {
  const postings = new MiniSearchPostings()
  for (const [id, ofChunk] of terms) postings.add({ id, terms: ofChunk })
  return postings
}
