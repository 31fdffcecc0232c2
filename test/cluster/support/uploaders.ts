import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { z } from 'zod'
import type { History } from '../../faults/support/history.ts'
import { IngestApi } from '../../faults/support/ingest/ingest-api.ts'
import { auditEvents, auditNeurons, auditSources } from '../../faults/support/ingest/ingest-audit.ts'
import { ChunkUploader } from '../../faults/support/ingest/ingest-chunks.ts'
import { askAgain, runUploader } from '../../faults/support/ingest/ingest-clients.ts'
import { IngestLedger } from '../../faults/support/ingest/ingest-ledger.ts'
import { readBack } from '../../faults/support/ingest/ingest-read-back.ts'
import { SourceRow } from '../../faults/support/ingest/ingest-rows.ts'
import { storedEvents } from '../../faults/support/told.ts'
import type { Cluster } from './cluster.ts'

/** Milliseconds: what a client waits between two uploads on average. */
const pauseMs = 1_000
/** Milliseconds for which nodes may work without ending any ingest. A lease of a node that was killed lasts for 30 s. */
const patience = 120_000

/** Clients that upload Sources, whole and in chunks, through whichever node, while parts of a cluster fail. */
export class Uploaders {
  readonly #ledger = new IngestLedger()
  readonly #chunks = [new ChunkUploader(this.#ledger), new ChunkUploader(this.#ledger)]
  readonly #cluster: Cluster

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** Until told to stop. What was begun is left as it is then. */
  async work(isOver: () => boolean): Promise<void> {
    const { url, deployment } = this.#cluster
    const api = new IngestApi(url, deployment.token, this.#ledger, 'failures')
    const whole = runUploader(api, this.#ledger, { isOver, waiting: () => 0, pauseMs })
    const inChunks = this.#chunks.map(async (uploader) => {
      for (; !isOver(); await delay(100)) await uploader.work(api, isOver, 100)
    })
    await Promise.all([whole, ...inChunks])
  }

  /** Once nothing fails any more: finishes what was begun, waits for all ingests, and reads all that was acknowledged. */
  async finish(): Promise<void> {
    const { url, deployment } = this.#cluster
    const api = new IngestApi(url, deployment.token, this.#ledger)
    await askAgain(api, this.#ledger)
    for (const uploader of this.#chunks) await uploader.finish(api)
    let waiting = await this.#waiting()
    for (let end = performance.now() + patience; waiting > 0; await delay(200)) {
      const now = await this.#waiting()
      if (now < waiting) end = performance.now() + patience
      if (performance.now() > end) throw new Error(`${now} ingests do not end.`)
      waiting = now
    }
    expect(await readBack(api, this.#ledger, () => true)).toEqual([])
  }

  /** Waits until nothing is kept of uploads that are over: the node that leads looks after that when it begins to. */
  async leaveNothing(): Promise<void> {
    const left = () =>
      this.#count('upload_chunks where upload_id not in (select id from uploads where finalized_at is null)')
    await expect.poll(left).toBe(0)
    expect(await this.#count('sources where content_hash not in (select sha256 from blob_keys)')).toBe(0)
  }

  /** Returns the problems of the Sources, given the acknowledgements: each must exist once, with its events and Neurons. */
  async audit(history: History): Promise<string[]> {
    const { deployment } = this.#cluster
    const rows = z.array(SourceRow).parse(
      await this.#query(
        `select id, content_hash, status, error_message, is_forced::int, attempt::int, created_at, archived_at
          from sources order by seq`,
      ),
    )
    const { database, kbId } = deployment
    const events = (await storedEvents(database, kbId)).map(({ data, ...event }) => ({
      ...event,
      tenantId: '',
      ...data,
    }))
    return [
      ...auditSources(rows, this.#ledger),
      ...auditEvents(rows, this.#ledger, events),
      ...auditNeurons(rows, history, this.#ledger, events),
    ]
  }

  get figures(): string {
    const { sources, cutUploads, cutChunks, failures } = this.#ledger
    const sum = (of: 'finished' | 'resumed') => this.#chunks.reduce((total, uploader) => total + uploader[of], 0)
    const inChunks = `${sum('finished')} in chunks, resumed ${sum('resumed')} times`
    return `${sources.size} Sources (${inChunks}), ${cutUploads + cutChunks} uploads and chunks cut, ${failures} refused`
  }

  #waiting(): Promise<number> {
    return this.#count('jobs')
  }

  async #count(what: string): Promise<number> {
    const [row] = await this.#query(`select count(*)::int as count from ${what}`)
    return z.object({ count: z.number() }).parse(row).count
  }

  #query(text: string): Promise<Record<string, unknown>[]> {
    return this.#cluster.postgres.run(text, 'ganglion')
  }
}
