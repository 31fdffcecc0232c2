import { z } from 'zod'
import { WellFormed } from './candidates.ts'
import { KbId, ObjectId, TextOrUuid } from './identifiers.ts'
import { exceedsFolded, maxQuestion } from './search.ts'
import { CandidateStatus, SeqId } from './vocabulary.ts'

/** Text of up to `max` characters (code points), as JSON Schema counts them. */
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
    message: Message.describe('The question.').exactOptional(),
    messages: z
      .array(z.object({ role: z.enum(['user', 'assistant', 'system']), content: text(50_000) }))
      .min(1)
      .max(maxMessages)
      .describe('In place of `message`: the last one of the user is the question, those before it the history.')
      .exactOptional(),
    knowledgeBaseId: KbId.describe('Slug or UUID; required for grounded answers.').exactOptional(),
    kb: KbId.describe('Another name for `knowledgeBaseId`.').exactOptional(),
    sessionId: TextOrUuid.min(1)
      .max(100)
      .describe('Of an earlier answer: goes on with its conversation, which stands in place of any history given here.')
      .exactOptional(),
    audience: z
      .enum(['curator', 'tool', 'public'])
      .describe(
        'Whom the answer is for. Nobody sees more than their role may. Default: `tool` for a key, `curator` for a session.',
      )
      .exactOptional(),
  })
  .refine(({ message, messages }) => message !== undefined || messages !== undefined, {
    path: ['message'],
    error: 'must hold a question',
    // Told along with what is wrong with the other fields.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .meta({
    id: 'ChatInput',
    anyOf: [{ required: ['message'] }, { required: ['messages'] }],
    examples: [{ knowledgeBaseId: 'handbook', message: 'Who is paged for a VIP ticket?' }],
  })
  .transform(({ message, messages = [], kb, knowledgeBaseId = kb, sessionId, audience }) => {
    const last = messages.findLastIndex(({ role }) => role === 'user')
    return {
      message: message ?? messages[last]?.content ?? '',
      history: messages.slice(0, message === undefined ? last : undefined),
      knowledgeBaseId,
      sessionId,
      audience,
    }
  })
  .refine(({ message }) => Message.safeParse(message).success && !exceedsFolded(message, maxQuestion), {
    path: ['message'],
    error: `must hold a question of 1 to ${maxQuestion} characters`,
  })
export type ChatQuestion = z.output<typeof ChatInput>

const DocumentId = 'UUID of the document; the seqId of a Neuron that was given none yet.'

/** A Neuron that grounded an answer. */
export const ChatCitation = z
  .object({
    documentId: z.string().describe(DocumentId),
    path: z.string(),
    filename: z.string(),
    seqId: SeqId,
    title: z.string(),
    url: z.string().describe('Where to read the Neuron.'),
    commit: ObjectId.describe("The commit of the Neuron's version that was read."),
  })
  .meta({ id: 'ChatCitation' })
export type ChatCitation = z.infer<typeof ChatCitation>

export const ChatAnswer = z
  .object({
    answer: z.string().describe('Markdown; what a Neuron supports is followed by its seqId in brackets.'),
    sessionId: z.string().describe('Present when the question was scoped to a knowledge base.').exactOptional(),
    turnId: z.string().describe('The turn within the session.').exactOptional(),
    citations: z.array(ChatCitation).describe('The Neurons that grounded the answer.').exactOptional(),
    answeredBy: z.string().describe('`extract` where no language model took part; else the name of the model.'),
    notice: z.string().describe('For a person: why the answer is not by the model that is configured.').exactOptional(),
  })
  .meta({ id: 'ChatAnswer', description: 'The answer.' })
export type ChatAnswer = z.infer<typeof ChatAnswer>

/** A document that grounded an answer, as a reader's page hands it back. */
const Citation = z
  .object({ documentId: text(200).describe(DocumentId), path: text(5000), filename: text(1000) })
  .meta({ id: 'Citation' })
export type Citation = z.infer<typeof Citation>

/** What a reader thinks of an answer. `reason` is required where the vote is negative, and ignored where it is not. */
export const FeedbackInput = z
  .object({
    vote: z.enum(['up', 'down', 'flag']),
    question: text(2000).min(1),
    answer: text(50_000).min(1),
    citations: z.array(Citation).max(100).exactOptional(),
    sessionId: text(100).exactOptional(),
    turnId: text(100).exactOptional(),
    reason: text(2000).describe('Required, and not blank, where `vote` is `down` or `flag`.').exactOptional(),
    category: z.enum(['wrong-info', 'missing-info', 'irrelevant', 'tone', 'other']).exactOptional(),
    pageUrl: text(500).describe('The page where the feedback comes from.').exactOptional(),
  })
  .meta({
    id: 'FeedbackInput',
    examples: [
      { vote: 'down', question: 'Who is paged?', answer: 'Nobody.', reason: 'The lead is.', category: 'wrong-info' },
    ],
  })
export type FeedbackInput = z.output<typeof FeedbackInput>

export const FeedbackReceipt = z
  .object({
    candidateId: z.uuid(),
    status: CandidateStatus,
    queueUrl: z.string().describe('The feedback in the queue, relative to the admin pages.'),
  })
  .meta({ id: 'FeedbackReceipt', description: 'The feedback, as a candidate in the queue.' })
export type FeedbackReceipt = z.infer<typeof FeedbackReceipt>
