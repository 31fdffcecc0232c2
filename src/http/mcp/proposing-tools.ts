import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { submitFeedback } from '../../chat/submit-feedback.ts'
import {
  CandidateInput,
  CandidatePath,
  CandidateReceipt,
  CandidateState,
  EndUser,
  SentCandidatePage,
  SentCandidateQuery,
} from '../../contract/candidates.ts'
import { FeedbackInput, FeedbackReceipt } from '../../contract/chat.ts'
import { ValidationError } from '../../contract/errors.ts'
import { CandidateStatus, SeqId, Zone } from '../../contract/vocabulary.ts'
import { readNeuron } from '../../pages/read-neuron.ts'
import { listSentCandidates, readSentCandidate } from '../../queue/lists/list-candidates.ts'
import { reviseCandidate, withdrawCandidate } from '../../queue/revise-candidate.ts'
import { previewCandidate, submitCandidate } from '../../queue/submit-candidate.ts'
import { adds, addTool, type Exchange, Kb, reads } from './tool.ts'

const candidate = CandidateInput.in.shape

const Proposal = z.object({
  kb: Kb,
  action: z.enum(['new', 'correction', 'removal']).describe('A new page, a new text for one, or that one shall go.'),
  seqId: SeqId.optional().describe('The page to correct or to remove.'),
  baseVersion: z
    .int()
    .min(1)
    .optional()
    .describe('With seqId: the `version` that read_neuron returned. Later changes of others are kept.'),
  title: candidate.title.optional().describe('Title. Without it, a correction keeps that of the page.'),
  content: candidate.content.optional().describe('The whole text, in Markdown. Of a removal: none.'),
  tags: z.array(z.string().min(1).max(100)).max(100).optional().describe('Tags. A correction adds them.'),
  replaceTags: z.boolean().optional().describe('`true`: `tags` replaces the tags of the page.'),
  path: z.string().max(1000).optional().describe('Of a new page: where its file shall be, such as `guides/vip.md`.'),
  sourceUrl: z.string().max(2000).optional().describe('Where this is known from.'),
  reason: z.string().max(2000).optional().describe('Why, for the curator.'),
  confidence: z.number().min(0).max(1).optional().describe('How sure you are, from 0 to 1.'),
  model: z.string().max(100).optional().describe('Name of the model that writes this.'),
  onBehalfOf: EndUser.optional().describe('The person for whom you write this, if several share your key.'),
  preview: z.boolean().default(false).describe('`true`: only say what the policy would decide. Nothing is stored.'),
})

const Proposed = CandidateReceipt.partial().extend({
  verdict: z
    .object({
      approve: z.boolean().describe('Whether it would be approved at once. Otherwise it waits for a curator.'),
      zone: Zone.nullable(),
      reason: z.string().describe('Rule that decides, for a person.'),
      warnings: z.array(z.string()).describe('Warnings for the curator, as sentences.'),
    })
    .exactOptional()
    .describe('With `preview`: what the policy says.'),
})

