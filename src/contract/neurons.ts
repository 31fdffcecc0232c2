import { z } from 'zod'
import { Cursor, PageLimit } from './envelope.ts'
import { CommitId, KbId, ObjectId, Timestamp, Uuid } from './identifiers.ts'
import { EdgeType, SeqId } from './vocabulary.ts'

export const NeuronPath = z.object({
  kb: KbId.describe('Slug or UUID of the knowledge base.').meta({ examples: ['handbook'] }),
  seqId: z
    .union([SeqId, Uuid])
    .describe("The Neuron's seqId, or its document's UUID.")
    .meta({ examples: ['handbook_00000042'] }),
})

export const NeuronQuery = z.object({
  at: CommitId.describe('A commit on `main`: the Neuron as it stood then.').exactOptional(),
})

const KbSlug = z.string().describe('Slug of another knowledge base; absent where it is the same.').exactOptional()

const UnresolvedLink = z
  .object({
    target: z.string().describe('As written.'),
    type: EdgeType,
    kb: KbSlug,
    reason: z.enum(['missing', 'ambiguous']).describe('No Neuron answers to the target, or several do.'),
    candidates: z.array(SeqId).describe('With `ambiguous`: the Neurons that it may mean, ten at most.').exactOptional(),
    line: z.int().positive().nullable().describe('1-based, in `content`. Null for a link of the front matter.'),
  })
  .meta({ id: 'UnresolvedLink' })

const SourceReference = z
  .object({
    id: z.string().describe("The Source's document UUID.").exactOptional(),
    filename: z.string().exactOptional(),
    sha256: z.string().exactOptional(),
    page: z.string().describe('One, or the first and the last: `5-9`.').exactOptional(),
    slide: z.string().describe('As `page`.').exactOptional(),
    sheet: z.string().exactOptional(),
    time: z.string().describe('Seconds from the beginning.').exactOptional(),
  })
  .meta({ id: 'SourceReference' })

export const Neuron = z
  .object({
    seqId: SeqId,
    title: z.string(),
    content: z.string().describe('Markdown.'),
    version: z.int().positive(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    tags: z.array(z.string()),
    links: z
      .array(z.object({ type: EdgeType, target: SeqId, kb: KbSlug }))
      .describe('Each type and target once, in their order: edges and links of the front matter first.'),
    backlinks: z
      .array(z.object({ seqId: SeqId, title: z.string(), type: EdgeType }))
      .describe(
        'Links from other Neurons of the knowledge base, each Neuron and type once, by seqId; the first 1000. Those of today, with `at` too.',
      ),
    unresolved: z
      .array(UnresolvedLink)
      .describe('Links that lead to no Neuron, or to several, among those that the caller may see.'),
    files: z
      .array(z.object({ target: z.string().describe('As written.'), path: z.string(), url: z.string() }))
      .describe('Images and other attachments that it embeds or links to, each target once, in their order.')
      .exactOptional(),
    parsed: z
      .literal('partial')
      .describe(
        'There where a part of `content` was too complex to parse, or it has more than 2000 links: that part is searched as it is written, and its links are found by their pattern.',
      )
      .exactOptional(),
    sources: z.array(SourceReference).describe('Where its knowledge came from, and the place in it.').exactOptional(),
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
        backlinks: [{ seqId: 'handbook_00000011', title: 'Support desk', type: 'cites' }],
        unresolved: [{ target: 'On-call rotation', type: 'cites', reason: 'missing', line: 1 }],
        documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90',
        path: 'neurons/2026/01/vip-escalation-policy.md',
        commit: '3f786850e387550fdab836ed7e6dc881de23001b',
        candidateId: '019caed1-03b2-7d5e-9c1a-2b3c4d5e6f70',
      },
    ],
  })
export type Neuron = z.infer<typeof Neuron>

export const NeuronListQuery = z.object({
  tag: z
    .string()
    .min(1)
    .max(200)
    .describe('Only Neurons with this tag, whatever its case and accents.')
    .exactOptional(),
  cursor: Cursor.describe('`nextCursor` of the page before.').exactOptional(),
  limit: PageLimit.describe('1 to 100; 50 without it.'),
})
export type NeuronListQuery = z.output<typeof NeuronListQuery>

export const NeuronPage = z
  .object({
    neurons: z
      .array(
        Neuron.pick({
          seqId: true,
          title: true,
          path: true,
          tags: true,
          version: true,
          createdAt: true,
          updatedAt: true,
          documentId: true,
        }),
      )
      .describe('By seqId.'),
    nextCursor: z.string().nullable().describe('Null on the last page.'),
  })
  .meta({ id: 'NeuronPage', description: 'A page of Neurons.' })
export type NeuronPage = z.infer<typeof NeuronPage>
