import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import {
  Assignment,
  CandidateComment,
  CandidateEdit,
  CandidatePath,
  ChangeRequest,
  Dismissal,
} from '../../contract/candidates.ts'
import { undefinedOn } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { approveCandidate } from '../../queue/approve-candidate.ts'
import { commentCandidate } from '../../queue/comment-candidate.ts'
import { assignCandidate, dismissCandidate, reopenCandidate, requestChanges } from '../../queue/decide-candidate.ts'
import { proposeReverse } from '../../review/propose-reverse.ts'
import { readOutcome } from '../../review/read-outcome.ts'
import { type CandidateReview, reviewCandidate } from '../../review/review-candidate.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { askRed, decideTogether } from './decide-together.ts'
import { proposedEdit, type TypedEdit } from './edit-form.ts'
import { answersOf } from './queue-answers.ts'
import { CandidateParams, candidateUrl, ListParams, listPath, pageLength, QueueParams, viewOf } from './view.ts'

const text = z.string().default('')

const EditFields = CandidateEdit.extend({
  tags: z.string().transform(tagsIn).pipe(CandidateEdit.shape.tags.unwrap()).exactOptional(),
})

/** The fields of the forms that decide; what they hold is checked when it is used, so that what was typed can be shown again. */
const ApproveForm = z.object({
  seen: text,
  base: z.string().optional(),
  title: z.string().optional(),
  content: z.string().optional(),
  tags: z.string().optional(),
})
/** The form of a comment has the request, too. */
const CommentRequest = z.object({ comment: ChangeRequest.shape.reason })
const DismissForm = z.object({ seen: text, reason: text })
const CommentForm = z.object({ comment: text, seen: z.string().optional() })
const AssignForm = z.object({ assignee: text, me: z.string().optional() })

const Picked = z
  .string()
  .max(200)
  .regex(/^\S+ \S+$/)
const BulkForm = z.object({
  decision: z.enum(['approve', 'dismiss', 'reopen']),
  pick: z.union([Picked.transform((one) => [one]), z.array(Picked).max(2 * pageLength)]).default([]),
  reason: z.string().max(2000).default(''),
  /** Whether the red zone has been asked about. */
  sure: z.literal('1').optional(),
})

