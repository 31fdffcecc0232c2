import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { integersOf } from './index/index-store.ts'
import { isOfStoreVersion, unpackPages } from './index/store-tables.ts'
import { storeFile } from './kb-index.ts'
import { isSoundFile } from './segments/format/segment-bytes.ts'

/** Versions of the pages in an index file, by key, and the damage found in it. */
export type CheckedIndex = { versions: Map<string, string>; problems: string[] }

const busyTimeoutMs = 10_000

/**
 * Checks the index on disk in one read transaction, even while another process has it open. Changes nothing.
 * @returns undefined if there is no index, or one of another format, which is rebuilt when it is opened
 */
export function checkIndex(directory: string): CheckedIndex | undefined {
  const file = join(directory, storeFile)
  if (!existsSync(file)) return undefined
  const versions = new Map<string, string>()
  try {
    using db = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs })
    db.exec('BEGIN')
    const found = db.prepare('PRAGMA quick_check(5)').all().flatMap(Object.values).map(String)
    if (found[0] !== 'ok') return { versions, problems: found }
    if (!isOfStoreVersion(db)) return undefined
    const ids = new Map<string, number>()
    for (const { id, key, version } of db.prepare('SELECT id, key, version FROM pages').iterate()) {
      versions.set(String(key), String(version))
      ids.set(String(key), Number(id))
    }
    return { versions, problems: [...catalogProblems(db, ids), ...segmentProblems(db, directory)] }
  } catch (error) {
    return { versions, problems: [error instanceof Error ? error.message : String(error)] }
  }
}

/** Compares the catalog with the table of pages. @param ids of the pages by key */
function catalogProblems(db: DatabaseSync, ids: ReadonlyMap<string, number>): string[] {
  const problems: string[] = []
  const named = new Set<string>()
  for (const { pages } of db.prepare('SELECT pages FROM catalog').iterate()) {
    for (const { id, key } of unpackPages(pages instanceof Uint8Array ? pages : new Uint8Array())) {
      named.add(key)
      if (ids.get(key) !== id) problems.push(`the page ${key} is gone`)
    }
  }
  for (const key of ids.keys()) if (!named.has(key)) problems.push(`the page ${key} is not in the catalog`)
  return problems
}

function segmentProblems(db: DatabaseSync, directory: string): string[] {
  return db
    .prepare('SELECT name, shape, sums FROM segments')
    .all()
    .filter(({ name, shape, sums }) => {
      const { size } = JSON.parse(String(shape))
      return !isSoundFile(join(directory, String(name)), size, integersOf(sums))
    })
    .map(({ name }) => `${name} is missing or damaged`)
}
