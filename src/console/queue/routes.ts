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
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { approveCandidate } from '../../queue/approve-candidate.ts'
import { commentCandidate } from '../../queue/comment-candidate.ts'
import { assignCandidate, dismissCandidate, reopenCandidate, requestChanges } from '../../queue/decide-candidate.ts'
import { proposeReverse } from '../../review/propose-reverse.ts'
import { readOutcome } from '../../review/read-outcome.ts'
import { type CandidateReview, reviewCandidate } from '../../review/review-candidate.ts'
import { pagesOf } from '../layout/page-routes.ts'
import { askRed, decideTogether } from './decide-together.ts'
import { proposedEdit, type TypedEdit } from './edit-form.ts'
import { answersOf, type SentOfOne } from './queue-answers.ts'
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
  const { showList, showCandidate, showSimilar, attempt } = answersOf(ctx)
  const pages = pagesOf(app, { people: 'curator' })
  const ofList = { query: ListParams } as const
  const ofOne = { params: CandidatePath, query: QueueParams } as const
  const kept = { ...ofOne, config: { keepsForm: true } } as const

  pages.get('/queue', ofList, (sent) => showList(sent))

  pages.post('/queue', { ...ofList, body: BulkForm }, async (sent) => {
    const { visit, caller, query, body } = sent
    const { decision, pick, reason, sure } = body
    if (pick.length === 0) return showList(sent, { problem: 'Select at least one candidate.', reason })
    const picks = pick.map((each) => each.split(' ')).map(([id = '', seen = '']) => ({ id, seen }))
    if (decision === 'approve' && sure === undefined) {
      const outcomes = await Promise.all(picks.map(({ id }) => readOutcome(ctx, caller, id)))
      const red = outcomes.filter(({ zone, status }) => zone === 'red' && status === 'pending')
      if (red.length > 0) return askRed(visit, { red, picks: pick, params: query })
    }
    const given = reason.trim() === '' ? undefined : reason
    const did = await decideTogether(ctx, caller, { decision, picks, reason: given })
    return { to: listPath(query, { after: query.after, before: query.before, did }) }
  })

  pages.get('/queue/:id', { ...ofOne, query: CandidateParams }, (sent) =>
    showCandidate(sent, { isEditing: sent.query.edit !== undefined }),
  )

  pages.get('/queue/:id/similar', ofOne, showSimilar)

  pages.post('/queue/:id/approve', { ...kept, body: ApproveForm }, (sent) => {
    const { caller, params, query, body } = sent
    const edit = typedEdit(body)
    return attempt(sent, { form: 'edit', typed: { edit } }, async () => {
      const changes = edit && editOf(await reviewCandidate(ctx, caller, params.id, viewOf(query)), edit)
      await approveCandidate(ctx, caller, params.id, { ...changes, seen: body.seen })
    })
  })

  pages.post('/queue/:id/dismiss', { ...kept, body: DismissForm }, (sent) => {
    const { caller, params, body } = sent
    return attempt(sent, { form: 'dismiss', typed: { reason: body.reason } }, () =>
      dismissCandidate(ctx, caller, params.id, { ...dismissalOf(body), seen: body.seen }),
    )
  })

  pages.post('/queue/:id/comment', { ...kept, body: CommentForm }, (sent) => {
    const { caller, params, body } = sent
    const work = () => commentCandidate(ctx, caller, params.id, commentOf(body))
    return attempt(sent, { form: 'comment', typed: { comment: body.comment } }, work, () => toComments(sent))
  })

  pages.post('/queue/:id/request-changes', { ...kept, body: CommentForm }, (sent) => {
    const { caller, params, body } = sent
    const work = () => {
      const asked = parseSent(CommentRequest, { comment: unixLines(body.comment) })
      return requestChanges(ctx, caller, params.id, { reason: asked.comment, seen: body.seen })
    }
    return attempt(sent, { form: 'comment', typed: { comment: body.comment } }, work, () => toComments(sent))
  })

  pages.post('/queue/:id/assign', { ...ofOne, body: AssignForm }, (sent) => {
    const { visit, caller, params, body } = sent
    const name = body.me === undefined ? body.assignee.trim() : visit.session.user.email
    const work = () =>
      assignCandidate(ctx, caller, params.id, parseSent(Assignment, { assignee: name === '' ? null : name }))
    return attempt(sent, { form: 'comment', typed: {} }, work, () => toComments(sent))
  })

  pages.post('/queue/:id/reopen', ofOne, async ({ caller, params: { id }, query }) => {
    // Somebody else has put it back, or it was approved since: its page says so.
    await reopenCandidate(ctx, caller, id).catch(undefinedOn('not_dismissed'))
    return { to: candidateUrl(id, query, { done: id }) }
  })

  pages.post('/queue/:id/reverse', ofOne, (sent) =>
    attempt(
      sent,
      { form: 'reverse', typed: {} },
      () => proposeReverse(ctx, sent.caller, sent.params.id),
      (id) => ({ to: candidateUrl(id, sent.query, { proposed: '1' }) }),
    ),
  )

  const TypedForm = z.object({ ...ApproveForm.shape, reason: z.string().optional(), comment: z.string().optional() })
  // The routes show a form of an ended session again, and change nothing.
  const shown = { ...ofOne, body: TypedForm, config: { readsForm: true } } as const
  for (const form of ['approve', 'dismiss', 'comment']) {
    pages.post(`/queue/:id/${form}/preview`, shown, (sent) => {
      const { reason, comment } = sent.body
      return showCandidate(sent, { typed: { edit: typedEdit(sent.body), reason, comment } })
    })
  }
}

function toComments({ params, query }: SentOfOne): { to: string } {
  return { to: `${candidateUrl(params.id, query)}#comment` }
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