export function queuePageRoutes(app: ZodFastify, ctx: AppContext): void {
  const { sendList, sendCandidate, sendSimilar, sendRefusal, decide } = answersOf(ctx)
  const config = { people: 'curator' } as const
  const kept = { ...config, keepsForm: true }
  /** Routes that show a form of an ended session again, and change nothing. */
  const shown = { ...config, readsForm: true }
  const ofList = { querystring: ListParams } as const
  const ofOne = { params: CandidatePath, querystring: QueueParams } as const

  app.get('/queue', { config, schema: ofList }, (request, reply) => sendList(request, reply, request.query))

  app.post('/queue', { config, schema: { ...ofList, body: BulkForm } }, async (request, reply) => {
    const { query, body } = request
    const { decision, pick, reason, sure } = body
    if (pick.length === 0) {
      return sendList(request, reply, query, { problem: 'Select at least one candidate.', reason })
    }
    const picks = pick.map((each) => each.split(' ')).map(([id = '', seen = '']) => ({ id, seen }))
    if (decision === 'approve' && sure === undefined) {
      const outcomes = await Promise.all(picks.map(({ id }) => readOutcome(ctx, callerOf(request), id)))
      const red = outcomes.filter(({ zone, status }) => zone === 'red' && status === 'pending')
      if (red.length > 0) return send(reply, askRed(visitOf(request), { red, picks: pick, params: query }))
    }
    const given = reason.trim() === '' ? undefined : reason
    const did = await decideTogether(ctx, callerOf(request), { decision, picks, reason: given })
    return reply.redirect(listPath(query, { after: query.after, before: query.before, did }), 303)
  })

  app.get('/queue/:id', { config, schema: { ...ofOne, querystring: CandidateParams } }, (request, reply) => {
    const { params, query } = request
    return sendCandidate(request, reply, { id: params.id, params: query, isEditing: query.edit !== undefined })
  })

  app.get('/queue/:id/similar', { config, schema: ofOne }, (request, reply) =>
    sendSimilar(request, reply, request.params.id),
  )

  app.post('/queue/:id/approve', { config: kept, schema: { ...ofOne, body: ApproveForm } }, (request, reply) => {
    const { params, query, body } = request
    const edit = typedEdit(body)
    const sent = { id: params.id, params: query, form: 'edit', typed: { edit } } as const
    return decide(request, reply, sent, async (caller) => {
      const changes = edit && editOf(await reviewCandidate(ctx, caller, params.id, viewOf(query)), edit)
      await approveCandidate(ctx, caller, params.id, { ...changes, seen: body.seen })
    })
  })

  app.post('/queue/:id/dismiss', { config: kept, schema: { ...ofOne, body: DismissForm } }, (request, reply) => {
    const { params, query, body } = request
    const sent = { id: params.id, params: query, form: 'dismiss', typed: { reason: body.reason } } as const
    return decide(request, reply, sent, async (caller) => {
      await dismissCandidate(ctx, caller, params.id, { ...dismissalOf(body), seen: body.seen })
    })
  })

  app.post('/queue/:id/comment', { config: kept, schema: { ...ofOne, body: CommentForm } }, async (request, reply) => {
    const { params, query, body } = request
    const sent = { id: params.id, params: query, form: 'comment', typed: { comment: body.comment } } as const
    try {
      await commentCandidate(ctx, callerOf(request), params.id, commentOf(body))
    } catch (error) {
      return sendRefusal(request, reply, sent, error)
    }
    return reply.redirect(`${candidateUrl(params.id, query)}#comment`, 303)
  })

  app.post(
    '/queue/:id/request-changes',
    { config: kept, schema: { ...ofOne, body: CommentForm } },
    async (request, reply) => {
      const { params, query, body } = request
      const sent = { id: params.id, params: query, form: 'comment', typed: { comment: body.comment } } as const
      try {
        const asked = parseSent(CommentRequest, { comment: unixLines(body.comment) })
        await requestChanges(ctx, callerOf(request), params.id, { reason: asked.comment, seen: body.seen })
      } catch (error) {
        return sendRefusal(request, reply, sent, error)
      }
      return reply.redirect(`${candidateUrl(params.id, query)}#comment`, 303)
    },
  )

  app.post('/queue/:id/assign', { config, schema: { ...ofOne, body: AssignForm } }, async (request, reply) => {
    const { params, query, body } = request
    const { email } = visitOf(request).session.user
    const name = body.me === undefined ? body.assignee.trim() : email
    try {
      await assignCandidate(
        ctx,
        callerOf(request),
        params.id,
        parseSent(Assignment, { assignee: name === '' ? null : name }),
      )
    } catch (error) {
      return sendRefusal(request, reply, { id: params.id, params: query, form: 'comment', typed: {} }, error)
    }
    return reply.redirect(`${candidateUrl(params.id, query)}#comment`, 303)
  })

  app.post('/queue/:id/reopen', { config, schema: ofOne }, async (request, reply) => {
    const { id } = request.params
    // Somebody else has put it back, or it was approved since: its page says so.
    await reopenCandidate(ctx, callerOf(request), id).catch(undefinedOn('not_dismissed'))
    return reply.redirect(candidateUrl(id, request.query, { done: id }), 303)
  })

  app.post('/queue/:id/reverse', { config, schema: ofOne }, async (request, reply) => {
    const { params, query } = request
    try {
      return reply.redirect(
        candidateUrl(await proposeReverse(ctx, callerOf(request), params.id), query, { proposed: '1' }),
        303,
      )
    } catch (error) {
      return sendRefusal(request, reply, { id: params.id, params: query, form: 'reverse', typed: {} }, error)
    }
  })

  const TypedForm = z.object({ ...ApproveForm.shape, reason: z.string().optional(), comment: z.string().optional() })
  for (const form of ['approve', 'dismiss', 'comment']) {
    app.post(
      `/queue/:id/${form}/preview`,
      { config: shown, schema: { ...ofOne, body: TypedForm } },
      (request, reply) => {
        const { params, query, body } = request
        const typed = { edit: typedEdit(body), reason: body.reason, comment: body.comment }
        return sendCandidate(request, reply, { id: params.id, params: query, typed })
      },
    )
  }
}

/** The edit that a form holds, with the line breaks that a browser sends as they are stored. */
function typedEdit({ base, title, content, tags }: z.output<typeof ApproveForm>): TypedEdit | undefined {
  if (title === undefined || content === undefined) return undefined
  return { title, content: unixLines(content), tags: tags ?? '', base: base ?? '' }
}

/** Returns the fields that a curator changed in the proposal. @throws {ValidationError} */
function editOf(review: CandidateReview, typed: TypedEdit): CandidateEdit {
  const proposed = proposedEdit(review)
  const isResolved = review.sides.conflict !== undefined
  const isEdited = isResolved || proposed.content !== typed.content
  return parseSent(EditFields, {
    ...(typed.title === proposed.title ? {} : { title: typed.title }),
    ...(typed.tags === proposed.tags ? {} : { tags: typed.tags }),
    ...(isEdited ? { content: typed.content } : {}),
    ...(isEdited && typed.base !== '' ? { base: typed.base } : {}),
  })
}

function dismissalOf({ reason }: z.output<typeof DismissForm>): Dismissal {
  return parseSent(Dismissal, reason.trim() === '' ? {} : { reason: unixLines(reason) })
}

function commentOf({ comment }: z.output<typeof CommentForm>): CandidateComment {
  return parseSent(CandidateComment, { comment: unixLines(comment) })
}

function tagsIn(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((tag) => tag.trim().replace(/^#/, '')))].filter((tag) => tag !== '')
}

function unixLines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}
