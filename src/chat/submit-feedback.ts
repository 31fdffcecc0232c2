import type { Citation, FeedbackInput, FeedbackReceipt } from '../contract/chat.ts'
import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { accessOf, seqIdOfDocument, titleOf } from '../kb/projection/neuron-queries.ts'
import { LinkView } from '../pages/graph/link-view.ts'
import { submitCandidate } from '../queue/submit-candidate.ts'
import { type Audience, maySee } from '../rules/access/audience.ts'
import type { Caller } from '../rules/access/caller.ts'
import { isUuid } from '../rules/candidates/candidate-id.ts'
import { type CitedDocument, feedbackCandidate } from './feedback-candidate.ts'

/** Approved feedback can be read by whom the knowledge base is open to, whoever sent it. */
const readers: Audience = 'tool'

/**
 * Puts what a reader thinks of an answer into the queue.
 * @throws {GanglionError} `not_found`, `reason_required_for_negative_vote`, `queue_full`, `idempotency_key_reused`
 */
export async function submitFeedback(
  ctx: Context,
  caller: Caller,
  kbName: string,
  feedback: FeedbackInput,
  options: { idempotencyKey?: string } = {},
): Promise<FeedbackReceipt> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  if (feedback.vote !== 'up' && (feedback.reason ?? '').trim() === '') {
    throw new GanglionError('reason_required_for_negative_vote')
  }
  const lookUp = await citedDocuments(kb)
  const cited = (feedback.citations ?? []).map(lookUp)
  const { candidateId, status, queueUrl } = await submitCandidate(
    ctx,
    caller,
    feedbackCandidate(kb.identity.id, feedback, cited),
    {
      ...options,
      // Not the candidate, which names Neurons by the titles that they have by then.
      request: { route: 'POST /api/v1/knowledge-bases/{kbId}/reader-feedback', body: { kb: kb.identity.id, feedback } },
    },
  )
  return { candidateId, status, queueUrl }
}

/** What a citation means: the Neuron of its document, or else of its path. */
async function citedDocuments(kb: KnowledgeBase): Promise<(citation: Citation) => CitedDocument> {
  const { read: sql } = kb.projection
  const { defaultAudience } = await kb.settings()
  const isVisible = (seqId: string) => {
    const access = accessOf(sql, seqId)
    return access !== undefined && maySee(readers, access, defaultAudience)
  }
  const links = new LinkView(kb.identity, sql, isVisible)
  return ({ documentId, path, filename }) => {
    const named = isUuid(documentId) ? seqIdOfDocument(sql, documentId) : documentId
    const found =
      named !== undefined && isVisible(named)
        ? { seqId: named }
        : links.resolve({ target: path, form: 'edge', from: '' })
    if (!('seqId' in found)) return { filename }
    return { filename, neuron: { seqId: found.seqId, title: titleOf(sql, found.seqId) ?? filename } }
  }
}
