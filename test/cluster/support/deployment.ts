import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ContextOptions, openContext } from '../../../src/app/open-context.ts'
import { consoleRoutes } from '../../../src/console/console.ts'
import { buildServer } from '../../../src/http/server.ts'
import { ingestSteps, rereadSources } from '../../../src/sources/ingest/ingest-steps.ts'
import { startIngest } from '../../../src/sources/ingest/job-runner.ts'
import { s3Server } from '../../state/s3-server.ts'
import { newDatabase } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'

export type Stores = Pick<ContextOptions, 'dataDir' | 'database' | 'bucket' | 'objects'>
export type Deployment = Awaited<ReturnType<typeof startDeployment>>

/** Time of everything that happens, so that no answer changes with time. */
const moment = new Date('2026-03-01T10:00:00.000Z')

/** Locations of the parts of each kind of deployment, all of them empty. */
export const kinds = {
  /** One process: SQLite and a folder. */
  single: async (): Promise<Stores> => ({ dataDir: join(tempDir(), 'data') }),
  /** Rows in PostgreSQL, repositories and bytes in a folder. */
  rows: async (): Promise<Stores> => ({ dataDir: join(tempDir(), 'data'), database: await newDatabase() }),
  /** Rows in PostgreSQL, packs and bytes in a bucket. */
  cluster: async (): Promise<Stores & { s3: Awaited<ReturnType<typeof s3Server>> }> => {
    const s3 = await s3Server()
    return { dataDir: join(tempDir(), 'data'), database: await newDatabase(), objects: s3.options, s3 }
  },
} as const

/** A server in this process, with all that a server does in the background, but for what goes out to others. */
export async function startDeployment({ dataDir, database, bucket, objects }: Stores) {
  const ctx = await openContext({ dataDir, database, bucket, objects, threads, now: () => moment })
  const server = await buildServer(ctx, { pages: consoleRoutes, rateReads: 1_000_000, rateWrites: 1_000_000 })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const onError = (error: unknown) => {
    throw error
  }
  const stopIngest = await startIngest(ctx, ingestSteps(ctx), { onError })
  const stopReading = rereadSources(ctx, { transcriber: undefined, onError })
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    await stopReading()
    await stopIngest()
    await server.close()
    await ctx.close()
  }
  onTestFinished(close)
  return { ctx, server, url, close }
}
