import { readEffects } from '../../answer-tests/read-effects.ts'
import type { AppContext } from '../../app/open-context.ts'
import { kbPage, neuronPage, previewPage } from '../../contract/console-paths.ts'
import { type ErrorCode, errorTable, undefinedOn } from '../../contract/errors.ts'
import { maxPreviewed } from '../../contract/preview.ts'
import { markMentions, mentionedIn } from '../../markdown/mentions.ts'
import { type Rendered, renderMarkdown } from '../../pages/render-page.ts'
import { rebasePage } from '../../pages/write/open-page.ts'
import { type CandidateReview, type ReviewStep, readOutcome, reviewCandidate } from '../../review/review-candidate.ts'
import { similarNeurons } from '../../review/similar-neurons.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { button, controlsOf, type FormErrors, form, hidden } from '../layout/form.ts'
import { content, type Html, type HtmlPart, html, when } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-routes.ts'
import { changeSection, testsSection } from './change-section.ts'
import { editConflict, editForm, type TypedEdit } from './edit-form.ts'
import {
  badges,
  confidenceText,
  countText,
  endUserLink,
  intentText,
  keysHelp,
  kindLabels,
  ofLines,
  statusLabels,
  verdictText,
  warningList,
} from './entry-parts.ts'
import { duplicateSection, effectsSection, fieldSection, linkSection, similarList, similarSection } from './facts.ts'
import { bundleSection } from './list-page.ts'
import { outcomeNotice, proposedNotice, undoForm } from './outcome-notice.ts'
import { candidateUrl, listPath, type QueueParams, type SentOfOne, viewOf } from './view.ts'

const verbs: Readonly<Record<ReviewStep['action'], string>> = {
  approve: 'approved',
  dismiss: 'dismissed',
  reopen: 'put back',
  comment: 'commented',
  revise: 'revised',
  'request-changes': 'asked for changes to',
  assign: 'assigned',
}

export type Typed = { edit?: TypedEdit | undefined } & {
  [field in 'reason' | 'comment' | 'lines']?: string | undefined
}

/** State of a candidate's page: the form that was rejected, or the edit that is open. */
export type Shown = {
  isEditing?: boolean
  typed?: Typed
  refusal?: HtmlPart
  errors?: { [form in 'edit' | 'dismiss' | 'comment' | 'reverse']?: FormErrors }
}

const problems: Partial<Record<ErrorCode, string>> = {
  target_not_found:
    'The page that it changes is not there any more. Dismiss it, or copy what is of use into a new page.',
  target_unreadable: 'The properties of the page that it changes cannot be read. Edit the page first.',
  malformed_request: 'Its properties would be larger than 16 KB. Edit its tags, or dismiss it.',
}

