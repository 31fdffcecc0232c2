import { pathKey } from '../knowledge/portable-path.ts'
import { isPathTaken } from '../store/neuron-queries.ts'
import type { KnowledgeBase } from './knowledge-base.ts'

/**
 * The path of a new page, or the first with a number behind it, that no file of main has or collides with, nor one that the same
 * commit writes. Within a write.
 * @param keys of the paths that the commit writes; see `pathKey`.
 */
export function freePagePath({ projection }: KnowledgeBase, path: string, keys: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? path : path.replace(/\.md$/, `-${number}.md`)
    const key = pathKey(candidate)
    if (!keys.has(key) && !isPathTaken(projection.write, key)) return candidate
  }
}
