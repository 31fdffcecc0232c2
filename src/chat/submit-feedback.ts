import type { Citation, FeedbackInput, FeedbackReceipt } from '../contract/chat.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { type KbView, viewAs, viewFor } from '../kb/access/kb-view.ts'
import { LinkView } from '../kb/access/link-view.ts'
import type { Context } from '../kb/context.ts'
import { neuronsOfDocument, titleOf } from '../kb/projection/neuron-queries.ts'
import { submitCandidate } from '../queue/submit-candidate.ts'
import { type Caller, isVisitor } from '../rules/access/caller.ts'
import { isUuid } from '../rules/candidates/candidate-id.ts'
import { type CitedDocument, feedbackCandidate } from './feedback-candidate.ts'

/**
 * Puts what a reader thinks of an answer into the queue.
 * @throws {GanglionError} `not_found`, `reason_required_for_negative_vote`, `queue_full`, `idempotency_key_reused`
 * @throws {ValidationError} for a Neuron that shall be cited and that the caller does not see
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
  const named = feedback.vote === 'up' ? undefined : feedback.shouldCite
  if (named !== undefined && !(await viewFor(caller, kb)).seesNeuron(named))
    throw new ValidationError({ shouldCite: ['names no Neuron that you see'] })
  // Readers of approved feedback see what the audience `tool` sees, whoever sent it.
  const toCited = citedDocuments(await viewAs(kb, { audience: 'tool' }))
  const cited = (feedback.citations ?? []).map(toCited)
  const shouldCite = named === undefined ? undefined : toCited({ documentId: named, path: '', filename: named })
  // Nobody knows who a visitor is, so no policy approves what one says.
  const zone = feedback.vote === 'flag' ? 'red' : isVisitor(caller) ? 'yellow' : undefined
  const { candidateId, status, queueUrl } = await submitCandidate(
    ctx,
    caller,
    feedbackCandidate(kb.identity.id, feedback, cited, { zone, shouldCite }),
    {
      ...options,
      // Not the candidate, which names Neurons by the titles that they have by then.
      request: { route: 'POST /api/v1/knowledge-bases/{kbId}/reader-feedback', body: { kb: kb.identity.id, feedback } },
    },
  )
  return { candidateId, status, queueUrl }
}

/** What a citation means: the Neuron of its document, or else of its path. */
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
