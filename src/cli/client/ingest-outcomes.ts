import { Ganglion, type GanglionOptions } from '#client'

export type IngestEnd = { status: 'success' | 'failed'; neurons: number; pending: number; error: string | undefined }

const statusOf = { 'ingest.completed': 'success', 'ingest.failed': 'failed' } as const

/**
 * Resolves once it follows the ends of ingests in a knowledge base, and follows them until the signal aborts.
 * @returns a function that waits for the outcome of a Source's ingest, which may have ended already
 * @throws {GanglionError} if the server refuses the events
 */
export async function followOutcomes(
  server: GanglionOptions,
  kb: string,
  signal: AbortSignal,
): Promise<(documentId: string) => Promise<IngestEnd>> {
  const outcomes = new Map<string, PromiseWithResolvers<IngestEnd>>()
  const outcomeOf = (documentId: string) => {
    const outcome = outcomes.get(documentId) ?? Promise.withResolvers<IngestEnd>()
    outcomes.set(documentId, outcome)
    return outcome
  }
  await new Promise<void>((onOpen, failed) => {
    const follow = async () => {
      for await (const event of new Ganglion(server).events({ kb, onOpen }, { signal })) {
        if (event.kind !== 'ingest.completed' && event.kind !== 'ingest.failed') continue
        const { documentId = '', neurons = 0, pending = 0, error } = event
        outcomeOf(documentId).resolve({ status: statusOf[event.kind], neurons, pending, error })
      }
    }
    follow().catch(failed) // Has no effect after the stream has opened: then the signal has aborted.
  })
  return (documentId) => outcomeOf(documentId).promise
}
