import type { Catalog } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import { matchesNote } from '../query/matches-note.ts'
import type { Query } from '../query/query-tree.ts'

/**
 * Pages that a shared note alone makes a hit, by key.
 * @param among 1 for each page that may be found, by id. @param matching those that were found otherwise
 * @throws {SearchTimeout}
 */
export function notedPages(
  query: Query,
  catalog: Catalog,
  { among, matching, deadline }: { among: Uint8Array; matching: () => Uint8Array; deadline: Deadline },
): { page: number; note: string }[] {
  const noted: { page: number; note: string }[] = []
  let found: Uint8Array | undefined
  for (const [page, note] of catalog.notes()) {
    deadline.check()
    if (among[page] !== 1 || !matchesNote(query, note)) continue
    found ??= matching()
    if (found[page] === 1) continue
    noted.push({ page, note })
  }
  return noted.sort((a, b) => (catalog.keyOf(a.page) < catalog.keyOf(b.page) ? -1 : 1))
}
