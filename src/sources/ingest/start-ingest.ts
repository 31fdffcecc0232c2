import { v7 as uuidv7 } from 'uuid'
import type { Context } from '../../kb/context.ts'
import { type IngestOptions, type IngestSteps, ingestSource } from './ingest-source.ts'
import { JobRunner, type JobRunnerOptions } from './job-runner.ts'

type Options = IngestOptions & Pick<JobRunnerOptions, 'concurrency' | 'heartbeatMs'>

/**
 * Ingests Sources as they come, and those that another process left unfinished. This one must have the data directory for itself.
 * @returns how to stop it, which puts back what is under way.
 */
export async function startIngest(ctx: Context, steps: IngestSteps, options: Options): Promise<() => Promise<void>> {
  // Where others may run jobs, a lease ends by itself.
  if (ctx.databaseAddress === undefined) await ctx.jobs.recover()
  for (const { id: documentId, tenantId, kbId } of await ctx.sources.unfinished()) {
    await ctx.jobs.enqueue({ documentId, tenantId, kbId }, ctx.now())
  }
  const work = ingestSource(ctx, steps, options)
  return new JobRunner(ctx.jobs, work, { owner: uuidv7(), now: ctx.now, ...options }).start()
}
