import { z } from 'zod'
import { Cursor, NextCursor, PageLimit, Switch } from './envelope.ts'
import { CommitId, KbId, ObjectId, Timestamp, Uuid } from './identifiers.ts'
import { DayOf, Moment } from './moment.ts'
import { Previewed, PreviewParameter } from './preview.ts'
import { EdgeType, SeqId } from './vocabulary.ts'

export const NeuronPath = z.object({
  kb: KbId,
  seqId: z
    .union([SeqId, Uuid])
    .describe('seqId of the Neuron, or its UUID.')
    .meta({ examples: ['handbook_00000042'] }),
})

export const StillTrue = z
  .object({
    until: DayOf.describe(
      'Last day on which the page counts as true: `2027-05-26`, or a time with its zone, which stands for its day in UTC. ' +
        'Default: by `verify` in `kb.yaml`; without a rule there, for ever.',
    ).exactOptional(),
  })
  .meta({ id: 'StillTrue', description: 'How long the page counts as true.', examples: [{ until: '2027-05-26' }] })

export const NeuronQuery = z.object({
  at: CommitId.describe(
    'Commit of `main`, or at least its first 4 digits: read the version of the Neuron at this commit.',
  ).exactOptional(),
  preview: PreviewParameter,
})

const KbSlug = z
  .string()
  .describe('Slug of the other knowledge base. Absent for a link within the knowledge base.')
  .exactOptional()

const UnresolvedLink = z
  .object({
    target: z.string().describe('Target as written in the page.'),
    type: EdgeType,
    kb: KbSlug,
    reason: z
      .enum(['missing', 'ambiguous'])
      .describe('`missing`: no Neuron has this name. `ambiguous`: several Neurons have it.'),
    candidates: z.array(SeqId).describe('With `ambiguous`: the matching Neurons, at most 10.').exactOptional(),
    line: z
      .int()
      .positive()
      .nullable()
      .describe('Line in `content`; starts at 1. Null for a link in the front matter.'),
  })
  .meta({ id: 'UnresolvedLink' })

export const SourceField = z
  .object({
    id: z.string().describe('UUID of the Source.').exactOptional(),
    filename: z.string().describe('Name of the uploaded file.').exactOptional(),
    sha256: z.string().describe('SHA-256 of the file, in hexadecimal.').exactOptional(),
    page: z.string().describe('Page number, or a range of pages: `5-9`.').exactOptional(),
    slide: z.string().describe('Slide number, or a range of slides: `5-9`.').exactOptional(),
    sheet: z.string().describe('Name of the sheet.').exactOptional(),
    time: z.string().describe('Position in a recording, in seconds.').exactOptional(),
  })
  .meta({ id: 'SourceReference' })

export const VerifiedField = z.object({
  by: z.string().describe('Who said that the page is true.').exactOptional(),
  at: z.iso.date().describe('Day on which they said so.'),
  until: z.iso.date().describe('Last day on which it counts as true.').exactOptional(),
  edition: z.string().describe('UUID of the edition of a cited Source that they knew.').exactOptional(),
})

const example = {
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
}

/** True for a page past its date, in every answer that names it. */
export const Stale = z
  .literal(true)
  .describe(
    'The page is past the day until which it was verified, or older than an edition of a Source that it cites. Absent on others.',
  )
  .exactOptional()

