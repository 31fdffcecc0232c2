import { openView } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { type FoundName, namesThatBegin, namesWithWord } from '../../kb/projection/link-queries.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { linkKey } from '../../rules/links/link-target.ts'

export type { FoundName }

/** Maximum number of names that are compared for one answer. */
const maxCompared = 200

/**
 * Finds the Neurons visible to the caller by the start of a title or alias, or of a word in one, each once with the matching name. A seqId
 * finds its Neuron. Titles come first, and those in the folders of the page `near` (its path or seqId) before others, so that a page in one
 * language finds pages in that language.
 * @throws {GanglionError} `not_found`
 */
export async function findNames(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { q, limit, near = '' }: { q: string; limit: number; near?: string | undefined },
): Promise<FoundName[]> {
  const view = await openView(ctx, caller, kbName)
  const key = linkKey(q)
  const from = (view.about(near, findNeuron)?.path ?? near).split('/').slice(0, -1)
  const ways = [
    view.rows((sql) => namesThatBegin(sql, key)),
    key === '' ? [] : view.rows((sql) => namesWithWord(sql, key)),
  ]
  const ranked = ways.flatMap((names, way) =>
    [...Iterator.from(names).take(maxCompared)].map((name) => {
      const isExact = linkKey(name.name) === key
      const rank = (isExact ? 0 : 2 + way) + (name.kind === 'title' ? 0 : isExact ? 1 : 2)
      return { name, rank, shared: sharedFolders(from, name.path) }
    }),
  )
  ranked.sort((one, other) => one.rank - other.rank || other.shared - one.shared)
  const named = view.about(q.trim(), findNeuron)
  const found = new Map<string, FoundName>()
  if (named !== undefined) {
    const { seqId, title, path } = named
    found.set(seqId, { seqId, title, name: title, kind: 'title', path })
  }
  for (const { name } of ranked) {
    if (found.size === limit) break
    if (!found.has(name.seqId)) found.set(name.seqId, name)
  }
  return [...found.values()]
}

/** Returns the folder of a Neuron for display; empty for the topmost. */
export function folderOf({ path }: Pick<FoundName, 'path'>): string {
  return path.split('/').slice(1, -1).join('/')
}

function sharedFolders(from: readonly string[], path: string): number {
  const folders = path.split('/').slice(0, -1)
  const differs = folders.findIndex((folder, at) => folder !== from[at])
  return differs < 0 ? folders.length : differs
}
