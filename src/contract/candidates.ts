import { z } from 'zod'
import { Cursor, MergeConflict, PageLimit } from './envelope.ts'
import { ObjectId, TextOrUuid, Timestamp, Uuid } from './identifiers.ts'
import { CandidateKind, CandidateStatus, SeqId, Zone } from './vocabulary.ts'

const maxTitle = 500
const maxContentBytes = 512 * 1024

export const WellFormed = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must not hold NUL or lone surrogates')

/** Length in characters (code points), as JSON Schema counts them: an emoji is one. */
const Title = WellFormed.min(1)
  .refine(
    (title) => title.length <= 2 * maxTitle && [...title].length <= maxTitle,
    `must be at most ${maxTitle} characters`,
  )
  .meta({ maxLength: maxTitle })

const Content = WellFormed.min(1)
  .refine((content) => Buffer.byteLength(content) <= maxContentBytes, 'must be at most 512 KB')
  .meta({ maxLength: maxContentBytes })

const Metadata = z
  .union([z.string(), z.record(z.string(), z.unknown())], { error: 'must be a JSON object, or the text of one' })
  .nullable()
  .default(null)
  .describe(
    'The text of a JSON object; an object is taken as well. `connector`, `sourceUrl`, `tags`, `targetNeuron`, …. A correction says with `baseVersion` or `baseCommit` which version of its target it was written from, and with `replaceTags: true` that `tags` is the whole list.',
  )

/** A proposed Neuron. Parses to one KB (a slug or UUID) and to metadata as text. */
export const CandidateInput = z
  .object({
    knowledgeBaseId: TextOrUuid.describe('Slug or UUID of the knowledge base.').exactOptional(),
    kb: TextOrUuid.describe('Another name for `knowledgeBaseId`.').exactOptional(),
    kind: CandidateKind,
    title: Title,
    content: Content.describe('Markdown body of the proposed Neuron; at most 512 KB in UTF-8.'),
    metadata: Metadata,
    confidence: z.number().min(0).max(1).nullable().default(null).describe('Feeds automatic approval.'),
    impactEstimate: z.int().positive().nullable().default(null).describe('What curators sort their work by.'),
  })
  .refine(({ kb, knowledgeBaseId = kb }) => knowledgeBaseId !== undefined, {
    path: ['knowledgeBaseId'],
    error: 'must name a knowledge base',
    // Told along with what is wrong with the other fields.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .meta({
    id: 'CandidateInput',
    anyOf: [{ required: ['knowledgeBaseId'] }, { required: ['kb'] }],
    examples: [
      {
        knowledgeBaseId: 'handbook',
        kind: 'external-feed',
        title: 'VIP escalation policy',
        content: 'When a VIP customer raises a ticket, page the lead. See [[On-call rotation]].\n',
        metadata: '{"connector":"api","sourceUrl":"https://example.com/vip","tags":["policy"]}',
        confidence: 0.8,
      },
    ],
  })
  .transform(({ kb = '', knowledgeBaseId = kb, metadata, ...candidate }) => {
    const isText = metadata === null || typeof metadata === 'string'
    return { ...candidate, knowledgeBaseId, metadata: isText ? metadata : JSON.stringify(metadata) }
  })
export type CandidateInput = z.output<typeof CandidateInput>

const candidateId = '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70'

/** What was done otherwise than the sender may think. */
export const Warning = z
  .object({
    code: z.string().describe('Stable.'),
    message: z.string().describe('For a person; may change.'),
    seqId: SeqId.describe('The other Neuron that it is about.').exactOptional(),
  })
  .meta({ id: 'Warning' })
export type Warning = z.infer<typeof Warning>

export const CandidateReceipt = z
  .object({
    candidateId: z.uuid(),
    status: CandidateStatus,
    kbId: z.uuid().describe('Canonical id of the knowledge base.'),
    queueUrl: z.string().describe('The candidate in the queue, relative to the admin pages.'),
    seqId: SeqId.describe('Of the Neuron, once approved.').exactOptional(),
    commit: ObjectId.describe('The commit on `main`, once approved.').exactOptional(),
    warnings: z
      .array(Warning)
      .describe('What was done otherwise than the sender may think. Absent if there are none.')
      .exactOptional(),
  })
  .meta({
    id: 'CandidateReceipt',
    description: 'The candidate as it was taken.',
    examples: [
      {
        candidateId,
        status: 'pending',
        kbId: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
        queueUrl: `/queue/${candidateId}`,
      },
    ],
  })
export type CandidateReceipt = z.infer<typeof CandidateReceipt>

const JudgedHead = ObjectId.describe(
  'The commit of `refs/candidates/<id>/head` that was judged. While the candidate is pending, one that is not what it proposes is refused.',
).exactOptional()

/** A curator's changes to a candidate as it is approved. */
export const CandidateEdit = z
  .object({
    content: Content.exactOptional(),
    title: Title.exactOptional(),
    tags: z.array(WellFormed.min(1).max(100)).max(100).exactOptional(),
    base: ObjectId.describe("The commit of the target's version that the edit was made upon.").exactOptional(),
    head: JudgedHead,
  })
  .meta({ id: 'CandidateEdit', examples: [{ title: 'VIP escalation policy', tags: ['policy', 'escalation'] }] })
