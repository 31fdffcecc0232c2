import { z } from 'zod'
import { AskedBlame, ShownBlame } from './blame.ts'
import { WellFormed } from './candidates.ts'
import { KbId, ObjectId, TextOrUuid } from './identifiers.ts'
import { Stale } from './neurons.ts'
import { Previewed, PreviewField } from './preview.ts'
import { Behind, DocumentId, exceedsFolded, maxQuestion } from './search.ts'
import { CandidateStatus, SeqId } from './vocabulary.ts'

/** Returns the schema of a text of up to `max` characters (code points), as JSON Schema counts them. */
function text(max: number) {
  return WellFormed.refine(
    (value) => value.length <= 2 * max && [...value].length <= max,
    `must be at most ${max} characters`,
  ).meta({ maxLength: max })
}

const Message = text(maxQuestion).min(1)
const maxMessages = 100

/** A question. Parses to one message with the conversation before it, oldest first. */
export const ChatInput = z
  .object({
    message: Message.describe('Question of 1 to 8,000 characters.').exactOptional(),
    messages: z
      .array(
        z.object({
          role: z.enum(['user', 'assistant', 'system']).describe('Author of the message.'),
          content: text(50_000).describe('Text of the message; at most 50,000 characters.'),
        }),
      )
      .min(1)
      .max(maxMessages)
      .describe(
        'Conversation instead of `message`, at most 100 messages, oldest first. The last `user` message is the question.',
      )
      .exactOptional(),
    knowledgeBaseId: KbId.describe(
      'Slug or UUID of the knowledge base. Without it and `sessionId`, the answer only asks for one.',
    ).exactOptional(),
    kb: KbId.describe('Alias of `knowledgeBaseId`.').exactOptional(),
    sessionId: TextOrUuid.min(1)
      .max(100)
      .describe('`sessionId` of an earlier answer: continues its conversation and ignores the history in `messages`.')
      .exactOptional(),
    audience: z
      .enum(['curator', 'tool', 'public'])
      .describe(
        'Reader of the answer. The role of the caller limits it further. Default: `tool` for a key, `curator` for a session.',
      )
      .exactOptional(),
    blame: AskedBlame,
    preview: PreviewField,
  })
  .refine(({ message, messages }) => message !== undefined || messages !== undefined, {
    path: ['message'],
    error: 'must hold a question',
    // Reported together with the faults of the other fields.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .meta({
    id: 'ChatInput',
    description: 'A question, alone or as the end of a conversation.',
    allOf: [{ anyOf: [{ required: ['message'] }, { required: ['messages'] }] }],
    examples: [{ knowledgeBaseId: 'handbook', message: 'Who is paged for a VIP ticket?' }],
  })
  .transform(({ message, messages = [], kb, knowledgeBaseId = kb, sessionId, audience, blame, preview }) => {
    const last = messages.findLastIndex(({ role }) => role === 'user')
    return {
      message: message ?? messages[last]?.content ?? '',
      history: messages.slice(0, message === undefined ? last : undefined),
      knowledgeBaseId,
      sessionId,
      audience,
      ...(blame !== undefined && { blame }),
      ...(preview !== undefined && { preview }),
    }
  })
  .refine(({ message }) => Message.safeParse(message).success && !exceedsFolded(message, maxQuestion), {
    path: ['message'],
    error: `must hold a question of 1 to ${maxQuestion} characters`,
  })
export type ChatQuestion = z.output<typeof ChatInput>

/** A Neuron that grounded an answer. */
export const ChatCitation = z
  .object({
    documentId: DocumentId,
    path: z.string().describe('Path of the file in the repository.'),
    filename: z.string().describe('Name of the file.'),
    seqId: SeqId,
    title: z.string().describe('Title of the Neuron.'),
    url: z.string().describe('URL of the Neuron in the API.'),
    commit: ObjectId.describe('Commit of the version that was read.'),
    stale: Stale,
    blame: ShownBlame,
  })
  .meta({ id: 'ChatCitation' })
export type ChatCitation = z.infer<typeof ChatCitation>

