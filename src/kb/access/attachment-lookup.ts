import type { FileLookup } from '../../rules/links/file-target.ts'
import { memoized } from '../../system/memoized.ts'
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

/** Maximum pages of a folder that are checked. */
const maxLooked = 2_000

/**
 * Looks up files of main that are no Neurons. A name alone does not lead a reader to files in a closed folder. A folder is closed if the
 * reader sees none of its pages. A folder without pages is closed if the nearest folder around it that has or had pages is closed. A
 * deleted page counts as hidden. A link with a full path leads to any file whose name no page has, since somebody who saw the file has
 * approved the link.
 * @param isVisible whether a reader sees a Neuron; absent: all files
 */
export function attachmentLookup(sql: MainTables, isVisible?: (seqId: string) => boolean): AttachmentLookup {
  const isOpenFolder = isVisible === undefined ? () => true : openFolders(sql, isVisible)
  const isOpen = (path: string) => isOpenFolder(path.slice(0, path.lastIndexOf('/') + 1))
  const isThere = (path: string) => fileBlob(sql, path) !== undefined
  return {
    has: (path) => isThere(path) && isOpen(path),
    hides: isThere,
    blobOf: (path) => fileBlob(sql, path),
    byKey: (key) => attachmentsByKey(sql, key).filter(isOpen),
  }
}

/**
 * Returns a function that tells whether the name of a file in a folder leads a reader to it. Use it for one request, since it caches.
 * @param opening a folder that gets a page which the reader sees
 */
export function openFolders(
  sql: MainTables,
  isVisible: (seqId: string) => boolean,
  opening?: string,
): (folder: string) => boolean {
  const around: (folder: string) => boolean = memoized(
    (folder) =>
      (opening?.startsWith(folder) || isSomeVisible(sql, neuronsInFolder(sql, folder), isVisible)) ??
      isSomeVisible(sql, neuronsOnceInFolder(sql, folder, maxLooked), isVisible) ??
      (folder !== '' && around(parentOf(folder))),
  )
  return memoized(
    (folder: string) =>
      folder === opening || (isSomeVisible(sql, neuronsBeside(sql, folder), isVisible) ?? around(folder)),
  )
}

/** Returns the folder that contains a folder. Both end with a slash. */
export function parentOf(folder: string): string {
  return folder.replace(/[^/]*\/$/, '')
}

/** True if one of some Neurons is visible; undefined if there are none. A Neuron created over the API after a hidden one does not count. */
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
