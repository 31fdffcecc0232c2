import { z } from 'zod'
import { KbId } from './identifiers.ts'
import { CandidateStatus } from './vocabulary.ts'

export const EventKind = z.enum([
  'source.uploaded',
  'ingest.started',
  'ingest.progress',
  'ingest.completed',
  'ingest.failed',
  'candidate.created',
  'candidate.approved',
  'candidate.dismissed',
  'candidate.reopened',
  'neuron.created',
  'neuron.updated',
  'neuron.deleted',
  'kb.pushed',
])
export type EventKind = z.infer<typeof EventKind>

/** Current stage of an ingest. */
export const IngestStage = z.enum(['extracting', 'compiling', 'committing'])
export type IngestStage = z.infer<typeof IngestStage>

/** Data of an event; each field is present if it applies to the kind. */
export const EventData = z.object({
  documentId: z.string().exactOptional(),
  candidateId: z.string().exactOptional(),
  seqId: z.string().exactOptional(),
  commit: z.string().exactOptional(),
  /** Status of the candidate or Source. */
  status: z.enum([...CandidateStatus.options, 'ready', 'processing', 'success', 'failed']).exactOptional(),
  stage: IngestStage.exactOptional(),
  /** Completed part of the stage, out of `total`; `total` is 0 while it is unknown. */
  done: z.int().min(0).exactOptional(),
  total: z.int().min(0).exactOptional(),
  /** Number of Neurons of an ingested Source, and of its pending candidates. */
  neurons: z.int().min(0).exactOptional(),
  pending: z.int().min(0).exactOptional(),
  /** Cause of a failed ingest, for a person. */
  error: z.string().exactOptional(),
  problems: z.array(z.string()).exactOptional(),
})
export type EventData = z.infer<typeof EventData>

/** An event of a tenant's log. */
export type LoggedEvent = EventData & {
  /** Grows within the tenant. */
  id: number
  kind: EventKind
  tenantId: string
  kbId: string
  /** Time when it was logged: ISO 8601, UTC. */
  at: string
}

export const EventsQuery = z.object({
  kb: KbId.describe('Slug or UUID of one knowledge base. Default: every knowledge base of the tenant.').exactOptional(),
})
export type EventsQuery = z.output<typeof EventsQuery>

/**
 * Header of a client that resumes a stream. Parses to a number; an unknown id parses to infinity instead of an error, because a
 * browser's EventSource does not reconnect after a 400.
 */
export const LastEventId = z.looseObject({
  'last-event-id': z
    .string()
    .transform((text) => (/^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY))
    .describe('Id of the last received event: the stream starts with the next one.')
    .exactOptional(),
})