export const ChatAnswer = z
  .object({
    answer: z.string().describe('Answer in Markdown, with the seqId of each cited Neuron in brackets.'),
    sessionId: z
      .string()
      .describe('UUID of the session. Absent without a knowledge base, and with `preview`: such an answer is not kept.')
      .exactOptional(),
    turnId: z.string().describe('UUID of the turn in the session. Absent as `sessionId` is.').exactOptional(),
    citations: z.array(ChatCitation).describe('Cited Neurons. Absent without a knowledge base.').exactOptional(),
    answeredBy: z.string().describe('Name of the language model; `extract` for an answer without one.'),
    grounded: z
      .enum(['true', 'partly', 'false'])
      .describe(
        'Whether Neurons support the answer: `true` if each paragraph and list item has a citation, `partly` if some have one, `false` if none has.',
      )
      .exactOptional(),
    notice: z
      .string()
      .describe('Why the configured model did not answer, for a person. Absent if it did.')
      .exactOptional(),
    behind: Behind,
    preview: Previewed,
  })
  .meta({
    id: 'ChatAnswer',
    description: 'The answer, with its citations.',
    examples: [
      {
        ...{ answer: 'The lead is paged [handbook_00000042].', answeredBy: 'extract', grounded: 'true' },
        ...{ sessionId: '019b9c9d-1b2c-7d3e-8f40-5a6b7c8d9e0f', turnId: '019b9c9d-1b2d-7a4b-9c5d-6e7f8091a2b3' },
        citations: [
          {
            ...{ documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90', filename: 'vip-escalation-policy.md' },
            ...{ path: 'neurons/2026/01/vip-escalation-policy.md', seqId: 'handbook_00000042' },
            ...{ title: 'VIP escalation policy', url: '/api/v1/neurons/handbook/handbook_00000042' },
            commit: '3f786850e387550fdab836ed7e6dc881de23001b',
          },
        ],
      },
    ],
  })
export type ChatAnswer = z.infer<typeof ChatAnswer>

/** A citation of an answer, as a client sends it back. */
const Citation = z
  .object({
    documentId: text(200).describe('`documentId` of the citation.'),
    path: text(5000).describe('`path` of the citation.'),
    filename: text(1000).describe('`filename` of the citation.'),
  })
  .meta({ id: 'Citation' })
export type Citation = z.infer<typeof Citation>

/** A vote of a reader on an answer. */
export const FeedbackInput = z.object({
  vote: z.enum(['up', 'down', 'flag']).describe('`flag` puts the candidate into the red zone.'),
  question: text(2000).min(1).describe('Question that was asked, 1 to 2,000 characters.'),
  answer: text(50_000).min(1).describe('Answer that was given, 1 to 50,000 characters.'),
  citations: z.array(Citation).max(100).describe('Citations of the answer, at most 100.').exactOptional(),
  sessionId: text(100).describe('`sessionId` of the answer.').exactOptional(),
  turnId: text(100).describe('`turnId` of the answer.').exactOptional(),
  reason: text(2000)
    .describe(
      'Reason; at most 2,000 characters. Required and not blank if `vote` is `down` or `flag`; ignored otherwise.',
    )
    .exactOptional(),
  category: z
    .enum(['wrong-info', 'missing-info', 'irrelevant', 'tone', 'other'])
    .describe('What is wrong with the answer.')
    .exactOptional(),
  pageUrl: text(500).describe('URL of the page with the answer; at most 500 characters.').exactOptional(),
  shouldCite: SeqId.describe(
    'seqId of the Neuron that the answer should cite, which the caller must see: it becomes a proposed answer test. Ignored if `vote` is `up`.',
  ).exactOptional(),
})
export type FeedbackInput = z.output<typeof FeedbackInput>

/** A vote that may replace an earlier one, or take it back. */
export const VoteInput = FeedbackInput.extend({
  vote: z
    .enum([...FeedbackInput.shape.vote.options, 'none'])
    .describe('`flag` puts the candidate into the red zone. `none`, with `replaces`, withdraws the earlier vote.'),
  replaces: z
    .boolean()
    .describe(
      'True to replace the earlier vote on this turn of the conversation (`sessionId`, `turnId`) of the caller, while it waits. Its question and answer count.',
    )
    .exactOptional(),
}).meta({
  id: 'FeedbackInput',
  description: 'A vote on an answer.',
  examples: [
    { vote: 'down', question: 'Who is paged?', answer: 'Nobody.', reason: 'The lead is.', category: 'wrong-info' },
  ],
})
export type VoteInput = z.output<typeof VoteInput>

const feedbackId = '019b9c9e-2c3d-7e4f-8051-6b7c8d9e0f1a'

export const FeedbackReceipt = z
  .object({
    candidateId: z.uuid().describe('UUID of the candidate.'),
    status: CandidateStatus,
    queueUrl: z.string().describe('URL of the candidate in the console.'),
  })
  .meta({
    id: 'FeedbackReceipt',
    description: 'The candidate that holds the feedback.',
    examples: [{ candidateId: feedbackId, status: 'pending', queueUrl: `/queue/${feedbackId}` }],
  })
export type FeedbackReceipt = z.infer<typeof FeedbackReceipt>