export async function candidateHtml(
  ctx: AppContext,
  { visit, caller, params: { id }, query: params }: SentOfOne,
  shown: Shown = {},
): Promise<Html> {
  const [review, outcome] = await Promise.all([
    reviewCandidate(ctx, caller, id, viewOf(params)),
    params.done === undefined ? undefined : readOutcome(ctx, caller, params.done),
  ])
  const { entry, kb, sides } = review
  const { typed = {}, errors = {}, refusal } = shown
  const isPending = entry.status === 'pending'
  const isEditing =
    isPending && (shown.isEditing === true || typed.edit !== undefined || sides.conflict?.isSolvable === true)
  const curators = await ctx.users.curators(caller.tenantId)
  const [edit, change, tests, steps, effects, similar] = await Promise.all([
    typed.edit && rebasedEdit(ctx, caller, review, typed.edit),
    changeSection(ctx, caller, review, { params, isEditing }),
    testsSection(ctx, review),
    stepItems(ctx, caller, review, {
      curators,
      people: visit.session.role === 'admin' ? '/settings/people' : undefined,
    }),
    readEffects(ctx, caller, entry),
    params.similar === undefined
      ? undefined
      : similarNeurons(ctx, caller, id).then((found) => similarList(found, kb.slug)),
  ])
  const notice =
    params.proposed === undefined ? outcome && outcomeNotice(visit, outcome, params) : proposedNotice(visit, review)
  return page(visit, {
    title: `${entry.title} · Queue`,
    islands: ['review'],
    hasCode: true,
    notice,
    main: html`<article class="candidate" data-candidate="${entry.id}">
      ${around(review, params)}
      <header>
        <h1 tabindex="-1" dir="auto">${entry.title}</h1>
        <p>${badges(entry)} ${intentText(entry)} · <a href="${listPath({ ...params, kb: kb.slug })}" dir="auto">${kb.title}</a> ${entry.tags.map((tag) => html`<span class="badge" dir="auto">#${tag}</span> `)}</p>
        <p class="soft">${kindLabels[entry.kind]} · ${confidenceText(entry.confidence)} · from <bdi>${entry.connector}</bdi> by <bdi>${entry.createdBy}</bdi>${endUserLink(entry, params)}, ${when(entry.createdAt)}${undoLink(review)}</p>
        ${isPending && entry.kind === 'reader-feedback' && html`<p><a href="${kbPage(kb.slug)}/tests#proposed">Make an answer test of it, or dismiss it</a></p>`}
      </header>
      ${refusal !== undefined && html`<div class="problems" role="alert" tabindex="-1" autofocus>${refusal}</div>`}
      ${sides.problem !== undefined && sides.conflict === undefined && html`<p class="warning">${problems[sides.problem] ?? errorTable[sides.problem].message}</p>`}
      ${sides.movedFrom !== undefined && html`<p class="warning">It moves the page from <code>${sides.movedFrom}</code> to <code>${sides.path}</code>.</p>`}
      ${review.bundle && bundleSection(visit, entry.id, review.bundle, params)}
      ${editConflict(review, edit)}
      ${isEditing && editForm(visit, review, { params, typed: edit, errors: errors.edit })}
      ${!isPending && lostEdit(edit)}
      ${change}
      ${tests}
      ${decidePanel(visit, review, { params, isEditing, reason: typed.reason, errors: errors.dismiss })}
      <div class="context">
        ${effectsSection(effects, kb.slug)}
        ${fieldSection(review.fields)}
        ${duplicateSection(review.duplicates, params)}
        ${linkSection(review.links, kb.slug)}
        ${similarSection(entry, params, similar)}
        <section aria-labelledby="talk-title">
          <h2 id="talk-title">Comments and history</h2>
          <ol class="steps">
            <li><bdi>${entry.createdBy}</bdi> proposed it ${when(entry.createdAt)}</li>
            ${steps}
          </ol>
          ${commentForm(visit, review, { params, comment: typed.comment ?? (isPending ? undefined : typed.reason), lines: typed.lines, errors: errors.comment, sendsMail: ctx.sendsMail })}
          ${isPending && assignForm(visit, review, { params, errors: errors.comment, curators })}
        </section>
      </div>
    </article>`,
  })
}

/** Rebases what was typed onto the page as it is now: a form with an earlier version could neither be sent nor show what conflicts. */
async function rebasedEdit(
  ctx: AppContext,
  caller: Caller,
  { entry: { intent, status }, sides, kb }: CandidateReview,
  edit: TypedEdit,
): Promise<TypedEdit> {
  const isCurrent = sides.commit === undefined || edit.base === '' || edit.base === sides.commit
  if (status !== 'pending' || intent.does === 'add' || isCurrent) return edit
  const page = { kb: kb.slug, seqId: intent.seqId, base: edit.base }
  const rebased = await rebasePage(ctx, caller, { ...page, content: edit.content }).catch(undefinedOn('not_found'))
  return rebased === undefined ? edit : { ...edit, content: rebased.content, base: rebased.latest.commit }
}

function around({ previous, next, count }: CandidateReview, params: QueueParams): Html {
  const link = (id: string | undefined, rel: 'prev' | 'next', label: string) =>
    id === undefined
      ? html`<span class="soft">${label}</span>`
      : html`<a rel="${rel}" href="${candidateUrl(id, params)}" aria-keyshortcuts="${rel === 'next' ? 'j' : 'k'}">${label}</a>`
  return html`<nav class="row around" aria-label="Queue">
    <a href="${listPath(params)}" data-list>Queue</a>
    ${link(previous, 'prev', 'Previous')}
    ${link(next, 'next', 'Next')}
    <span class="soft">${countText(count)} in this filter</span>
    <a href="#decide">Go to the decision</a>
    ${keysHelp()}
  </nav>`
}

function undoLink({ entry, kb, undo }: CandidateReview): Html | undefined {
  if (undo === undefined) return undefined
  const writer = undo.by === 'connector' ? entry.connector : undo.by === 'source' ? 'its Source' : entry.createdBy
  return html` · <a href="${withQuery('/undo', { kb: kb.slug, ...undo })}">Undo what <bdi>${writer}</bdi> brought${undo.onBehalfOf !== undefined && html` on behalf of <bdi>${undo.onBehalfOf}</bdi>`} since…</a>`
}

/** Renders an edit that can no longer be used, so that it is not lost. */
function lostEdit(edit: TypedEdit | undefined): Html | undefined {
  if (edit === undefined) return undefined
  return html`<section aria-labelledby="lost-title"><h2 id="lost-title">Your edit, which was not used</h2>
    <pre dir="auto" tabindex="0">${edit.title}\n${edit.tags}\n\n${edit.content}</pre></section>`
}

type Talking = { params: QueueParams; errors: FormErrors | undefined }

function commentForm(
  visit: Visit,
  { entry: { id, seen, status } }: CandidateReview,
  {
    params,
    errors,
    comment,
    lines = '',
    sendsMail,
  }: Talking & Pick<Typed, 'comment' | 'lines'> & { sendsMail: boolean },
): Html {
  const attributes = { id: 'comment', 'data-keep': `comment-${id}` }
  const askForChanges = { class: 'second', formaction: candidateUrl(id, params, {}, 'request-changes') }
  return form(visit, { action: candidateUrl(id, params, {}, 'comment'), errors, attributes }, [
    hidden({ seen }),
    controlsOf({ comment }, errors).area('comment', 'Comment', {
      hint: `Markdown. Other curators see it${sendsMail ? '; those whom you mention, as @ada, get an e-mail' : ''}.`,
      ...{ maxlength: 10_000, dir: 'auto', rows: 3 },
    }),
    status === 'pending' &&
      controlsOf({ lines }, errors).text('lines', 'Lines (optional)', {
        hint: 'Of the text, where you ask for changes: as 3, or 3-5. "As text" shows their numbers.',
        ...{ maxlength: 20, autocomplete: 'off' },
      }),
    html`<div class="row">${button('Comment', { class: 'second' })}
      ${status === 'pending' && button('Ask for changes', askForChanges)}</div>`,
  ])
}

/** Renders the form to assign the candidate. @param curators people to whom it may be assigned */
function assignForm(
  visit: Visit,
  { entry: { id, assignee } }: CandidateReview,
  { params, errors, curators }: Talking & { curators: readonly Curator[] },
): Html {
  const { text } = controlsOf({ assignee: assignee ?? '' }, errors)
  return form(visit, { action: candidateUrl(id, params, {}, 'assign'), attributes: { class: 'assign' } }, [
    text('assignee', 'Assigned to', {
      hint: 'The e-mail of a curator, or the name of a key. Empty: nobody.',
      ...{ maxlength: 300, list: 'curators' },
    }),
    html`<datalist id="curators">${curators.map(({ email, name }) => html`<option value="${email}">${name}</option>`)}</datalist>
      <div class="row">${button('Assign', { class: 'second' })}
        ${button('Assign to me', { class: 'second', name: 'me', value: '1' })}</div>`,
  ])
}

type Curator = { email: string; name: string }

/** Renders the candidate's decisions and comments. @param people path of the list of people, for callers who may see it */
function stepItems(
  ctx: AppContext,
  caller: Caller,
  { steps, kb }: CandidateReview,
  { curators, people }: { curators: readonly Curator[]; people: string | undefined },
): Promise<Html[]> {
  return Promise.all(
    steps.map(async (step) => {
      const { action, reason = '' } = step
      if (action !== 'comment' && action !== 'request-changes') return stepItem(step, undefined)
      const rendered = await renderMarkdown(ctx, caller, { kb: kb.slug, content: reason, idPrefix: null })
      const names = mentionedIn(reason, curators)
      return stepItem(step, { ...rendered, blocks: rendered.blocks.map((block) => markMentions(block, names, people)) })
    }),
  )
}

function stepItem({ action, at, by, reason, lines, to }: ReviewStep, comment: Rendered | undefined): Html {
  return html`<li><bdi>${by}</bdi> ${verbs[action]} ${action !== 'comment' && html`it${ofLines({ lines })} `}${action === 'assign' && html`to <bdi>${to ?? 'nobody'}</bdi> `}${when(at)}
    ${comment !== undefined && content(comment)}
    ${comment === undefined && reason !== undefined && reason !== '' && html`<blockquote dir="auto">${reason}</blockquote>`}</li>`
}

type Deciding = {
  params: QueueParams
  /** True if the form of an edit is open: an approval without it would lose the edit. */
  isEditing: boolean
  reason: string | undefined
  errors: FormErrors | undefined
}

function decidePanel(visit: Visit, review: CandidateReview, deciding: Deciding): Html {
  const { entry } = review
  return html`<section class="decide" id="decide" aria-labelledby="decide-title">
    <div><h2 id="decide-title"${entry.status === 'pending' && html` class="unseen"`}>${entry.status === 'pending' ? 'Decide' : statusLabels[entry.status]}</h2>
      <p class="soft">${verdictText(entry)}</p>
      ${review.awaiting && html`<p>${review.hasVoted && 'You have approved it. '}${awaitingText(review.awaiting, [visit.session.user.email])}</p>`}
      ${entry.asked !== null && html`<p class="warning"><bdi>${entry.asked.by}</bdi> asked for changes${ofLines(entry.asked)} ${when(entry.asked.at)}: <span dir="auto">${entry.asked.reason}</span></p>`}
      ${warningList(entry.warnings)}</div>
    <div class="row">${entry.status === 'pending' ? decisions(visit, review, deciding) : undone(visit, review, deciding.params)}</div>
  </section>`
}

function decisions(
  visit: Visit,
  { entry, sides, bundle, hasVoted, awaiting }: CandidateReview,
  { params, isEditing, reason, errors }: Deciding,
): Html {
  const { id, seen } = entry
  const isLeftToOthers = hasVoted && awaiting !== undefined
  const canApprove = sides.problem === undefined && !isEditing && !isLeftToOthers
  const tried = bundle === undefined ? [id] : bundle.members.slice(0, maxPreviewed).map((member) => member.id)
  const isEditable = canApprove && entry.intent.does !== 'remove'
  const dismissing = { class: 'dismiss', 'data-decide': 'dismiss', 'data-keep': `dismiss-${id}` }
  return html`${
    canApprove &&
    form(visit, { action: candidateUrl(id, params, {}, 'approve'), attributes: { 'data-decide': 'approve' } }, [
      hidden({ seen }),
      button('Approve', { 'aria-keyshortcuts': 'a' }),
    ])
  }
      ${isEditable && html`<a class="button second" href="${candidateUrl(id, params, { edit: '1' })}#edit" data-edit aria-keyshortcuts="e">Edit, then approve</a>`}
      ${sides.problem === undefined && html`<a class="button second" href="${previewPage(tried)}" data-try>${tryLabel(tried.length, bundle?.members.length ?? 1)}</a>`}
    ${form(visit, { action: candidateUrl(id, params, {}, 'dismiss'), errors, attributes: dismissing }, [
      hidden({ seen }),
      controlsOf({ reason }, errors).text('reason', 'Reason to dismiss (optional)', {
        ...{ maxlength: 2000, dir: 'auto', autocomplete: 'off', placeholder: 'Reason (optional)', 'data-reason': true },
      }),
      button('Dismiss', { class: 'danger', 'aria-keyshortcuts': 'd' }),
    ])}`
}

function tryLabel(tried: number, waiting: number): string {
  if (tried < waiting) return `Try the first ${tried}`
  return tried > 1 ? `Try all ${tried}` : 'Try it'
}

function undone(visit: Visit, { entry }: CandidateReview, params: QueueParams): Html {
  const { id, kb, status, seqId, intent } = entry
  return html`${status === 'approved' && seqId !== undefined && intent.does !== 'remove' && html`<p><a href="${neuronPage(kb, seqId)}">See the page</a></p>`}
    ${undoForm(visit, { id, status }, params)}
    ${status === 'approved' && html`<p class="hint">An approval stays in the history. Its reverse is a new candidate, which you then approve.</p>`}`
}
