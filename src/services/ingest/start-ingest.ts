import { v7 as uuidv7 } from 'uuid'
import type { Ganglion } from '../ganglion.ts'
import { type IngestOptions, type IngestSteps, ingestSource } from './ingest-source.ts'
import { JobRunner, type JobRunnerOptions } from './job-runner.ts'

type Options = IngestOptions & Pick<JobRunnerOptions, 'concurrency' | 'heartbeatMs'>

/**
 * Ingests Sources as they come, and those that another process left unfinished. This one must have the data directory for itself.
 * @returns how to stop it, which puts back what is under way.
 */
export async function startIngest(
  ganglion: Ganglion,
  steps: IngestSteps,
  options: Options,
): Promise<() => Promise<void>> {
  // Where others may run jobs, a lease ends by itself.
  if (ganglion.databaseAddress === undefined) await ganglion.jobs.recover()
  for (const { id: documentId, tenantId, kbId } of await ganglion.sources.unfinished()) {
    await ganglion.jobs.enqueue({ documentId, tenantId, kbId }, ganglion.now())
  }
  const work = ingestSource(ganglion, steps, options)
  return new JobRunner(ganglion.jobs, work, { owner: uuidv7(), now: ganglion.now, ...options }).start()
}
