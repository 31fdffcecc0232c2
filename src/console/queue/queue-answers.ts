import { listProposedTests } from '../../answer-tests/proposed-tests.ts'
import { readEffects } from '../../answer-tests/read-effects.ts'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError, undefinedOn, ValidationError } from '../../contract/errors.ts'
import { listFailingLinks } from '../../forge/bridge/manage-links.ts'
import { unlessUnavailable } from '../../kb/failure.ts'
import type { KbLabel } from '../../kb/readable-kb.ts'
import { markMentions, mentionedIn } from '../../markdown/mentions.ts'
import { renderMarkdown } from '../../pages/render-page.ts'
import { rebasePage } from '../../pages/write/rebase-page.ts'
import { listQueue, nextInQueue } from '../../queue/lists/list-queue.ts'
import {
  type CandidateReview,
  type ReviewOutcome,
  readOutcome,
  reviewCandidate,
} from '../../review/review-candidate.ts'
import { similarNeurons } from '../../review/similar-neurons.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { Html } from '../layout/html-template.ts'
import { type ConsoleRequest, isFragment, type PageAnswer } from '../layout/page-routes.ts'
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

/** A request about one candidate. */
export type SentOfOne = ConsoleRequest<
  { id: string },
  QueueParams & Pick<CandidateParams, 'done' | 'similar' | 'proposed'>
>
type Sending = { form: 'edit' | 'dismiss' | 'comment' | 'reverse'; typed: Typed }
type Shown = Partial<Pick<ShownCandidate, 'isEditing' | 'refusal' | 'typed' | 'errors'>>

export function answersOf(ctx: AppContext) {
  async function showList(
    { visit, caller, query: params }: ConsoleRequest<unknown, ListParams>,
    failed: Pick<ListPage, 'problem' | 'reason'> = {},
  ): Promise<PageAnswer> {
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
    }
    const page = queueListPage(visit, { ...shown, notice, ...failed })
    return failed.problem === undefined ? page : { page, status: 422 }
  }

  /** Counts the proposed tests if the list shows one knowledge base: counting all would read all of them. */
  async function countProposed(caller: Caller, kbs: readonly KbLabel[], { kb, status = 'pending' }: QueueParams) {
    const [shown, other] = kbs.filter(({ slug }) => kb === undefined || slug === kb)
    if (shown === undefined || other !== undefined || status !== 'pending') return undefined
    const listed = await listProposedTests(ctx, caller, shown.slug).catch(unlessUnavailable)
    return listed && { kb: shown, count: listed.proposed.length, hasMore: listed.moreProposed === true }
  }

  async function showCandidate(
    { visit, caller, params: { id }, query: params }: SentOfOne,
    { isEditing = false, typed, ...told }: Shown,
  ): Promise<Html> {
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
    return candidateHtml(visit, {
      ...{
        review,
        change,
        tests,
        comments,
        curators,
        sendsMail: ctx.sendsMail,
        effects,
        similar,
        params,
        isEditing,
        notice,
      },
      ...(typed && { typed: { ...typed, ...(edit && { edit }) } }),
      ...told,
    })
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

  async function showSimilar({ caller, params: { id } }: SentOfOne): Promise<Html> {
    const [similar, { kb }] = await Promise.all([similarTo(caller, id), readOutcome(ctx, caller, id)])
    return similarList(similar, kb)
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

  /**
   * Does what a form asks for, and shows the next candidate or what `then` answers. A refusal shows the candidate again, with what was
   * typed.
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
    // The script has the next page, unless the decision changed that, and needs what is said above it.
    const outcome = await readOutcome(ctx, caller, id)
    reply.headers({ 'hx-location': to, ...(next && { 'x-seen': next.seen }) })
    return outcomeNotice(visit, outcome, query)
  }

  async function showRefusal(sent: SentOfOne, { form, typed }: Sending, error: unknown): Promise<PageAnswer> {
    if (error instanceof ValidationError) {
      return { page: await showCandidate(sent, { typed, errors: { [form]: error } }), status: 400 }
    }
    if (!(error instanceof GanglionError) || error.status !== 409) throw error
    const outcome = await readOutcome(ctx, sent.caller, sent.params.id)
    // The same decision, sent twice.
    if (error.code === 'not_pending' && isSame(form, outcome, sent.visit.session.user.name)) return showNext(sent)
    return { page: await showCandidate(sent, { typed, refusal: refusalText(error, outcome) }), status: 409 }
  }

  return { showList, showCandidate, showSimilar, attempt }
}

function isSame(form: Sending['form'], { status, by }: ReviewOutcome, name: string): boolean {
  return by === name && status === (form === 'dismiss' ? 'dismissed' : 'approved')
}
