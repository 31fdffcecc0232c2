import { z } from 'zod'
import { CommitId, KbId, ObjectId, Timestamp } from './identifiers.ts'
import { EdgeType, SeqId } from './vocabulary.ts'

export const NeuronPath = z.object({
  kb: KbId.describe('Slug or UUID of the knowledge base.').meta({ examples: ['handbook'] }),
  seqId: z
    .union([SeqId, z.uuid()])
    .describe("The Neuron's seqId, or its document's UUID.")
    .meta({ examples: ['handbook_00000042'] }),
})

export const NeuronQuery = z.strictObject({
  at: CommitId.describe('A commit on `main`: the Neuron as it stood then.').exactOptional(),
})

export const Neuron = z
  .object({
    seqId: SeqId,
    title: z.string(),
    content: z.string().describe('Markdown.'),
    version: z.int().positive(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    tags: z.array(z.string()),
    links: z.array(z.object({ type: EdgeType, target: SeqId })),
    documentId: z.string().nullable().describe('A UUID. Null where a push gave it none yet.'),
    path: z.string().describe("Path of its file in the knowledge base's repository."),
    commit: ObjectId.describe('The commit that made this version.'),
    candidateId: z
      .string()
      .nullable()
      .describe('The candidate that made this version. Null where a push had none yet.'),
  })
  .meta({
    id: 'Neuron',
    description: 'The Neuron.',
    examples: [
      {
        seqId: 'handbook_00000042',
        title: 'VIP escalation policy',
        content: 'When a VIP customer raises a ticket, page the lead. See [[On-call rotation]].\n',
        version: 3,
        createdAt: '2026-01-08T09:12:44Z',
        updatedAt: '2026-03-02T14:01:10Z',
        tags: ['policy', 'escalation'],
        links: [{ type: 'supersedes', target: 'handbook_00000007' }],
        documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90',
        path: 'neurons/2026/01/vip-escalation-policy.md',
        commit: '3f786850e387550fdab836ed7e6dc881de23001b',
        candidateId: '019caed1-03b2-7d5e-9c1a-2b3c4d5e6f70',
      },
    ],
  })
export type Neuron = z.infer<typeof Neuron>
