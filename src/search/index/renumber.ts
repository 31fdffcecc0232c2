import { randomUUID } from 'node:crypto'
import type { Catalog } from './catalog.ts'
import type { IndexStore } from './index-store.ts'
import { type CatalogPage, packPages, pagesPerBlock } from './packed-pages.ts'

/** Ids that may be gone, beside as many as are there, before the others move together: each takes some bytes of memory. */
const maxGone = 50_000

/** Whether more ids are gone than there are: every edit of a page takes new ones. Not while a page is taken in, part by part. */
export function isSparse(catalog: Catalog, store: IndexStore): boolean {
  const { pageCount, pageEnd, chunkCount } = catalog
  const isTooLong = pageEnd > 2 * pageCount + maxGone || store.nextChunk > 2 * chunkCount + maxGone
  return isTooLong && catalog.pages().every(({ isWhole }) => isWhole)
}

/** Gives pages and chunks ids without gaps, in the same order. What engines have kept is void then. Within a transaction. */
export function renumber(catalog: Catalog, store: IndexStore): void {
  const { db } = store
  const movePage = db.prepare('UPDATE pages SET id = ? WHERE id = ?')
  const moves = [
    'chunks SET id = id - ? WHERE id >= ? AND id < ?',
    'hashes SET chunk = chunk - ? WHERE chunk >= ? AND chunk < ?',
  ]
  const moveChunks = moves.map((move) => db.prepare(`UPDATE ${move}`))
  const moved: CatalogPage[] = []
  let nextChunk = 1
  for (const page of catalog.pages()) {
    const [id, distance] = [moved.length + 1, page.firstChunk - nextChunk]
    movePage.run(id, page.id)
    for (const move of moveChunks) move.run(distance, page.firstChunk, page.firstChunk + page.lengths.length)
    moved.push({ ...page, id, firstChunk: nextChunk })
    nextChunk += page.lengths.length
  }
  db.exec('DELETE FROM catalog; DELETE FROM segments')
  const blocks = Map.groupBy(moved, ({ id }) => Math.floor(id / pagesPerBlock))
  for (const [block, pages] of blocks) store.setBlock(block, packPages(pages))
  store.removedChunks.forgetSnapshot()
  db.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'pages'").run(moved.length)
  store.nextChunk = nextChunk
  store.setStamp(randomUUID(), moved.length)
}
