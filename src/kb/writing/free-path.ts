import { pathKey } from '../../rules/paths/portable-path.ts'
import { isNameTaken } from '../projection/file-queries.ts'
import type { Projection } from '../projection/projection.ts'

/**
 * Returns the path of a new page, with a number appended if it is taken.
 * @param isTaken true if a file has a path with this key or collides with it; see `pathKey`
 */
export function freePagePath(path: string, isTaken: (key: string) => boolean): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? path : path.replace(/\.md$/, `-${number}.md`)
    if (!isTaken(pathKey(candidate))) return candidate
  }
}

/** Returns whether a file of main has a path with a key, or is below it, or the same commit writes one with it. */
export function takenOnMain(sql: Projection['read'], keys: ReadonlySet<string>): (key: string) => boolean {
  return (key) => keys.has(key) || isNameTaken(sql, key)
}
