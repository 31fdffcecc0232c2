import { z } from 'zod'
import { EndUser } from './candidates.ts'
import { KbUuid, TextOrUuid } from './identifiers.ts'
import { Moment } from './moment.ts'
import { SeqId } from './vocabulary.ts'

/** Maximum number of Neurons whose reversals are one entry of the queue and one commit. More are split into parts. */
export const maxUndone = 500

/** Request to undo what one writer has changed on main since a time. */
export const UndoInput = z
  .object({
    by: z
      .enum(['key', 'person', 'connector', 'source', 'model'])
      .describe(
        'What the changes have in common: the API key or person that sent them or uploaded their Source, their connector, ' +
          'their Source, or the model that wrote them, by `metadata.model` of their candidates.',
      ),
    writer: TextOrUuid.min(1).max(200).meta({
      description:
        'UUID or name of the API key, UUID or e-mail address of the person, UUID of the Source, or name of the connector or model.',
      maxLength: 200,
    }),
    onBehalfOf: EndUser.shape.id
      .describe(
        'Only changes by candidates that were sent on behalf of the end user with this id (`metadata.onBehalfOf`).',
      )
      .exactOptional(),
    since: Moment.describe(
      'From when on: a day (UTC), or a time with its zone, to the second. What counts is when `main` took the change.',
    ),
    dryRun: z.boolean().default(false).describe('`true`: only say what would be proposed. Nothing is stored.'),
  })
  .meta({
    id: 'UndoInput',
    description: 'The changes to take back.',
    examples: [{ by: 'connector', writer: 'mcp', since: '2026-11-26T08:00:00Z' }],
  })
export type UndoInput = z.output<typeof UndoInput>

export const UndoAnswer = z
  .object({
    kbId: KbUuid,
    message: z.string().describe('Message for a person; the wording may change.'),
    queueUrl: z.string().nullable().describe('URL of the first reversal in the console; null if none is in the queue.'),
    reversals: z
      .array(
        z.object({
          candidateId: z
            .uuid()
            .nullable()
            .describe('UUID of the candidate; null with `dryRun`, unless it waits already.'),
          seqId: SeqId,
          title: z.string().describe('Title that its approval gives the Neuron, or the title of the removed one.'),
          action: z
            .enum(['change', 'remove', 'restore'])
            .describe(
              'What its approval does to the Neuron: removes one that the writer made, restores one that it removed.',
            ),
          conflicts: z
            .boolean()
            .describe('Whether a later change by others conflicts, which a curator must solve first.'),
          warnings: z.array(z.string()).describe('Later changes by others, and what becomes of them.'),
        }),
      )
      .describe(
        'Pending candidates, one for each Neuron. Up to 500 are one entry of the queue; more are several, in this order.',
      ),
    kept: z
      .array(z.object({ seqId: SeqId, reason: z.string().describe('Why, for a person; the wording may change.') }))
      .describe('Neurons that the writer changed and that stay as they are.'),
  })
  .meta({
    id: 'UndoAnswer',
    description: 'The proposed reversals.',
    examples: [
      {
        kbId: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
        message: 'In the queue, a reversal of 1 Neuron waits.',
        queueUrl: '/queue/019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70',
        reversals: [
          {
            candidateId: '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70',
            seqId: 'handbook_00000042',
            title: 'VIP escalation policy',
            action: 'change',
            conflicts: false,
            warnings: ['What Ada changed since stays.'],
          },
        ],
        kept: [],
      },
    ],
  })
export type UndoAnswer = z.output<typeof UndoAnswer>
