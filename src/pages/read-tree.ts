import { decodeCursor, encodeCursor } from '../contract/envelope.ts'
import { GanglionError } from '../contract/errors.ts'
import { viewFor } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import { nextNeurons, type TreeRow } from '../kb/projection/neuron-queries.ts'
import { type KbLabel, kbLabel, PerCommit, type ReadableKb } from '../kb/readable-kb.ts'
import { effectiveAudience } from '../rules/access/audience.ts'
import type { Caller } from '../rules/access/caller.ts'
import { pauses } from '../system/pauses.ts'

/** Entry of a folder: another folder, by its path below `neurons/`, or a page. */
export type TreeEntry =
  | { kind: 'folder'; name: string; path: string }
  | { kind: 'page'; name: string; seqId: string; title: string }

export type TreePage = { kb: KbLabel; folder: string; entries: TreeEntry[]; nextCursor: string | null }

export type TreeQuery = { folder: string; cursor?: string | undefined; limit: number }

const root = 'neurons/'
const beginnings = new PerCommit<Omit<TreePage, 'kb'>>()

/**
 * Returns a page of a folder's entries visible to the caller, by name: folders with a Neuron somewhere below them, and Neurons. The time
 * does not depend on the size of the folders.
 * @param query `folder` is a path below `neurons/`, empty for the outermost
 * @throws {GanglionError} `not_found`, also for a folder in which nothing is visible
 */
export async function readTree(ctx: Context, caller: Caller, kbName: string, query: TreeQuery): Promise<TreePage> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const read = () => entriesOf(caller, kb, query)
  const { folder, cursor, limit } = query
  // Every page of the console shows the beginnings of the folders around it.
  const key = `${effectiveAudience(caller)} ${limit} ${folder}`
  return { kb: await kbLabel(kb), ...(await (cursor === undefined ? beginnings.get(kb, key, read) : read())) }
}

async function entriesOf(
  caller: Caller,
  kb: ReadableKb,
  { folder, cursor, limit }: TreeQuery,
): Promise<Omit<TreePage, 'kb'>> {
  const view = await viewFor(caller, kb)
  const start = folder === '' ? root : `${root}${folder}/`
  const end = behind(start)
  const pause = pauses()
  const entries: TreeEntry[] = []
  let after = cursor === undefined ? start : decodeCursor(cursor, (place) => place >= start && place <= end)
  let last = after
  for (let size = 1; ; size = Math.min(2 * size, limit + 1)) {
    await pause()
    let rows: TreeRow[] = []
    const visible = new Set(view.rows((sql) => (rows = nextNeurons(sql, after, { before: end, limit: size }))))
    if (rows.length === 0) break
    for (const row of rows) {
      after = row.path
      if (!visible.has(row)) continue
      if (entries.length === limit) return { folder, entries, nextCursor: encodeCursor(last) }
      const [name = '', ...below] = row.path.slice(start.length).split('/')
      last = below.length === 0 ? after : behind(`${start}${name}/`)
      if (below.length === 0) entries.push({ kind: 'page', name, seqId: row.seqId, title: row.title })
      else {
        entries.push({ kind: 'folder', name, path: `${start}${name}`.slice(root.length) })
        // The other rows may be below the same folder.
        after = last
        size = 1
        break
      }
    }
  }
  if (entries.length === 0 && folder !== '' && cursor === undefined) throw new GanglionError('not_found')
  return { folder, entries, nextCursor: null }
}

/** Returns the first key after all paths in a folder, which ends with a slash: `0` follows the slash. */
function behind(folder: string): string {
  return `${folder.slice(0, -1)}0`
}