export type CandidateEdit = z.infer<typeof CandidateEdit>

export const Approval = z
  .object({
    candidateId: z.uuid(),
    status: z.literal('approved'),
    seqId: SeqId,
    documentId: z.string().nullable().describe('A UUID. Null where the file came by a push and was given none yet.'),
    commit: ObjectId,
  })
  .meta({ id: 'Approval', description: 'The Neuron that the candidate has become.' })
export type Approval = z.infer<typeof Approval>

export const Dismissal = z
  .object({ reason: WellFormed.max(2000).exactOptional(), head: JudgedHead })
  .meta({ id: 'Dismissal', examples: [{ reason: 'Duplicates handbook_00000007.' }] })
export type Dismissal = z.infer<typeof Dismissal>

export const CandidateComment = z
  .object({
    comment: WellFormed.max(10_000).regex(/\S/, 'must not be blank').describe('Markdown.'),
    head: JudgedHead,
  })
  .meta({ id: 'CandidateComment', examples: [{ comment: 'The checks found no errors and 2 warnings.' }] })
export type CandidateComment = z.infer<typeof CandidateComment>

export const CandidateState = z.object({ candidateId: z.uuid(), status: CandidateStatus }).meta({
  id: 'CandidateState',
  description: 'The candidate as it is now.',
  examples: [{ candidateId, status: 'dismissed' }],
})
export type CandidateState = z.infer<typeof CandidateState>

export const CandidatePath = z.object({ id: Uuid.describe('Id of the candidate.') })

export const CandidateQuery = z.object({
  kb: TextOrUuid.min(1).describe('Slug or UUID; without it, every knowledge base of the tenant.').exactOptional(),
  status: CandidateStatus.exactOptional(),
  kind: CandidateKind.exactOptional(),
  connector: z.string().min(1).max(200).exactOptional(),
  cursor: Cursor.describe('`nextCursor` of the page before.').exactOptional(),
  limit: PageLimit.describe('1 to 100; 50 without it.'),
})
export type CandidateQuery = z.output<typeof CandidateQuery>

export const CandidateSummary = z
  .object({
    candidateId: z.uuid(),
    kbId: z.uuid(),
    kind: CandidateKind,
    title: z.string(),
    status: CandidateStatus,
    connector: z.string(),
    confidence: z.number().min(0).max(1).nullable(),
    impactEstimate: z.int().positive().nullable(),
    zone: Zone.nullable(),
    warnings: z.array(z.string()).describe('What a curator must know before approving.'),
    target: z.string().nullable().describe('seqId of the Neuron that it wants to change.'),
    removes: z.literal(true).describe('It wants to delete its target.').exactOptional(),
    createdAt: Timestamp,
    createdBy: z.string().describe('Name of the API key, or of whom else it came from.'),
    queueUrl: z.string(),
    seqId: SeqId.describe('Of the Neuron, once approved.').exactOptional(),
    commit: ObjectId.describe('The commit on `main`, once approved.').exactOptional(),
  })
  .meta({ id: 'Candidate', description: 'A candidate as the queue lists it.' })
export type CandidateSummary = z.infer<typeof CandidateSummary>

export const CandidatePage = z
  .object({
    candidates: z.array(CandidateSummary).describe('Red zone first, then by impact, then by age.'),
    nextCursor: z.string().nullable().describe('Null on the last page.'),
    unavailable: z
      .array(z.string())
      .describe(
        'Slugs of knowledge bases that cannot be read now: their candidates are missing. Absent where there is none.',
      )
      .exactOptional(),
  })
  .meta({ id: 'CandidatePage', description: 'A page of the queue.' })
export type CandidatePage = z.infer<typeof CandidatePage>

export const CandidateDetail = CandidateSummary.extend({
  content: z.string().describe('Markdown, as submitted.'),
  metadata: z.string().nullable().describe('The text of a JSON object, as submitted.'),
  decisions: z.array(
    z.object({
      action: z.enum(['approve', 'dismiss', 'reopen', 'comment', 'revise']),
      at: Timestamp,
      by: z.string().describe('Name of who decided.'),
      reason: z.string().exactOptional(),
    }),
  ),
  before: z.string().nullable().describe('What the Neuron says without it. Null where it makes a new one.'),
  after: z.string().nullable().describe('What the Neuron says with it. Null where it is deleted, or cannot be read.'),
  diff: z.string().describe('From `before` to `after`, unified; at most 256 KB.'),
  diffTruncated: z
    .literal(true)
    .describe('The texts differ in more than `diff` says: it has the first changes, as many as fit.')
    .exactOptional(),
  conflicts: z
    .array(MergeConflict)
    .describe(
      'Where the Neuron has changed otherwise since: `before` is then the version that this was written against.',
    )
    .exactOptional(),
}).meta({ id: 'CandidateDetail', description: 'A candidate as a curator reviews it.' })
export type CandidateDetail = z.infer<typeof CandidateDetail>