export const Neuron = z
  .object({
    seqId: SeqId,
    title: z.string().describe('Title.'),
    content: z.string().describe('Markdown body.'),
    version: z.int().positive().describe('Version number; starts at 1.'),
    createdAt: Timestamp.describe('Time of the first version.'),
    updatedAt: Timestamp.describe('Time of this version.'),
    tags: z.array(z.string()).describe('Tags.'),
    links: z
      .array(z.object({ type: EdgeType, target: SeqId, kb: KbSlug }))
      .describe('Links to Neurons, each type and target once: links of the front matter first, then in text order.'),
    backlinks: z
      .array(
        z.object({ seqId: SeqId, title: z.string().describe('Title of the Neuron that links here.'), type: EdgeType }),
      )
      .describe(
        'Current links from other Neurons of the knowledge base, also with `at`; each Neuron and type once, by seqId, at most 1,000.',
      ),
    unresolved: z.array(UnresolvedLink).describe('Links without exactly one target that the caller may see.'),
    files: z
      .array(
        z.object({
          target: z.string().describe('Target as written in the page.'),
          path: z.string().describe('Path of the file in the repository.'),
          url: z.string().describe('URL of the file.'),
        }),
      )
      .describe('Images and attachments of the page, each target once, in text order. Absent if there are none.')
      .exactOptional(),
    parsed: z
      .literal('partial')
      .describe(
        'Present if a part of `content` is too complex to parse, or has more than 20,000 links. That part is searched as plain text.',
      )
      .exactOptional(),
    sources: z
      .array(SourceField)
      .describe('Sources of the Neuron, with the place in each. Absent if there are none.')
      .exactOptional(),
    verified: VerifiedField.describe(
      'Who last said that the page is still true. Absent if nobody did.',
    ).exactOptional(),
    owner: z
      .string()
      .describe('Who answers for the page, as it says: an e-mail, or the name of a key.')
      .exactOptional(),
    properties: z
      .record(z.string(), z.unknown())
      .describe(
        'Keys of the front matter that `publish.keys` of `kb.yaml` names, as texts, lists and objects. Absent if the page has none.',
      )
      .exactOptional(),
    stale: Stale,
    newEdition: SourceField.pick({ id: true, filename: true })
      .describe(
        'The latest edition of a Source that the page cites, if it came after the page and the caller may see it.',
      )
      .exactOptional(),
    documentId: z.string().nullable().describe('UUID of the Neuron. Null if a push added the file without one.'),
    path: z.string().describe('Path of the file in the repository.'),
    commit: ObjectId.describe('Commit of this version.'),
    candidateId: z
      .string()
      .nullable()
      .describe('UUID of the candidate of this version. Null for a push without a candidate.'),
    preview: Previewed,
  })
  .meta({
    id: 'Neuron',
    description: 'A Neuron with its links in both directions.',
    examples: [example],
  })
export type Neuron = z.infer<typeof Neuron>

const NeuronSort = z.enum(['seqId', 'updatedAt', '-updatedAt'])
export type NeuronSort = z.infer<typeof NeuronSort>

export const NeuronListQuery = z.object({
  tag: z.string().min(1).max(200).describe('Only Neurons with this tag. Case and accents are ignored.').exactOptional(),
  updatedSince: Moment.describe(
    'Only Neurons whose current version is of this day (UTC) or time, or later: `2026-11-26`, or a time with its zone.',
  ).exactOptional(),
  stale: Switch.describe('`true`: only Neurons that are stale.').meta({ type: 'boolean' }).optional(),
  owner: z
    .string()
    .min(1)
    .max(300)
    .describe('Only Neurons that this person or key owns: e-mail, or name of the key.')
    .exactOptional(),
  sort: NeuronSort.describe('Order; `-updatedAt`: latest change first. Default: `seqId`.').exactOptional(),
  cursor: Cursor.exactOptional(),
  limit: PageLimit,
  preview: PreviewParameter,
})
export type NeuronListQuery = z.output<typeof NeuronListQuery>

const ListedNeuron = Neuron.pick({
  ...{ seqId: true, title: true, path: true, tags: true },
  ...{ version: true, createdAt: true, updatedAt: true, documentId: true },
  ...{ verified: true, owner: true, stale: true, newEdition: true },
})

export const NeuronPage = z
  .object({
    neurons: z.array(ListedNeuron).describe('Neurons in the order of `sort`.'),
    nextCursor: NextCursor,
    preview: Previewed,
  })
  .meta({
    id: 'NeuronPage',
    description: 'A page of Neurons.',
    examples: [{ neurons: [ListedNeuron.parse(example)], nextCursor: null }],
  })
export type NeuronPage = z.infer<typeof NeuronPage>
