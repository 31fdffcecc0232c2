import { z } from 'zod'
import { TestEffects } from './answer-tests.ts'
import { Awaiting, Cursor, ErrorAnswer, MergeConflict, NextCursor, PageLimit } from './envelope.ts'
import { KbUuid, ObjectId, TextOrUuid, Timestamp, Uuid } from './identifiers.ts'
import { CandidateKind, CandidateStatus, SeqId, Zone } from './vocabulary.ts'

const maxTitle = 500
export const maxContentBytes = 512 * 1024

export const WellFormed = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must not hold NUL or lone surrogates')

/** Title, whose length is in characters (code points), as in JSON Schema: an emoji is one. */
const Title = WellFormed.min(1)
  .refine(
    (title) => title.length <= 2 * maxTitle && [...title].length <= maxTitle,
    `must be at most ${maxTitle} characters`,
  )
  .meta({ maxLength: maxTitle, description: 'Title, one line of 1 to 500 characters.' })

const Content = WellFormed.min(1)
  .refine((content) => Buffer.byteLength(content) <= maxContentBytes, 'must be at most 512 KB, with the pictures in it')
  .meta({ maxLength: maxContentBytes, description: 'Markdown body of the Neuron; at most 512 KB in UTF-8.' })

/** Text that stays on one line and cannot imitate another author in a commit, whose length is in characters. */
const PlainLine = WellFormed.min(1)
  .refine(
    (text) => text.length <= 400 && /^(?!\s)[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}<>]{1,200}(?<!\s)$/u.test(text),
    'must be one line of 1 to 200 characters, without < and >',
  )
  .meta({ maxLength: 200 })

/** End user of an app whose users share a key, according to the app. It grants no rights. */
export const EndUser = z.object({
  id: PlainLine.refine((id) => !/\p{Cf}/u.test(id), 'must not have invisible characters').describe(
    'Id of the end user in the app; one line of 1 to 200 characters, without < and >, and none of them invisible.',
  ),
  name: PlainLine.describe('Name of the end user; one line of 1 to 200 characters, without < and >.').exactOptional(),
})
export type EndUser = z.output<typeof EndUser>

const Metadata = z
  .union([z.string(), z.record(z.string(), z.unknown())], { error: 'must be a JSON object, or the text of one' })
  .nullable()
  .default(null)
  .describe(
    'JSON object, or the text of one; at most 16 KB, 64 keys and 5 levels. Known keys: `connector`, `sourceUrl`, `tags`, `audience`, ' +
      '`actionZone`, `path`, `targetNeuron` (the seqId to change), `baseVersion` or `baseCommit` (the version that the change is ' +
      'based on), `replaceTags` (`true`: `tags` replaces the list; otherwise `tags` are added), `onBehalfOf` (`{id, name}` of the end user ' +
      'behind a shared key, for curators; a version keeps it unless it sends another, or null).',
  )