/** Adds the tools with which a key proposes changes and follows its proposals. */
export function addProposing(server: McpServer, exchange: Exchange): void {
  const { ctx, caller } = exchange

  addTool(server, exchange, 'propose', {
    title: 'Propose a change to a knowledge base',
    description:
      'Proposes a new page, a correction or a removal. It waits for a curator unless the policy of the knowledge base approves it. Use the ' +
      'tool only when the user asks to add, correct or remove something. Look at my_candidates first: what a curator asks you to change is ' +
      'answered with revise_proposal, not with another proposal. Before a new page, search for one that already says it; before a ' +
      'correction, read_neuron, and send its whole text anew with its `version` as `baseVersion`. In `content`, link to a Neuron as `[[seqId]]` or `[[seqId|text]]`. Try with ' +
      '`preview` first. Not idempotent: each call adds a candidate.',
    input: Proposal,
    output: Proposed,
    rate: 'write',
    annotations: adds,
    async run({ preview, ...proposal }) {
      const { kb, action, title, content, confidence = null, seqId } = complete(proposal)
      const known = seqId === undefined ? undefined : await readNeuron(ctx, caller, { kb, seqId })
      const { tags, replaceTags, path, sourceUrl, reason, model, baseVersion, onBehalfOf } = proposal
      const input = {
        ...({
          knowledgeBaseId: kb,
          kind: known === undefined ? 'external-feed' : 'user-correction',
          confidence,
        } as const),
        ...{ title: title ?? known?.title ?? '', content: content ?? '', impactEstimate: null },
        metadata: JSON.stringify({
          connector: 'mcp',
          targetNeuron: seqId,
          baseVersion,
          tags,
          replaceTags,
          path,
          sourceUrl,
          reason,
          model,
          onBehalfOf,
        }),
      }
      const intent = action === 'removal' ? { removes: true } : { isSubject: title === undefined }
      const options = { ...intent, door: 'mcp' } as const
      return preview ? previewCandidate(ctx, caller, input, options) : submitCandidate(ctx, caller, input, options)
    },
  })

  addTool(server, exchange, 'my_candidates', {
    title: 'Follow what was proposed',
    description:
      'Lists what this key has proposed, newest first: what waits, what was approved, and why the rest was dismissed. Look here before ' +
      'you propose: `state: changes_requested` lists what a curator asks you to change, and in which `lines` of the text, which ' +
      'revise_proposal answers.',
    input: z.object({
      kb: Kb.describe('Slug or UUID of one knowledge base. Default: all of them.').optional(),
      status: CandidateStatus.optional(),
      state: SentCandidateQuery.shape.state,
      candidateId: CandidatePath.shape.id.optional().describe('Only this one, with the text that this key sent.'),
      cursor: z.string().max(1000).optional().describe('`nextCursor` of the page before.'),
      limit: z.int().min(1).max(100).default(20).describe('Maximum number of candidates, 1 to 100. Default: 20.'),
    }),
    output: SentCandidatePage,
    rate: 'read',
    annotations: reads,
    run: async ({ kb, status, state, cursor, limit, candidateId }) =>
      candidateId !== undefined
        ? { candidates: [await readSentCandidate(ctx, caller, candidateId)], nextCursor: null }
        : listSentCandidates(ctx, caller, {
            ...{ ...(kb !== undefined && { kb }), ...(status !== undefined && { status }), limit },
            ...(state !== undefined && { state }),
            ...(cursor !== undefined && { cursor }),
          }),
  })

  const { content, title } = candidate
  const own = z.object({
    candidateId: CandidatePath.shape.id,
    version: z.int().min(1).describe('The `version` that my_candidates returned.'),
  })

  addTool(server, exchange, 'revise_proposal', {
    title: 'Change a proposal that waits',
    description:
      'Replaces the text of a proposal of this key that waits, as an answer to `changesRequested`. Do not propose the same anew: ' +
      'my_candidates has its text by `candidateId`. Send the whole text. A title or a source that is not sent stays. ' +
      'Fails if it was revised or decided meanwhile.',
    input: own.extend({
      content,
      title: title.optional(),
      ...Proposal.pick({
        ...{ sourceUrl: true, tags: true, baseVersion: true, reason: true, model: true, onBehalfOf: true },
      }).shape,
    }),
    output: CandidateReceipt,
    rate: 'write',
    annotations: adds,
    run: ({ candidateId, version, content, title, ...fields }) =>
      reviseCandidate(ctx, caller, candidateId, {
        ...{ version, content, metadata: null, fields: JSON.parse(JSON.stringify(fields)) },
        ...(title !== undefined && { title }),
      }),
  })

  addTool(server, exchange, 'withdraw_proposal', {
    title: 'Withdraw a proposal that waits',
    description:
      'Withdraws a proposal of this key that waits. Use the tool when it has become wrong, or is not wanted any more.',
    input: own,
    output: CandidateState,
    rate: 'write',
    annotations: adds,
    run: ({ candidateId, version }) => withdrawCandidate(ctx, caller, candidateId, { version }),
  })

  addTool(server, exchange, 'feedback', {
    title: 'Say whether an answer was right',
    description: 'Puts a vote on an answer of ask into the queue. A vote of `down` or `flag` needs a `reason`.',
    input: FeedbackInput.pick({ vote: true, question: true, answer: true, reason: true, category: true }).extend({
      kb: Kb,
      sessionId: FeedbackInput.shape.sessionId,
      turnId: FeedbackInput.shape.turnId,
    }),
    output: FeedbackReceipt,
    rate: 'write',
    annotations: adds,
    run: ({ kb, ...feedback }) => submitFeedback(ctx, caller, kb, feedback),
  })
}

/** Checks the fields that an action requires. @throws {ValidationError} if one is missing */
function complete<Sent extends Omit<z.output<typeof Proposal>, 'preview'>>(sent: Sent): Sent {
  const { action, seqId, title, content, baseVersion } = sent
  const lacking = {
    ...(action === 'new' && title === undefined && { title: ['must be given for a new page'] }),
    ...(action !== 'removal' && content === undefined && { content: ['must be given, wholly'] }),
    ...(action !== 'new' && seqId === undefined && { seqId: ['must name the page'] }),
    ...(action !== 'new' &&
      seqId !== undefined &&
      baseVersion === undefined && { baseVersion: ['must be the `version` that read_neuron returned'] }),
  }
  if (Object.keys(lacking).length > 0) throw new ValidationError(lacking)
  return action === 'new' ? { ...sent, seqId: undefined } : sent
}
