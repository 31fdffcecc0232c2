import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { AppContext } from '../app/open-context.ts'
import { pendingFigures } from '../kb/projection/overview-queries.ts'
import { projectionFile } from '../kb/projection/projection.ts'
import { embeddingFigures, kbSearch } from '../search/kb/kb-search.ts'
import type { Limits } from './access/rate-limits.ts'

/** A number, or a number for each value of the label. */
type Figures = number | Record<string, number>
type Figure = { help: string; label?: string; isCounter?: boolean; read: () => Promise<Figures> | Figures }

/** Adds figures of a server's state, which are read on demand. Some cover only the open knowledge bases. */
export function measureState(registry: Registry, ctx: AppContext, limits: Pick<Limits, 'openStreams'>): void {
  const figures = { ...queueFigures(ctx), ...jobFigures(ctx), ...searchFigures(ctx), ...storageFigures(ctx) }
  const all: Record<string, Figure> = {
    ...figures,
    ...deliveryFigures(ctx),
    ...embeddingsFigures(ctx),
    ganglion_event_streams: { help: 'Streams of events that are open.', read: () => limits.openStreams() },
  }
  for (const [name, { help, label, isCounter, read }] of Object.entries(all)) {
    const collect = async function (this: Gauge | Counter) {
      // A figure that cannot be read now must not fail the others.
      const value = await Promise.resolve()
        .then(read)
        .catch(() => Number.NaN)
      this.reset()
      if (typeof value === 'number') this.inc(value)
      else for (const [state, count] of Object.entries(value)) this.inc({ [label ?? '']: state }, count)
    }
    const labelNames = label === undefined ? [] : [label]
    ;new (isCounter ? Counter : Gauge)({ name, help, labelNames, registers: [registry], collect })
  }
}

function queueFigures(ctx: AppContext): Record<string, Figure> {
  const pending = () => ctx.kbs.opened().map((kb) => pendingFigures(kb.projection.read))
  return {
    ganglion_queue_pending_candidates: {
      help: 'Candidates that wait for a curator, of open knowledge bases.',
      read: () => sum(pending().map(({ count }) => count)),
    },
    ganglion_queue_oldest_pending_seconds: {
      help: 'Age of the oldest candidate that waits, of open knowledge bases; 0 where none does.',
      read: () => longest(pending().map(({ oldest }) => secondsSince(ctx, oldest))),
    },
    ganglion_open_knowledge_bases: { help: 'Knowledge bases that are open.', read: () => ctx.kbs.identities().length },
    ganglion_open_knowledge_bases_limit: {
      help: 'Knowledge bases that may be open at once.',
      read: () => ctx.kbs.most,
    },
  }
}

function jobFigures({ jobs, now }: AppContext): Record<string, Figure> {
  return {
    ganglion_ingest_jobs: {
      help: 'Sources that are to be ingested: waiting, running, or retrying after a failure.',
      label: 'state',
      async read() {
        const { waiting, running, retrying } = await jobs.figures()
        return { waiting, running, retrying }
      },
    },
    ganglion_ingest_oldest_due_seconds: {
      help: 'Time for which the Source that is first in turn could have been ingested; 0 where none waits.',
      read: async () => secondsSince({ now }, (await jobs.figures()).dueSince),
    },
  }
}

/** Returns the search figures of open knowledge bases. */
function searchFigures(ctx: AppContext): Record<string, Figure> {
  const indexes = () => ctx.kbs.opened().map((kb) => kbSearch(kb, ctx).figures)
  return {
    ganglion_follower_lag_seconds: {
      help: 'Time for which tables, or a search index, of an open knowledge base have been behind its commits.',
      label: 'follower',
      read: () => ({
        tables: longest(
          ctx.kbs
            .opened()
            .map(({ activity: { followingSince: since } }) => (since ? performance.now() - since : 0) / 1000),
        ),
        search: longest(indexes().map(({ behindMs }) => behindMs / 1000)),
      }),
    },
    ganglion_search_indexes: {
      help: 'Search indexes of open knowledge bases: current; behind, as an update brings; or idle, not asked since something changed.',
      label: 'state',
      read() {
        const counts = { current: 0, behind: 0, idle: 0 }
        for (const { state } of indexes()) counts[state]++
        return counts
      },
    },
    ganglion_search_unindexed_documents: {
      help: 'Pages and Sources that search indexes are about to take in.',
      read: () => sum(indexes().map(({ lacking }) => lacking)),
    },
  }
}

