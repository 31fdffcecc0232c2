import type { FastifyReply, FastifyRequest } from 'fastify'
import { listProposedTests } from '../../answer-tests/proposed-tests.ts'
import { readEffects } from '../../answer-tests/read-effects.ts'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError, undefinedOn, ValidationError } from '../../contract/errors.ts'
import { listFailingLinks } from '../../forge/bridge/manage-links.ts'
import { callerOf } from '../../http/access/auth.ts'
import { unlessUnavailable } from '../../kb/failure.ts'
import type { KbLabel } from '../../kb/kb-label.ts'
import { markMentions, mentionedIn } from '../../markdown/mentions.ts'
import { renderMarkdown } from '../../pages/render-page.ts'
import { rebasePage } from '../../pages/write/rebase-page.ts'
import { listQueue } from '../../queue/lists/list-queue.ts'
import { nextInQueue } from '../../queue/lists/queue-neighbours.ts'
import { type ReviewOutcome, readOutcome } from '../../review/read-outcome.ts'
import { type CandidateReview, reviewCandidate } from '../../review/review-candidate.ts'
import { similarNeurons } from '../../review/similar-neurons.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { isFragment, send, visitOf } from '../layout/page-routes.ts'
import { candidateHtml, isRemark, type ShownCandidate, type Typed } from './candidate-page.ts'
import { changeOf, changesOfTests, usualShow } from './change-section.ts'
import { togetherNotice } from './decide-together.ts'
import type { TypedEdit } from './edit-form.ts'
import { type Similar, similarList } from './facts.ts'
import { type ListPage, queueListPage } from './list-page.ts'
import { outcomeNotice, proposedNotice, refusalText } from './outcome-notice.ts'
import {
  type CandidateParams,
  candidateUrl,
  type ListParams,
  listPath,
  pageLength,
  type QueueParams,
  viewOf,
} from './view.ts'

type Sent = { id: string; params: QueueParams; form: 'edit' | 'dismiss' | 'comment' | 'reverse'; typed: Typed }

type Shown = { id: string; params: QueueParams & Pick<CandidateParams, 'done' | 'similar' | 'proposed'> } & Partial<
  Pick<ShownCandidate, 'isEditing' | 'refusal' | 'typed' | 'errors'>
>

