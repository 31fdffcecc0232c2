import { readdirSync } from 'node:fs'
import { DataDirectory } from '../../../../src/state/directory/data-directory.ts'
import type { Deployment } from '../deployment.ts'
import { gitLines } from '../git.ts'
import { blobsOf, extractorsOf } from './ingest-remains.ts'
import { readRows, sourceRows } from './ingest-rows.ts'

/** Counts what kills have interrupted. */
export class Figures {
  readonly met = new Map<string, number>()
  #orphans = new Set<string>()

  count(name: string, isSo = true): void {
    this.met.set(name, (this.met.get(name) ?? 0) + Number(isSo))
  }

  /** Must be called right before a kill. */
  before({ dataDir }: Deployment): void {
    this.count('an extractor at work', extractorsOf(dataDir).length > 0)
  }

  /** Must be called while no server runs. */
  async after({ dataDir, gitDir }: Deployment): Promise<void> {
    const rows = sourceRows(dataDir)
    const last = new Map(
      readRows(
        dataDir,
        `SELECT data ->> 'documentId' AS id, coalesce(data ->> 'stage', kind) AS told FROM events
        WHERE kind GLOB 'ingest.*' ORDER BY events.id`,
      ).map(({ id, told }) => [id, told]),
    )
    const unfinished = rows.filter(({ status, archived_at }) => archived_at === null && status === 'processing')
    const waiting = rows.filter(({ status }) => status === 'pending' || status === 'ready')
    const committed = new Set(
      await gitLines(gitDir, ['log', '--format=%(trailers:key=Source,valueonly)', 'refs/heads/main']),
    )
    this.count('a Source that waits', waiting.length > 0)
    for (const stage of ['extracting', 'compiling', 'committing']) {
      this.count(
        `told ${stage}`,
        [...waiting, ...unfinished].some(({ id }) => last.get(id) === stage),
      )
    }
    this.count(
      'committed, but not told',
      unfinished.some(({ id, attempt }) => attempt === 1 && committed.has(id)),
    )
    this.count('a file in incoming', readdirSync(DataDirectory.open(dataDir).incoming).length > 0)
    const named = new Set(rows.map(({ content_hash }) => content_hash))
    const orphans = [...blobsOf(dataDir).hashes].filter((hash) => !named.has(hash))
    this.count(
      'a new blob without a Source',
      orphans.some((hash) => !this.#orphans.has(hash)),
    )
    this.#orphans = new Set(orphans)
  }
}
