import { z } from 'zod'
import {
  Assignment,
  CandidateComment,
  CandidateEdit,
  CandidatePath,
  ChangeRequest,
  Dismissal,
} from '../../contract/candidates.ts'
import { GanglionError, undefinedOn, ValidationError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import {
  approveCandidate,
  assignCandidate,
  commentCandidate,
  dismissCandidate,
  reopenCandidate,
  requestChanges,
} from '../../queue/decide-candidate.ts'
import { nextInQueue } from '../../queue/lists/list-queue.ts'
import { proposeReverse } from '../../review/propose-reverse.ts'
import {
  type CandidateReview,
  type ReviewOutcome,
  readOutcome,
  reviewCandidate,
} from '../../review/review-candidate.ts'
import { similarNeurons } from '../../review/similar-neurons.ts'
import { typedTags } from '../../rules/text/lines.ts'
import { consolePages, isFragment, type PageAnswer } from '../layout/page-routes.ts'
import { candidateHtml, type Typed } from './candidate-page.ts'
import { askRed, decideTogether } from './decide-together.ts'
import { proposedEdit, type TypedEdit } from './edit-form.ts'
import { similarList } from './facts.ts'
import { queueList } from './list-page.ts'
import { outcomeNotice, refusalText } from './outcome-notice.ts'
import {
  CandidateParams,
  candidateUrl,
  ListParams,
  listPath,
  pageLength,
  QueueParams,
  type SentOfOne,
  viewOf,
} from './view.ts'

type Sending = { form: 'edit' | 'dismiss' | 'comment' | 'reverse'; typed: Typed }

const EditFields = CandidateEdit.extend({
  tags: z.string().transform(typedTags).pipe(CandidateEdit.shape.tags.unwrap()).exactOptional(),
})

const text = z.string().optional()
/** Fields of the forms of a candidate. They are checked when they are used, so that what was typed can be shown again. */
const CandidateForm = z.object({
  ...{ seen: text, base: text, title: text, content: text, tags: text },
  ...{ reason: text, comment: text, lines: text },
})
type CandidateForm = z.output<typeof CandidateForm>
/** Request for changes, which the form of a comment sends. */
const CommentRequest = z.object({
  comment: ChangeRequest.shape.reason,
  lines: z.literal('').or(ChangeRequest.shape.lines.unwrap()).default(''),
})
const AssignForm = z.object({ assignee: z.string().default(''), me: text })

const Picked = z
  .string()
  .max(200)
  .regex(/^\S+ \S+$/)
const BulkForm = z.object({
  decision: z.enum(['approve', 'dismiss', 'reopen', 'reverse']),
  pick: z.union([Picked.transform((one) => [one]), z.array(Picked).max(2 * pageLength)]).default([]),
  reason: z.string().max(2000).default(''),
  /** Confirmation of the curator to decide on candidates of the red zone. */
  sure: z.literal('1').optional(),
})

export const queuePageRoutes = consolePages({ people: 'curator' }, (pages, ctx) => {
  const ofList = { query: ListParams } as const
  const ofOne = { params: CandidatePath, query: QueueParams } as const
  const typing = { ...ofOne, body: CandidateForm, config: { keepsForm: true } } as const

  pages.get('/queue', ofList, (sent) => queueList(ctx, sent))

  pages.post('/queue', { ...ofList, body: BulkForm }, async (sent) => {
    const { visit, caller, query, body } = sent
    const { decision, pick, reason, sure } = body
    if (pick.length === 0) return queueList(ctx, sent, { problem: 'Select at least one candidate.', reason })
    const picks = pick.map((each) => each.split(' ')).map(([id = '', seen = '']) => ({ id, seen }))
    if (decision === 'approve' && sure === undefined) {
      const outcomes = await Promise.all(picks.map(({ id }) => readOutcome(ctx, caller, id)))
      const red = outcomes.filter(({ zone, status }) => zone === 'red' && status === 'pending')
      if (red.length > 0) return askRed(visit, { red, picks: pick, params: query })
    }
    const given = reason.trim() === '' ? undefined : reason
    const did = await decideTogether(ctx, caller, picks, { decision, reason: given })
    return { to: listPath(query, { after: query.after, before: query.before, did }) }
  })

  pages.get('/queue/:id', { ...ofOne, query: CandidateParams }, (sent) =>
    candidateHtml(ctx, sent, { isEditing: sent.query.edit !== undefined }),
  )

  pages.get('/queue/:id/similar', ofOne, async ({ caller, params: { id } }) => {
    const [found, { kb }] = await Promise.all([similarNeurons(ctx, caller, id), readOutcome(ctx, caller, id)])
    return similarList(found, kb)
  })

  pages.post('/queue/:id/approve', typing, (sent) => {
    const { caller, params, query, body } = sent
    const edit = typedEdit(body)
    return attempt(sent, { form: 'edit', typed: { edit } }, async () => {
      const changes = edit && editOf(await reviewCandidate(ctx, caller, params.id, viewOf(query)), edit)
      await approveCandidate(ctx, caller, params.id, { ...changes, seen: body.seen ?? '' })
    })
  })

  pages.post('/queue/:id/dismiss', typing, (sent) => {
    const { reason = '', seen = '' } = sent.body
    return attempt(sent, { form: 'dismiss', typed: { reason } }, () => {
      const dismissal = parseSent(Dismissal, reason.trim() === '' ? {} : { reason })
      return dismissCandidate(ctx, sent.caller, sent.params.id, { ...dismissal, seen })
    })
  })

  pages.post('/queue/:id/comment', typing, (sent) => {
    const { comment = '' } = sent.body
    const work = () => {
      const said = parseSent(CandidateComment, { comment })
      return commentCandidate(ctx, sent.caller, sent.params.id, said)
    }
    return attempt(sent, { form: 'comment', typed: { comment } }, work, () => toComments(sent))
  })

  pages.post('/queue/:id/request-changes', typing, (sent) => {
    const { comment = '', lines = '', seen } = sent.body
    const work = () => {
      const asked = parseSent(CommentRequest, { comment, lines: lines.trim() })
      const about = { reason: asked.comment, ...(asked.lines && { lines: asked.lines }) }
      return requestChanges(ctx, sent.caller, sent.params.id, { ...about, seen })
    }
    return attempt(sent, { form: 'comment', typed: { comment, lines } }, work, () => toComments(sent))
  })

  pages.post('/queue/:id/assign', { ...ofOne, body: AssignForm }, (sent) => {
    const { visit, caller, params, body } = sent
    const name = body.me === undefined ? body.assignee.trim() : visit.session.user.email
    const work = () =>
      assignCandidate(ctx, caller, params.id, parseSent(Assignment, { assignee: name === '' ? null : name }))
    return attempt(sent, { form: 'comment', typed: {} }, work, () => toComments(sent))
  })

  pages.post('/queue/:id/reopen', ofOne, async ({ caller, params: { id }, query }) => {
    // The candidate has been put back or approved meanwhile, which its page shows.
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

  // The routes show a form of an ended session again, and change nothing.
  const shown = { ...typing, config: { readsForm: true } } as const
  for (const form of ['approve', 'dismiss', 'comment']) {
    pages.post(`/queue/:id/${form}/preview`, shown, (sent) => {
      const { reason, comment, lines } = sent.body
      return candidateHtml(ctx, sent, { typed: { edit: typedEdit(sent.body), reason, comment, lines } })
    })
  }

  /**
   * Performs the action of a form, and shows the next candidate or the result of `then`. A rejection shows the candidate again, with
   * the typed values.
   */
  async function attempt<Result>(
    sent: SentOfOne,
    sending: Sending,
    work: () => Promise<Result>,
    then: (result: Result) => PageAnswer | Promise<PageAnswer> = () => showNext(sent),
  ): Promise<PageAnswer> {
    let result: Result
    try {
      result = await work()
    } catch (error) {
      return showRefusal(sent, sending, error)
    }
    return then(result)
  }

  async function showNext({ request, reply, visit, caller, params: { id }, query }: SentOfOne): Promise<PageAnswer> {
    const next = await nextInQueue(ctx, caller, id, viewOf(query))
    const to = next === undefined ? listPath(query, { done: id }) : candidateUrl(next.id, query, { done: id })
    if (!isFragment(request)) return { to }
    // The script has prefetched the next page, and shows this notice above it. `x-seen` tells whether that page is still current.
    const outcome = await readOutcome(ctx, caller, id)
    reply.headers({ 'hx-location': to, ...(next && { 'x-seen': next.seen }) })
    return outcomeNotice(visit, outcome, query)
  }

  async function showRefusal(sent: SentOfOne, { form, typed }: Sending, error: unknown): Promise<PageAnswer> {
    if (error instanceof ValidationError) {
      return { page: await candidateHtml(ctx, sent, { typed, errors: { [form]: error } }), status: 400 }
    }
    if (!(error instanceof GanglionError) || error.status !== 409) throw error
    const outcome = await readOutcome(ctx, sent.caller, sent.params.id)
    // The same decision was sent twice.
    if (error.code === 'not_pending' && isSame(form, outcome, sent.visit.session.user.name)) return showNext(sent)
    return { page: await candidateHtml(ctx, sent, { typed, refusal: refusalText(error, outcome) }), status: 409 }
  }
})

function isSame(form: Sending['form'], { status, by }: ReviewOutcome, name: string): boolean {
  return by === name && status === (form === 'dismiss' ? 'dismissed' : 'approved')
}

function toComments({ params, query }: SentOfOne): { to: string } {
  return { to: `${candidateUrl(params.id, query)}#comment` }
}

/** Returns the edit in a form. */
function typedEdit({ base, title, content, tags }: CandidateForm): TypedEdit | undefined {
  if (title === undefined || content === undefined) return undefined
  return { title, content, tags: tags ?? '', base: base ?? '' }
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
