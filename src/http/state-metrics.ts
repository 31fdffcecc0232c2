import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from 'prom-client'
import type { AppContext } from '../app/open-context.ts'
import { pendingFigures } from '../kb/projection/overview-queries.ts'

/** Figures of the state of a server, which are read when they are asked for. Those of candidates are of open knowledge bases. */
export function measureState(registry: Registry, ctx: AppContext): void {
  const pending = async () => (await ctx.kbs.all()).map((kb) => pendingFigures(kb.projection.read))
  const ages = async () => (await pending()).flatMap(({ oldest }) => (oldest === null ? [] : [secondsSince(oldest)]))
  const disk = () => statfs(ctx.directory.root)
  const failing = (all: readonly { failingSince: string | null }[]) =>
    all.filter(({ failingSince }) => failingSince !== null).length
  const secondsSince = (at: string) => Math.max(0, (ctx.now().getTime() - Date.parse(at)) / 1000)
  const gauges: Record<string, [help: string, read: () => Promise<number> | number]> = {
    ganglion_queue_pending_candidates: [
      'Candidates that wait for a curator.',
      async () => (await pending()).reduce((sum, { count }) => sum + count, 0),
    ],
    ganglion_queue_oldest_pending_seconds: [
      'Age of the oldest candidate that waits; 0 where none does.',
      async () => Math.max(0, ...(await ages())),
    ],
    ganglion_ingest_jobs: ['Sources that wait to be read, or are being read.', () => ctx.jobs.count()],
    ganglion_open_knowledge_bases: ['Knowledge bases that are open.', () => ctx.kbs.identities().length],
    ganglion_open_knowledge_bases_limit: ['Knowledge bases that may be open at once.', () => ctx.kbs.most],
    ganglion_database_size_bytes: ['Size of the database.', () => ctx.database.size()],
    ganglion_disk_size_bytes: [
      'Size of the file system of the data directory.',
      async () => disk().then(({ blocks, bsize }) => blocks * bsize),
    ],
    ganglion_disk_free_bytes: [
      'Free bytes of that file system.',
      async () => disk().then(({ bavail, bsize }) => bavail * bsize),
    ],
    ganglion_webhooks_failing: ['Webhooks whose last delivery failed.', async () => failing(await ctx.webhooks.list())],
    ganglion_forge_links_failing: [
      'Links to forges whose last comparison failed.',
      async () => failing(await ctx.forgeLinks.list()),
    ],
  }
  for (const [name, [help, read]] of Object.entries(gauges)) {
    const collect = async function (this: Gauge) {
      // What cannot be read now must not take the other figures with it.
      this.set(await Promise.resolve(read()).catch(() => Number.NaN))
    }
    new Gauge({ name, help, registers: [registry], collect })
  }
}
