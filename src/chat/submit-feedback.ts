import type { CandidateInput } from '../contract/candidates.ts'
import type { Citation, FeedbackInput, FeedbackReceipt } from '../contract/chat.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { type KbView, viewAs, viewFor } from '../kb/access/kb-view.ts'
import { LinkView } from '../kb/access/link-view.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { neuronsOfDocument, titleOf } from '../kb/projection/neuron-queries.ts'
import { submitCandidate } from '../queue/submit-candidate.ts'
import { type Caller, isVisitor } from '../rules/access/caller.ts'
import { isUuid } from '../rules/candidates/candidate-id.ts'
import { oneLine } from '../rules/text/lines.ts'
import { escapeMarkdown, neuronLink, shorten } from '../rules/text/literal.ts'

/**
 * Submits feedback of a reader on an answer to the queue.
 * @throws {GanglionError} `not_found`, `reason_required_for_negative_vote`, `queue_full`, `idempotency_key_reused`
 * @throws {ValidationError} for a Neuron to cite that the caller does not see
 */
export async function submitFeedback(
  ctx: Context,
  caller: Caller,
  kbName: string,
  feedback: FeedbackInput,
  options: { idempotencyKey?: string } = {},
): Promise<FeedbackReceipt> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const { candidateId, status, queueUrl } = await submitCandidate(
    ctx,
    caller,
    await candidateFor(caller, kb, feedback),
    {
      ...options,
      // The feedback identifies the request: the candidate contains titles, which can change.
      request: { route: 'POST /api/v1/knowledge-bases/{kbId}/reader-feedback', body: { kb: kb.identity.id, feedback } },
    },
  )
  return { candidateId, status, queueUrl }
}

/**
 * Returns the candidate for feedback of a reader.
 * @throws {GanglionError} `reason_required_for_negative_vote`
 * @throws {ValidationError} for a Neuron to cite that the caller does not see
 */
export async function candidateFor(
  caller: Caller,
  kb: KnowledgeBase,
  feedback: FeedbackInput,
): Promise<CandidateInput> {
  if (feedback.vote !== 'up' && (feedback.reason ?? '').trim() === '') {
    throw new GanglionError('reason_required_for_negative_vote')
  }
  const named = feedback.vote === 'up' ? undefined : feedback.shouldCite
  if (named !== undefined && !(await viewFor(caller, kb)).seesNeuron(named))
    throw new ValidationError({ shouldCite: ['names no Neuron that you see'] })
  // Readers of approved feedback see pages for the audience `tool`, whoever sent it.
  const toCited = citedDocuments(await viewAs(kb, { audience: 'tool' }))
  const cited = (feedback.citations ?? []).map(toCited)
  const shouldCite = named === undefined ? undefined : toCited({ documentId: named, path: '', filename: named })
  // A visitor is anonymous, so no policy may approve their feedback.
  const zone = feedback.vote === 'flag' ? 'red' : isVisitor(caller) ? 'yellow' : undefined
  return feedbackCandidate(kb.identity.id, feedback, cited, { zone, shouldCite })
}

/** Resolves a citation to the Neuron of its document, or else of its path. */
function citedDocuments(view: KbView): (citation: Citation) => CitedDocument {
  const links = new LinkView(view)
  return ({ documentId, path, filename }) => {
    const [named] = isUuid(documentId)
      ? view.rows((sql) => neuronsOfDocument(sql, documentId))
      : view.rows(() => [{ seqId: documentId }])
    const found = named ?? links.resolve({ target: path, form: 'edge', from: '' })
    if (!('seqId' in found)) return { filename }
    return { filename, neuron: { seqId: found.seqId, title: view.about(found.seqId, titleOf) ?? filename } }
  }
}

/** A cited document, with its Neuron if readers may know of it. */
type CitedDocument = { filename: string; neuron?: { seqId: string; title: string } }

const connector = 'reader-feedback'
const confidence = { up: 0.9, down: 0.3, flag: 0.3 } as const
/** Maximum UTF-16 units of parts repeated in the metadata; together they stay within its 16 KB. */
const maxPart = 1000
const maxName = 200
const maxId = 64
const maxIds = 20

/** Creates a candidate from reader feedback: a text for a curator to read, with its parts in the metadata. */
export function feedbackCandidate(
  knowledgeBaseId: string,
  feedback: FeedbackInput,
  cited: readonly CitedDocument[],
  { zone, shouldCite }: { zone?: 'red' | 'yellow' | undefined; shouldCite?: CitedDocument | undefined } = {},
): CandidateInput {
  const { vote, question } = feedback
  const subject = shorten(question, 100)
  return {
    knowledgeBaseId,
    kind: 'reader-feedback',
    title: subject === '' ? 'Feedback' : `Feedback: ${subject}`,
    content: bodyOf(feedback, cited, shouldCite),
    metadata: JSON.stringify({ ...metadataOf(feedback), actionZone: zone }),
    confidence: confidence[vote],
    impactEstimate: null,
  }
}

function metadataOf({
  vote,
  question,
  citations = [],
  sessionId,
  turnId,
  reason,
  category,
  pageUrl,
  shouldCite,
}: FeedbackInput): Record<string, unknown> {
  return {
    connector,
    // Policies may approve feedback. Readers must not find it as an answer.
    tags: ['internal', 'feedback'],
    vote,
    // JSON omits undefined fields.
    category,
    question: shorten(question, maxPart),
    reason: vote === 'up' || reason === undefined ? undefined : shorten(reason, maxPart),
    citations: citations.slice(0, maxIds).map(({ documentId }) => oneLine(documentId, maxId)),
    conversationId: sessionId && oneLine(sessionId, maxName),
    sourceTurnId: turnId && oneLine(turnId, maxName),
    pageUrl: pageUrl && oneLine(pageUrl, maxPart),
    shouldCite: vote === 'up' ? undefined : shouldCite,
  }
}

function bodyOf(
  { vote, question, answer, reason, category, pageUrl }: FeedbackInput,
  cited: readonly CitedDocument[],
  shouldCite: CitedDocument | undefined,
): string {
  const facts = [
    `- Vote: ${vote}`,
    ...(category === undefined ? [] : [`- Category: ${category}`]),
    ...(pageUrl === undefined ? [] : [`- Page: ${addressOf(pageUrl)}`]),
  ]
  const parts = [
    facts.join('\n'),
    section('Reason', vote === 'up' || reason === undefined ? [] : quote(reason)),
    section('Question', quote(question)),
    section('Answer', quote(answer)),
    section('Citations', cited.map(linkTo)),
    section('Should cite', shouldCite === undefined ? [] : [linkTo(shouldCite)]),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n\n${lines.join('\n')}`
}

/** Quotes every line, so that the text can form no heading or front matter, and escapes its wiki links. */
function quote(text: string): string[] {
  const inert = text.replace(/\[(?=\[)|(?<=\[)\[/g, '\\[')
  return inert.split(/\r\n|\r|\n/).map((line) => `> ${line}`.trimEnd())
}

function linkTo({ filename, neuron }: CitedDocument): string {
  if (neuron === undefined) return `- ${escapeMarkdown(shorten(filename, maxName))}`
  return `- ${neuronLink(neuron, maxName)}`
}

/** Writes an address as an autolink (CommonMark 6.4) if possible. */
function addressOf(pageUrl: string): string {
  const isAddress = /^https?:\/\/[^\s<>\p{Cc}]+$/iu.test(pageUrl)
  return isAddress ? `<${pageUrl}>` : escapeMarkdown(oneLine(pageUrl, maxPart))
}
