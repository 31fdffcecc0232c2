import type { FileLookup } from '../../rules/links/file-target.ts'
import {
  attachmentsByKey,
  fileBlob,
  neuronsBeside,
  neuronsInFolder,
  neuronsOnceInFolder,
} from '../projection/file-queries.ts'
import { pathClaim } from '../projection/link-queries.ts'
import type { MainTables } from '../projection/projection.ts'

export type AttachmentLookup = FileLookup & { blobOf(path: string): string | undefined }

/** Pages of a folder that are looked at. */
const maxLooked = 2_000

/**
 * Looks up files of main that are no Neurons. A name alone does not lead to the files of pages that somebody may not see: those
 * beside hidden pages only, or in a folder without pages, where the nearest folder around it that has or had some has hidden ones
 * only. A deleted page counts as hidden. A path that a page spells out leads to any file, if there is nothing else of that name: whoever
 * approved the page has seen it.
 * @param isVisible whether a reader sees a Neuron; left out for all files
 */
export function attachmentLookup(sql: MainTables, isVisible?: (seqId: string) => boolean): AttachmentLookup {
  const known = new Map<string, boolean>()
  const isOpen = (path: string) => {
    if (isVisible === undefined) return true
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    const open = known.get(folder) ?? isOpenFolder(sql, folder, isVisible)
    known.set(folder, open)
    return open
  }
  const isThere = (path: string) => fileBlob(sql, path) !== undefined
  return {
    has: (path) => isThere(path) && isOpen(path),
    hides: isThere,
    blobOf: (path) => fileBlob(sql, path),
    byKey: (key) => [...attachmentsByKey(sql, key)].filter(isOpen),
  }
}

/** Whether the names of a folder's files lead somebody to them. */
export function isOpenFolder(sql: MainTables, folder: string, isVisible: (seqId: string) => boolean): boolean {
  let open = isSomeVisible(sql, neuronsBeside(sql, folder), isVisible)
  for (let around = folder; open === undefined; around = around.replace(/[^/]*\/$/, '')) {
    open = isSomeVisible(sql, neuronsInFolder(sql, around), isVisible)
    open ??= isSomeVisible(sql, neuronsOnceInFolder(sql, around), isVisible) ?? (around === '' ? false : undefined)
  }
  return open
}

/** Nothing where there are no Neurons. One that came over the API after a hidden one does not count. */
function isSomeVisible(
  sql: MainTables,
  seqIds: Iterable<string>,
  isVisible: (seqId: string) => boolean,
): boolean | undefined {
  let [shown, hidden] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  let looked = 0
  for (const seqId of seqIds) {
    const { since, yields } = pathClaim(sql, seqId)
    if (!isVisible(seqId)) hidden = Math.min(hidden, since)
    else if (yields) shown = Math.min(shown, since)
    else return true
    if (++looked === maxLooked) break
  }
  return looked === 0 ? undefined : shown < hidden
}
