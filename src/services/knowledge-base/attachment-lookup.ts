import type { FileLookup } from '../../knowledge/links/file-target.ts'
import { attachmentsByKey, fileBlob, neuronsBeside, neuronsInFolder } from '../../store/projection/file-queries.ts'
import type { MainTables } from '../../store/projection/projection.ts'

/**
 * Looks up files of main that are no Neurons. A name alone does not lead to the files of pages that somebody may not see: those
 * beside hidden pages only, or in a folder without pages, where the nearest folder around it that has some has hidden ones only. A
 * path that a page spells out leads to any file: whoever approved the page has seen it.
 * @param isVisible whether a reader sees a Neuron; left out for all files
 */
export function attachmentLookup(sql: MainTables, isVisible?: (seqId: string) => boolean): FileLookup {
  const known = new Map<string, boolean>()
  const isOpen = (path: string) => {
    if (isVisible === undefined) return true
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    const open = known.get(folder) ?? isOpenFolder(sql, folder, isVisible)
    known.set(folder, open)
    return open
  }
  return {
    has: (path) => fileBlob(sql, path) !== undefined,
    byKey: (key) => [...attachmentsByKey(sql, key)].filter(isOpen),
  }
}

function isOpenFolder(sql: MainTables, folder: string, isVisible: (seqId: string) => boolean): boolean {
  let open = isSomeVisible(neuronsBeside(sql, folder), isVisible)
  for (let around = folder; open === undefined; around = around.replace(/[^/]*\/$/, '')) {
    open = isSomeVisible(neuronsInFolder(sql, around), isVisible) ?? (around === '' ? false : undefined)
  }
  return open
}

/** Nothing where there are no Neurons. */
function isSomeVisible(seqIds: Iterable<string>, isVisible: (seqId: string) => boolean): boolean | undefined {
  let found: boolean | undefined
  for (const seqId of seqIds) {
    if (isVisible(seqId)) return true
    found = false
  }
  return found
}