function storageFigures(ctx: AppContext): Record<string, Figure> {
  const { directory, database, databaseAddress } = ctx
  const disk = () => statfs(directory.root)
  const sizeOf = (file: string) =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    )
  return {
    ganglion_database_size_bytes: { help: 'Size of the database.', read: () => database.size() },
    ganglion_wal_size_bytes: {
      help: 'Size of the write-ahead logs: of the database if it is a file, and of the tables of open knowledge bases.',
      label: 'of',
      async read() {
        const files = ctx.kbs.identities().map(({ id }) => join(directory.index(id), projectionFile))
        const sizes = await Promise.all(files.map((file) => sizeOf(`${file}-wal`)))
        const ofDatabase = databaseAddress === undefined ? await sizeOf(`${directory.database}-wal`) : 0
        return { database: ofDatabase, tables: sum(sizes) }
      },
    },
    ganglion_disk_size_bytes: {
      help: 'Size of the file system of the data directory.',
      read: async () => disk().then(({ blocks, bsize }) => blocks * bsize),
    },
    ganglion_disk_free_bytes: {
      help: 'Free bytes of that file system.',
      read: async () => disk().then(({ bavail, bsize }) => bavail * bsize),
    },
  }
}

function deliveryFigures(ctx: AppContext): Record<string, Figure> {
  const { webhooks, forgeLinks } = ctx
  const failing = (all: readonly { failingSince: string | null }[]) =>
    all.filter(({ failingSince }) => failingSince !== null).length
  return {
    ganglion_webhooks_failing: {
      help: 'Webhooks whose last delivery failed.',
      read: async () => failing(await webhooks.list()),
    },
    ganglion_webhook_lag_seconds: {
      help: 'Time for which the deliveries of a webhook have failed, of the one that fails for longest.',
      read: async () => longest((await webhooks.list()).map(({ failingSince }) => secondsSince(ctx, failingSince))),
    },
    ganglion_webhook_lag_events: {
      help: 'Events that the webhook which is furthest behind has still to look at.',
      read: () => webhooks.lag(),
    },
    ganglion_forge_links_failing: {
      help: 'Links to forges whose last comparison failed.',
      read: async () => failing(await forgeLinks.list()),
    },
    ganglion_forge_lag_seconds: {
      help: 'Time since the last comparison with a forge that succeeded, of the link that is furthest behind.',
      read: async () =>
        longest((await forgeLinks.list()).map((link) => secondsSince(ctx, link.syncedAt ?? link.createdAt))),
    },
  }
}

function embeddingsFigures(ctx: AppContext): Record<string, Figure> {
  const { embeddingModel } = ctx
  if (embeddingModel === undefined) return {}
  const read = (figure: keyof Awaited<ReturnType<typeof embeddingFigures>>) => async () =>
    (await embeddingFigures(ctx, embeddingModel))[figure]
  return {
    ganglion_embedded_chunks: { help: 'Chunks of open knowledge bases that have a vector.', read: read('embedded') },
    ganglion_unembedded_texts: { help: 'Texts of open knowledge bases that lack a vector.', read: read('lacking') },
    ganglion_embeddings_texts_total: {
      help: 'Texts that the embeddings model was asked about.',
      isCounter: true,
      read: read('texts'),
    },
    ganglion_embeddings_questions_total: {
      help: 'Questions that the embeddings model was asked about.',
      isCounter: true,
      read: read('questions'),
    },
    ganglion_embeddings_failures_total: {
      help: 'Requests that the embeddings model did not answer, or not in time.',
      isCounter: true,
      read: read('failures'),
    },
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

function longest(seconds: readonly number[]): number {
  return Math.max(0, ...seconds)
}

function secondsSince({ now }: Pick<AppContext, 'now'>, at: string | null): number {
  return at === null ? 0 : Math.max(0, (now().getTime() - Date.parse(at)) / 1000)
}
