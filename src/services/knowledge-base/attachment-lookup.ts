import type { FileLookup } from '../../knowledge/links/file-target.ts'
import { isNeuronPath } from '../../knowledge/paths/neuron-path.ts'
import { attachmentsByKey, fileBlob } from '../../store/projection/file-queries.ts'
import type { MainTables } from '../../store/projection/projection.ts'

/** Looks up files of main that are not pages. */
export function attachmentLookup(sql: MainTables): FileLookup {
  return {
    has: (path) => !isNeuronPath(path) && fileBlob(sql, path) !== undefined,
    byKey: (key) => [...attachmentsByKey(sql, key)].filter((path) => !isNeuronPath(path)),
  }
}
