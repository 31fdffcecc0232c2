import { z } from 'zod'
import { KbId, Timestamp } from './identifiers.ts'
import { CandidateStatus } from './vocabulary.ts'

export const EventKind = z.enum([
  'source.uploaded',
  'ingest.started',
  'ingest.progress',
  'ingest.completed',
  'ingest.failed',
  'candidate.created',
  'candidate.approved',
  'candidate.held',
  'candidate.dismissed',
  'candidate.reopened',
  'candidate.revised',
  'candidate.changes-requested',
  'candidate.assigned',
  'candidate.commented',
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
  documentId: z.string().describe('Document UUID of the Neuron or Source.').exactOptional(),
  candidateId: z.string().describe('UUID of the candidate.').exactOptional(),
  seqId: z.string().describe('seqId of the Neuron.').exactOptional(),
  commit: z.string().describe('Commit on `main`.').exactOptional(),
  status: z
    .enum([...CandidateStatus.options, 'ready', 'processing', 'success', 'failed'])
    .describe('Status of the candidate or Source.')
    .exactOptional(),
  stage: IngestStage.describe('With `ingest.progress`: the current stage.').exactOptional(),
  done: z.int().min(0).describe('Completed part of the stage, out of `total`.').exactOptional(),
  total: z.int().min(0).describe('0 while it is unknown.').exactOptional(),
  neurons: z.int().min(0).describe('With `ingest.completed`: number of its Neurons.').exactOptional(),
  pending: z.int().min(0).describe('With `ingest.completed`: number of its pending candidates.').exactOptional(),
  error: z.string().describe('With `ingest.failed`: the cause, for a person.').exactOptional(),
  reason: z
    .string()
    .describe('With `candidate.changes-requested`, for its sender and curators: what to change.')
    .exactOptional(),
  lines: z.string().describe('With `reason`: the lines of the text that it is about, such as `3-5`.').exactOptional(),
  problems: z.array(z.string()).describe('With `kb.pushed`: faults of the commit.').exactOptional(),
})
export type EventData = z.infer<typeof EventData>

/** An event of a tenant's log. */
export const LoggedEvent = EventData.extend({
  id: z.int().describe('Grows within the tenant.'),
  kind: EventKind.describe('What happened.'),
  tenantId: z.string().describe('UUID of the tenant.'),
  kbId: z.string().describe('UUID of the knowledge base.'),
  at: Timestamp.describe('Time when it was logged.'),
}).meta({ id: 'Event', description: 'Data of an event. A field is present if it applies to the kind.' })
export type LoggedEvent = z.infer<typeof LoggedEvent>

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