export function answersOf(ctx: AppContext) {
  async function sendList(
    request: FastifyRequest,
    reply: FastifyReply,
    params: ListParams,
    { problem, reason }: Pick<ListPage, 'problem' | 'reason'> = {},
  ): Promise<FastifyReply> {
    const [visit, caller] = [visitOf(request), callerOf(request)]
    const { after, before, pick, done, did = [], kind, tag, assignee, text } = params
    // Where not all of a bundle may pass, each passes by itself.
    const bundles = (kind ?? tag ?? assignee ?? text) === undefined
    const queue = await listQueue(ctx, caller, { ...viewOf(params), after, before, bundles, limit: pageLength })
    const failingLinks = await listFailingLinks(ctx, caller, params.kb)
    const proposedTests = await countProposed(caller, queue.knowledgeBases, params)
    const outcomes = await Promise.all(
      did.map(async ([id, result]) => ({ outcome: await readOutcome(ctx, caller, id), result })),
    )
    const notice =
      outcomes.length > 0
        ? togetherNotice(visit, outcomes, params)
        : done !== undefined && outcomeNotice(visit, await readOutcome(ctx, caller, done), params)
    const shown = {
      queue,
      failingLinks,
      proposedTests,
      params,
      place: { after, before },
      isAllPicked: pick !== undefined,
      notice,
    }
    const failed = problem === undefined ? {} : { problem, ...(reason === undefined ? {} : { reason }) }
    return send(reply, queueListPage(visit, { ...shown, ...failed }), problem === undefined ? 200 : 422)
  }

  /** Counts the proposed tests if the list shows one knowledge base: counting all would read all of them. */
  async function countProposed(caller: Caller, kbs: readonly KbLabel[], { kb, status = 'pending' }: QueueParams) {
    const [shown, other] = kbs.filter(({ slug }) => kb === undefined || slug === kb)
    if (shown === undefined || other !== undefined || status !== 'pending') return undefined
    const listed = await listProposedTests(ctx, caller, shown.slug).catch(unlessUnavailable)
    return listed && { kb: shown, count: listed.proposed.length, hasMore: listed.moreProposed === true }
  }

  async function sendCandidate(
    request: FastifyRequest,
    reply: FastifyReply,
    { id, params, isEditing = false, typed, ...told }: Shown,
    status = 200,
  ): Promise<FastifyReply> {
    const [visit, caller] = [visitOf(request), callerOf(request)]
    const { done } = params
    const [review, outcome] = await Promise.all([
      reviewCandidate(ctx, caller, id, viewOf(params)),
      done === undefined ? undefined : readOutcome(ctx, caller, done),
    ])
    const curators = await ctx.users.curators(caller.tenantId)
    const [edit, change, tests, comments, effects, similar] = await Promise.all([
      typed?.edit && rebasedEdit(caller, review, typed.edit),
      changeOf(ctx, caller, review, params.show ?? usualShow(review.sides)),
      changesOfTests(ctx, review),
      commentsOf(caller, review, curators, visit.session.role === 'admin' ? '/settings/people' : undefined),
      readEffects(ctx, caller, review.entry),
      params.similar === undefined ? undefined : similarTo(caller, id),
    ])
    const notice =
      params.proposed === undefined ? outcome && outcomeNotice(visit, outcome, params) : proposedNotice(review)
    const { sendsMail } = ctx
    const shown = {
      review,
      change,
      tests,
      comments,
      curators,
      sendsMail,
      effects,
      similar,
      params,
      isEditing,
      notice,
      ...(typed && { typed: { ...typed, ...(edit && { edit }) } }),
      ...told,
    }
    return send(reply, candidateHtml(visit, shown), status)
  }

  /** Rebases what was typed onto the page as it is now: a form with an earlier version could neither be sent nor show what conflicts. */
  async function rebasedEdit(
    caller: Caller,
    { entry, sides, kb }: CandidateReview,
    edit: TypedEdit,
  ): Promise<TypedEdit> {
    const { intent, status } = entry
    const isCurrent = sides.commit === undefined || edit.base === '' || edit.base === sides.commit
    if (status !== 'pending' || intent.does === 'add' || isCurrent) return edit
    const page = { kb: kb.slug, seqId: intent.seqId, base: edit.base }
    const rebased = await rebasePage(ctx, caller, { ...page, content: edit.content }).catch(undefinedOn('not_found'))
    return rebased === undefined ? edit : { ...edit, content: rebased.content, base: rebased.latest.commit }
  }

  async function sendSimilar(request: FastifyRequest, reply: FastifyReply, id: string): Promise<FastifyReply> {
    const caller = callerOf(request)
    const [similar, { kb }] = await Promise.all([similarTo(caller, id), readOutcome(ctx, caller, id)])
    return send(reply, similarList(similar, kb))
  }

  async function similarTo(caller: Caller, id: string): Promise<Similar> {
    return { found: await similarNeurons(ctx, caller, id) }
  }

  /** `people`: where those are listed who are mentioned, for who may list them. */
  function commentsOf(
    caller: Caller,
    { steps, kb }: CandidateReview,
    curators: ShownCandidate['curators'],
    people: string | undefined,
  ) {
    const comments = steps.filter(isRemark)
    return Promise.all(
      comments.map(async ({ reason = '' }) => {
        const rendered = await renderMarkdown(ctx, caller, { kb: kb.slug, content: reason, idPrefix: null })
        const names = mentionedIn(reason, curators)
        return { ...rendered, blocks: rendered.blocks.map((block) => markMentions(block, names, people)) }
      }),
    )
  }

  /** Decides, and goes on to the next candidate; what is refused stays where it is, with what was typed. */
  async function decide(
    request: FastifyRequest,
    reply: FastifyReply,
    sent: Sent,
    work: (caller: Caller) => Promise<void>,
  ): Promise<FastifyReply> {
    try {
      await work(callerOf(request))
    } catch (error) {
      return sendRefusal(request, reply, sent, error)
    }
    return sendNext(request, reply, sent)
  }

  async function sendNext(
    request: FastifyRequest,
    reply: FastifyReply,
    { id, params }: Pick<Sent, 'id' | 'params'>,
  ): Promise<FastifyReply> {
    const caller = callerOf(request)
    const next = await nextInQueue(ctx, caller, id, viewOf(params))
    const to = next === undefined ? listPath(params, { done: id }) : candidateUrl(next.id, params, { done: id })
    if (!isFragment(request)) return reply.redirect(to, 303)
    // The script has the next page, unless the decision changed that, and needs what is said above it.
    const outcome = await readOutcome(ctx, caller, id)
    reply.headers({ 'hx-location': to, ...(next && { 'x-seen': next.seen }) })
    return send(reply, outcomeNotice(visitOf(request), outcome, params))
  }

  async function sendRefusal(
    request: FastifyRequest,
    reply: FastifyReply,
    sent: Sent,
    error: unknown,
  ): Promise<FastifyReply> {
    const { id, params, form, typed } = sent
    if (error instanceof ValidationError) {
      return sendCandidate(request, reply, { id, params, typed, errors: { [form]: error } }, 400)
    }
    if (!(error instanceof GanglionError) || error.status !== 409) throw error
    const outcome = await readOutcome(ctx, callerOf(request), id)
    // The same decision, sent twice.
    if (error.code === 'not_pending' && isSame(sent, outcome, visitOf(request).session.user.name)) {
      return sendNext(request, reply, sent)
    }
    return sendCandidate(request, reply, { id, params, typed, refusal: refusalText(error, outcome) }, 409)
  }

  return { sendList, sendCandidate, sendSimilar, sendRefusal, decide }
}

function isSame({ form }: Sent, { status, by }: ReviewOutcome, name: string): boolean {
  return by === name && status === (form === 'dismiss' ? 'dismissed' : 'approved')
}