/** A proposed Neuron. Parses to `knowledgeBaseId` (a slug or UUID) and to metadata as text. */
export const CandidateInput = z
  .object({
    knowledgeBaseId: TextOrUuid.describe('Slug or UUID of the knowledge base.').exactOptional(),
    kb: TextOrUuid.describe('Alias of `knowledgeBaseId`.').exactOptional(),
    kind: CandidateKind,
    title: Title,
    content: Content,
    metadata: Metadata,
    confidence: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .default(null)
      .describe('Confidence from 0 to 1. The policy approves a candidate at or above its threshold.'),
    impactEstimate: z
      .int()
      .positive()
      .nullable()
      .default(null)
      .describe('Impact; the queue lists higher numbers first.'),
  })
  .refine(({ kb, knowledgeBaseId = kb }) => knowledgeBaseId !== undefined, {
    path: ['knowledgeBaseId'],
    error: 'must be given',
    // Reported together with the faults of the other fields.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .meta({
    id: 'CandidateInput',
    description: 'A proposed Neuron.',
    // Within `allOf`, since type generators interpret `anyOf` next to `properties` as a different type.
    allOf: [{ anyOf: [{ required: ['knowledgeBaseId'] }, { required: ['kb'] }] }],
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
  .transform(({ kb = '', knowledgeBaseId = kb, metadata, ...candidate }) => ({
    ...candidate,
    knowledgeBaseId,
    metadata: metadataText(metadata),
  }))
export type CandidateInput = z.output<typeof CandidateInput>

/** Next version of a candidate. Parses to metadata as text, or none. */
export const CandidateVersion = z
  .object({
    title: Title.exactOptional(),
    content: Content,
    metadata: Metadata,
  })
  .meta({
    id: 'CandidateVersion',
    description: 'Next version of a candidate. Its title and metadata stay as they are unless sent.',
    examples: [{ content: 'Page the lead within five minutes.\n', metadata: { sourceUrl: 'https://example.com/vip' } }],
  })
  .transform(({ metadata, ...sent }) => ({ ...sent, metadata: metadataText(metadata) }))
export type CandidateVersion = z.output<typeof CandidateVersion>

function metadataText(metadata: z.output<typeof Metadata>): string | null {
  return metadata === null || typeof metadata === 'string' ? metadata : JSON.stringify(metadata)
}

const candidateId = '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70'
const kbId = '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f'
const CandidateId = z.uuid().describe('UUID of the candidate.')
const QueueUrl = z.string().describe('URL of the candidate in the console.')
const Approved = {
  seqId: SeqId.describe('seqId of the Neuron. Present once the candidate is approved.').exactOptional(),
  commit: ObjectId.describe(
    'Commit of the approval on `main`. Present once the candidate is approved.',
  ).exactOptional(),
}

/** A part of a request that the server handled differently than the sender may expect. */
export const Warning = z
  .object({
    code: z.string().describe('Stable code of the warning.'),
    message: z.string().describe('Message for a person; the wording may change.'),
    seqId: SeqId.describe('The other Neuron that the warning refers to.').exactOptional(),
    candidateId: z.uuid().describe('The other candidate that the warning refers to.').exactOptional(),
  })
  .meta({ id: 'Warning' })
export type Warning = z.infer<typeof Warning>

export const CandidateReceipt = z
  .object({
    candidateId: CandidateId,
    status: CandidateStatus,
    kbId: KbUuid,
    queueUrl: QueueUrl,
    ...Approved,
    warnings: z
      .array(Warning)
      .describe('What the server handled differently than sent. Absent if there are none.')
      .exactOptional(),
  })
  .meta({
    id: 'CandidateReceipt',
    description: 'The stored candidate.',
    examples: [{ candidateId, status: 'pending', kbId, queueUrl: `/queue/${candidateId}` }],
  })
export type CandidateReceipt = z.infer<typeof CandidateReceipt>

export const maxSubmitted = 100

export const CandidateBatch = z
  .object({ candidates: z.array(CandidateInput).min(1).max(maxSubmitted).describe('1 to 100 candidates.') })
  .meta({
    id: 'CandidateBatch',
    description: 'Candidates, 1 to 100, 2 MB together.',
    examples: [{ candidates: [{ kb: 'handbook', kind: 'external-feed', title: 'Hours', content: 'Nine to five.' }] }],
  })

/** Next version of one candidate in a batch, or its withdrawal. Parses to metadata as text, or none. */
export const CandidateRevision = CandidateVersion.in
  .extend({
    candidateId: CandidateId,
    content: Content.exactOptional(),
    version: z
      .int()
      .min(1)
      .describe('`version` that was read. `stale_head` if the candidate has another.')
      .exactOptional(),
    withdraw: z.literal(true).describe('Withdraws the candidate, instead of a `content`.').exactOptional(),
  })
  .refine(({ content, withdraw }) => (content === undefined) === (withdraw === true), {
    path: ['content'],
    error: 'must be given, or `withdraw` instead of it',
  })
  .meta({ id: 'CandidateRevision', description: 'Next version of a candidate, or its withdrawal.' })
  .transform(({ metadata, ...sent }) => ({ ...sent, metadata: metadataText(metadata) }))

export const RevisionBatch = z
  .object({
    candidates: z.array(CandidateRevision).min(1).max(maxSubmitted).describe('1 to 100 candidates, each once.'),
  })
  .meta({
    id: 'RevisionBatch',
    description: 'Next versions of candidates, or their withdrawals, 1 to 100, 2 MB together.',
    examples: [
      {
        candidates: [
          { candidateId, version: 1, content: 'Nine to six.' },
          { candidateId: kbId, version: 2, withdraw: true },
        ],
      },
    ],
  })

/** Batch before each candidate is checked separately. */
export const UncheckedBatch = z.object({ candidates: z.array(z.unknown()).min(1).max(maxSubmitted) })

/** Returns the schema of what became of each candidate of a batch. @param status status of a candidate that is accepted */
function resultsOf<Schema extends z.ZodType>(id: string, status: 200 | 201, candidate: Schema) {
  const receipt = { candidateId, status: 'pending', kbId, queueUrl: `/queue/${candidateId}` }
  const refused = { status: 404, error: { error: 'not_found', message: 'There is nothing here.' } }
  return z
    .object({
      results: z
        .array(
          z.object({
            status: z
              .int()
              .describe(`Status that the candidate would have been answered with alone: ${status} if it is accepted.`),
            candidate: candidate.exactOptional(),
            error: ErrorAnswer.describe('What the candidate would have been rejected with alone.').exactOptional(),
          }),
        )
        .describe('In the order of the candidates, each with `candidate` or `error`.'),
    })
    .meta({
      id,
      description: 'What became of each candidate.',
      examples: [{ results: [{ status, candidate: receipt }, refused] }],
    })
}

export const CandidateResults = resultsOf('CandidateResults', 201, CandidateReceipt)

const JudgedHead = ObjectId.describe(
  'Commit of `refs/candidates/<id>/head` that was reviewed. `stale_head` if a pending candidate has another head.',
).exactOptional()

/** A curator's changes to a candidate at its approval. */
export const CandidateEdit = z
  .object({
    content: Content.exactOptional(),
    title: Title.exactOptional(),
    tags: z
      .array(WellFormed.min(1).max(100))
      .max(100)
      .describe('Tags that replace those of the candidate: at most 100, each of 1 to 100 characters.')
      .exactOptional(),
    base: ObjectId.describe("Commit of the target's version that the edit is based on.").exactOptional(),
    head: JudgedHead,
  })
  .meta({
    id: 'CandidateEdit',
    description: 'Changes to the candidate at its approval.',
    examples: [{ title: 'VIP escalation policy', tags: ['policy', 'escalation'] }],
  })
export type CandidateEdit = z.infer<typeof CandidateEdit>

export const Approval = z
  .object({
    candidateId: CandidateId,
    status: z.literal('approved').describe('Status of the candidate.'),
    seqId: SeqId,
    documentId: z.string().nullable().describe('UUID of the Neuron. Null if a push added the file without one.'),
    commit: ObjectId.describe('Commit of the approval on `main`.'),
  })
  .meta({
    id: 'Approval',
    description: 'The Neuron that the approval created, changed or deleted.',
    examples: [
      {
        candidateId,
        status: 'approved',
        seqId: 'handbook_00000042',
        documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90',
        commit: '3f786850e387550fdab836ed7e6dc881de23001b',
      },
    ],
  })
export type Approval = z.infer<typeof Approval>

export const AwaitedApproval = z
  .object({
    candidateId: CandidateId,
    status: z.literal('pending').describe('Status of the candidate.'),
    awaiting: Awaiting,
  })
  .meta({
    id: 'AwaitedApproval',
    description: 'The approval is recorded; others have to approve the candidate, too.',
    examples: [{ candidateId, status: 'pending', awaiting: { votes: 1, owners: [['legal@example.com']] } }],
  })
export type AwaitedApproval = z.infer<typeof AwaitedApproval>

export const Dismissal = z
  .object({
    reason: WellFormed.max(2000).describe('Reason for the record; at most 2,000 characters.').exactOptional(),
    head: JudgedHead,
  })
  .meta({
    id: 'Dismissal',
    description: 'The reason of the dismissal.',
    examples: [{ reason: 'Duplicates handbook_00000007.' }],
  })
export type Dismissal = z.infer<typeof Dismissal>

export const CandidateComment = z
  .object({
    comment: WellFormed.max(10_000)
      .regex(/\S/, 'must not be blank')
      .describe('Comment in Markdown; at most 10,000 characters.'),
    head: JudgedHead,
  })
  .meta({
    id: 'CandidateComment',
    description: 'A comment for the record.',
    examples: [{ comment: 'The checks found no errors and 2 warnings.' }],
  })
export type CandidateComment = z.infer<typeof CandidateComment>

/** Part of a text: a line, or the first and the last of several. */
const Lines = z
  .string()
  .regex(
    /^[1-9]\d{0,5}(?:-[1-9]\d{0,5})?$/,
    'must be a line such as 3, or the first and the last of several such as 3-5',
  )

export const ChangeRequest = z
  .object({
    reason: WellFormed.max(2000).regex(/\S/, 'must not be blank').describe('What to change; at most 2,000 characters.'),
    lines: Lines.describe('Lines of `content` that it is about, from 1, such as `3` or `3-5`.').exactOptional(),
    head: JudgedHead,
  })
  .meta({
    id: 'ChangeRequest',
    description: 'What has to change.',
    examples: [{ reason: 'Name the source.', lines: '3-5' }],
  })

export type ChangeRequest = z.output<typeof ChangeRequest>

/** Open request for changes, as the sender of the candidate reads it. */
const AskedChanges = z.object({
  reason: z.string().describe('What to change.'),
  lines: Lines.describe(
    'Lines of `content` that it is about, such as `3` or `3-5`. Absent: all of it.',
  ).exactOptional(),
  at: Timestamp.describe('Time of the request.'),
})

export const Assignment = z
  .object({
    assignee: WellFormed.min(1)
      .max(300)
      .nullable()
      .describe('E-mail of a person, or name of a key, with the role `curator`. Null: nobody.'),
  })
  .meta({ id: 'Assignment', description: 'Who is to decide.', examples: [{ assignee: 'ann@example.com' }] })

export const CandidateState = z.object({ candidateId: CandidateId, status: CandidateStatus }).meta({
  id: 'CandidateState',
  description: 'The current status of the candidate.',
  examples: [{ candidateId, status: 'dismissed' }],
})
export type CandidateState = z.infer<typeof CandidateState>

export const RevisionResults = resultsOf('RevisionResults', 200, z.union([CandidateReceipt, CandidateState]))

export const CandidatePath = z.object({ id: Uuid.describe('UUID of the candidate.') })

export const CandidateQuery = z.object({
  kb: TextOrUuid.min(1)
    .describe('Slug or UUID of one knowledge base. Default: every knowledge base of the tenant.')
    .exactOptional(),
  status: CandidateStatus.describe('Only candidates with this status.').exactOptional(),
  kind: CandidateKind.describe('Only candidates of this kind.').exactOptional(),
  connector: z.string().min(1).max(200).describe('Only candidates of this connector.').exactOptional(),
  assignee: z
    .string()
    .min(1)
    .max(300)
    .describe('Only candidates that are assigned to this person or key.')
    .exactOptional(),
  onBehalfOf: EndUser.shape.id
    .describe('Only candidates that were sent on behalf of the end user with this id.')
    .exactOptional(),
  for: z
    .literal('me')
    .describe(
      '`me`: only pending candidates that wait for the caller: assigned to them, lacking their approval as an owner or as one of several, or theirs with changes asked for.',
    )
    .exactOptional(),
  cursor: Cursor.exactOptional(),
  limit: PageLimit,
})
export type CandidateQuery = z.output<typeof CandidateQuery>

export const CandidateSummary = z
  .object({
    candidateId: CandidateId,
    kbId: KbUuid,
    kind: CandidateKind,
    title: z.string().describe('Title as submitted.'),
    version: z.int().positive().describe('Number of its present version. Each revision makes the next.'),
    status: CandidateStatus,
    connector: z.string().describe('Name of the system that the candidate comes from.'),
    confidence: z.number().min(0).max(1).nullable().describe('Confidence from 0 to 1, as submitted.'),
    impactEstimate: z.int().positive().nullable().describe('Impact, as submitted; a higher number comes first.'),
    zone: Zone.nullable(),
    warnings: z.array(z.string()).describe('Warnings for the curator, as sentences.'),
    target: z.string().nullable().describe('seqId of the Neuron to change. Null for a new Neuron.'),
    removes: z.literal(true).describe('Present if the candidate deletes its target.').exactOptional(),
    createdAt: Timestamp.describe('Time of submission.'),
    createdBy: z.string().describe('Name of the API key, person or part of the server that submitted it.'),
    queueUrl: QueueUrl,
    onBehalfOf: EndUser.describe('End user on whose behalf it was sent, according to its sender.').exactOptional(),
    assignee: z.string().describe('E-mail of the person, or name of the key, who is to decide.').exactOptional(),
    changesRequested: AskedChanges.extend({ by: z.string().describe('Name of the curator.') })
      .describe('Present while a curator waits for a new version.')
      .exactOptional(),
    ...Approved,
  })
  .meta({ id: 'Candidate', description: 'A candidate in a list.' })
export type CandidateSummary = z.infer<typeof CandidateSummary>

const summary = {
  ...{
    candidateId,
    kbId,
    kind: 'user-correction',
    title: 'VIP escalation policy',
    version: 1,
    status: 'pending',
    connector: 'api',
  },
  ...{ confidence: 0.8, impactEstimate: null, zone: null, warnings: [], target: 'handbook_00000042' },
  ...{ createdAt: '2026-01-08T09:12:44.000Z', createdBy: 'Support desk', queueUrl: `/queue/${candidateId}` },
}

export const CandidatePage = z
  .object({
    candidates: z.array(CandidateSummary).describe('Red zone first, then highest impact, then oldest.'),
    nextCursor: NextCursor,
    unavailable: z
      .array(z.string())
      .describe(
        'Slugs of knowledge bases that cannot be read; the page lacks their candidates. Absent if all can be read.',
      )
      .exactOptional(),
  })
  .meta({
    id: 'CandidatePage',
    description: 'A page of the queue.',
    examples: [{ candidates: [summary], nextCursor: null }],
  })
export type CandidatePage = z.infer<typeof CandidatePage>

export const CandidateDetail = CandidateSummary.extend({
  content: z.string().describe('Markdown body, as submitted.'),
  metadata: z.string().nullable().describe('Metadata as submitted: the text of a JSON object.'),
  decisions: z
    .array(
      z.object({
        action: z
          .enum(['approve', 'dismiss', 'reopen', 'comment', 'revise', 'request-changes', 'assign'])
          .describe('What was done.'),
        at: Timestamp.describe('Time of the decision.'),
        by: z.string().describe('Name of the person, API key or policy.'),
        reason: z.string().describe('Reason of a dismissal, text of a comment, or what to change.').exactOptional(),
        lines: z.string().describe('Lines of `content` that a request for changes is about.').exactOptional(),
        to: z.string().describe('Whom it was assigned to.').exactOptional(),
      }),
    )
    .describe('Decisions and comments, oldest first.'),
  before: z.string().nullable().describe('Text of the Neuron without the candidate. Null for a new Neuron.'),
  after: z
    .string()
    .nullable()
    .describe(
      'Text of the Neuron with the candidate, and with conflict markers where `conflicts` is present. Null if the Neuron is ' +
        'deleted or cannot be read.',
    ),
  awaiting: Awaiting.describe(
    'What `kb.yaml` asks for before it is approved. Absent if any curator decides alone.',
  ).exactOptional(),
  diff: z.string().describe('Unified diff from `before` to `after`; at most 256 KB.'),
  tests: z
    .array(
      z.object({
        path: z.string().describe('Path of a file of answer tests.'),
        before: z.string().nullable().describe('The file on `main`. Null if there is none.'),
        after: z.string().nullable().describe('The file with the candidate. Null if it is deleted.'),
      }),
    )
    .describe('Files of answer tests that its approval commits with the page. Present if it is pending and has some.')
    .exactOptional(),
  head: ObjectId.nullable()
    .describe('Current commit of `refs/candidates/<id>/head`. Null if the candidate is decided or proposes nothing.')
    .exactOptional(),
  diffTruncated: z.literal(true).describe('Present if `diff` is cut at its limit.').exactOptional(),
  conflicts: z
    .array(MergeConflict)
    .describe('Present if the candidate conflicts with `main`: these places are marked in `after`, as git marks them.')
    .exactOptional(),
  effects: TestEffects.describe(
    'What its approval changes in the results of the answer tests. Present if it is pending and there are tests.',
  ).exactOptional(),
}).meta({
  id: 'CandidateDetail',
  description: 'A candidate with its text, its decisions and its diff.',
  examples: [
    {
      ...{ ...summary, content: 'Page the lead.\n', metadata: '{"targetNeuron":"handbook_00000042"}', decisions: [] },
      ...{ before: 'Page nobody.\n', after: 'Page the lead.\n', diff: '@@ -1 +1 @@\n-Page nobody.\n+Page the lead.\n' },
    },
  ],
})
export type CandidateDetail = z.infer<typeof CandidateDetail>

export const SentCandidateQuery = CandidateQuery.pick({
  ...{ kb: true, status: true, onBehalfOf: true, cursor: true, limit: true },
}).extend({
  state: z
    .literal('changes_requested')
    .describe('`changes_requested`: only candidates of which a curator waits for a new version.')
    .exactOptional(),
})
export type SentCandidateQuery = z.output<typeof SentCandidateQuery>

const sent = {
  ...({
    candidateId,
    kbId,
    kind: 'user-correction',
    title: 'VIP escalation policy',
    version: 1,
    status: 'dismissed',
    target: 'handbook_00000042',
  } as const),
  ...{ verdict: { zone: null, reason: 'no confidence given' }, reason: 'Duplicates handbook_00000007.' },
  ...{ createdAt: summary.createdAt, queueUrl: summary.queueUrl },
}

export const SentCandidate = CandidateSummary.pick({
  ...{ candidateId: true, kbId: true, kind: true, title: true, version: true, status: true },
  ...{ target: true, createdAt: true, queueUrl: true, onBehalfOf: true, seqId: true, commit: true },
})
  .extend({
    verdict: z
      .object({ zone: Zone.nullable(), reason: z.string().describe('Rule that decided, for a person.') })
      .describe('What the policy said when the candidate came in.'),
    reason: z.string().describe('Reason of the dismissal. Absent if there is none.').exactOptional(),
    content: z
      .string()
      .describe('Markdown body as the caller sent it last. Absent in lists, and once somebody else has changed it.')
      .exactOptional(),
    changesRequested: AskedChanges.describe('Present while a curator waits for a new version.').exactOptional(),
  })
  .meta({
    id: 'SentCandidate',
    description:
      'A candidate that the caller sent. `seqId` and `commit` are absent as long as the caller may not see the Neuron.',
    examples: [sent],
  })
export type SentCandidate = z.infer<typeof SentCandidate>

export const SentCandidatePage = z
  .object({
    candidates: z.array(SentCandidate).describe('Newest first.'),
    nextCursor: NextCursor,
    unavailable: CandidatePage.shape.unavailable,
  })
  .meta({
    id: 'SentCandidatePage',
    description: 'A page of the candidates that the caller sent.',
    examples: [{ candidates: [sent], nextCursor: null }],
  })
export type SentCandidatePage = z.infer<typeof SentCandidatePage>
