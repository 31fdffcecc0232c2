import { z } from 'zod'
import { KbId, ObjectId, Timestamp } from './identifiers.ts'
import { Neuron } from './neurons.ts'
import { SeqId } from './vocabulary.ts'

export const BlamePath = z.object({ kb: KbId, seqId: SeqId })

export const BlameQuery = z.object({
  start: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number from 0')
    .transform(Number)
    .default(0)
    .describe('Offset in `content`, in UTF-16 code units, at or after which the sentences begin. Default: 0.')
    .meta({ type: 'integer', minimum: 0, maximum: 999_999_999 }),
})

export const BlamedSentence = z
  .object({
    text: z.string().describe('The sentence, as it is written in Markdown.'),
    start: z.int().min(0).describe('Where it begins in `content` of the Neuron, in UTF-16 code units.'),
    end: z.int().min(0).describe('Where it ends.'),
    version: z.int().positive().describe('Version of the Neuron that brought it.'),
    commit: ObjectId.describe('Commit of that version.'),
    at: Timestamp.describe('Time of that commit.'),
    approvedBy: z
      .string()
      .describe('Names of those who approved it, with commas between, or of who wrote it around the server.'),
    candidateId: z.string().nullable().describe('UUID of the candidate that brought it. Null if none did.'),
    proposedBy: z
      .string()
      .nullable()
      .describe(
        'For curators: name of who proposed the sentence, or who added it to the candidate; for a key that a person made, that person, with the name of the key in brackets. Null if no candidate brought it.',
      )
      .exactOptional(),
    connector: z
      .string()
      .nullable()
      .describe('For curators: connector of the candidate. Null if there is none.')
      .exactOptional(),
    model: z
      .string()
      .nullable()
      .describe('For curators: language model that wrote it, as the sender said. Null if none.')
      .exactOptional(),
    sources: Neuron.shape.sources.describe(
      'Places in Sources that the sentence was ingested from. Absent if it came another way.',
    ),
  })
  .meta({ id: 'BlamedSentence' })
export type BlamedSentence = z.infer<typeof BlamedSentence>

/** Blame parameters for questions, whose answers cite passages. */
export const AskedBlame = z
  .boolean()
  .describe('`true`: say with each passage or citation who said its sentences. Default: `false`.')
  .exactOptional()
export const ShownBlame = z
  .array(BlamedSentence)
  .describe('With `blame`: who said the sentences of the passage, in the order of the page.')
  .exactOptional()

export const Blame = z
  .object({
    seqId: SeqId,
    title: z.string().describe('Title.'),
    version: z.int().positive().describe('Version of the Neuron that is explained.'),
    commit: ObjectId.describe('Commit of this version.'),
    sentences: z.array(BlamedSentence).describe('Sentences of the Neuron, in order: at most 2,500, and 1 MB of JSON.'),
    nextStart: z
      .int()
      .min(0)
      .describe('If there are more sentences: where the next one begins. Ask again with this as `start`.')
      .exactOptional(),
  })
  .meta({
    id: 'Blame',
    description: 'Who said each sentence of a Neuron.',
    examples: [
      {
        seqId: 'handbook_00000042',
        title: 'VIP escalation policy',
        version: 3,
        commit: '3f786850e387550fdab836ed7e6dc881de23001b',
        sentences: [
          {
            text: 'When a VIP customer raises a ticket, page the lead.',
            start: 0,
            end: 51,
            version: 1,
            commit: '89e6c98d92887913cadf06b2adb97f26cde4849b',
            at: '2026-01-08T09:12:44Z',
            approvedBy: 'Ada',
            candidateId: '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70',
            proposedBy: 'Ingest',
            connector: 'ingest',
            model: null,
            sources: [{ id: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90', filename: 'support.pdf', page: '4' }],
          },
        ],
      },
    ],
  })
export type Blame = z.infer<typeof Blame>
