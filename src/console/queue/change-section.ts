import type { AppContext } from '../../app/open-context.ts'
import { compareLines, comparePages } from '../../pages/compare-pages.ts'
import { type Rendered, renderMarkdown } from '../../pages/render-page.ts'
import type { CandidateReview } from '../../review/review-candidate.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { pageDiff, textDiff } from '../layout/diff.ts'
import { content, type Html, html } from '../layout/html-template.ts'
import { sourceSection } from './facts.ts'
import { candidateUrl, type QueueParams, type Show, shows } from './view.ts'

const labels: Readonly<Record<Show, string>> = {
  rendered: 'As a page',
  lines: 'As text',
  split: 'Side by side',
  sides: 'Before and after',
}

/** Maximum characters of both sides, without pictures, that are rendered by default: a longer page takes seconds. */
const longChange = 128 * 1024

function usualShow({ before, after }: CandidateReview['sides']): Show {
  const { length } = `${before?.content}${after?.content}`.replace(/\bdata:image\/[\w;,+/=]+/g, '')
  return length > longChange ? 'lines' : 'rendered'
}

/** Renders the files of answer tests that come with a candidate, as text. */
export async function testsSection(ctx: AppContext, { tests }: CandidateReview): Promise<Html | undefined> {
  if (tests.length === 0) return undefined
  const changes = tests.map(async ({ path, before, after }) => {
    const sides = { before: before ?? '', after: after ?? '' }
    const diff = await compareLines(ctx, sides)
    return html`<h3><code>${path}</code></h3>${textDiff({ ...sides, diff }, 'below')}`
  })
  return html`<section aria-labelledby="tests-title"><h2 id="tests-title">Answer tests that come with it</h2>
    ${await Promise.all(changes)}</section>`
}

export async function changeSection(
  ctx: AppContext,
  caller: Caller,
  review: CandidateReview,
  { params, isEditing }: { params: QueueParams; isEditing: boolean },
): Promise<Html> {
  const { entry, sides, sources, kb } = review
  const shown = params.show ?? usualShow(sides)
  // A new page has no earlier version to compare with.
  const offered = sides.before === undefined ? shows.filter((show) => show === 'rendered' || show === 'lines') : shows
  const more = isEditing ? { edit: '1' } : {}
  const tab = (show: Show) =>
    html`<li><a href="${candidateUrl(entry.id, { ...params, show }, more)}#change"${
      show === shown && html` aria-current="true"`
    }>${labels[show]}</a></li>`
  return html`<section id="change" aria-labelledby="change-title">
    <h2 id="change-title" class="unseen">What it changes</h2>
    <nav aria-label="How the change is shown"><ul class="tabs">${offered.map(tab)}</ul></nav>
    <div class="change-with-source">${sourceSection(sources, kb.slug)}<div class="shown">${await changeView(ctx, caller, review, shown)}</div></div>
  </section>`
}

/** Compares the two sides of a candidate. For a conflict, these are the Neuron as it is now and the proposal. */
async function changeView(
  ctx: AppContext,
  caller: Caller,
  { kb, sides }: Pick<CandidateReview, 'kb' | 'sides'>,
  show: Show,
): Promise<Html> {
  const place = { kb: kb.slug, path: sides.path }
  const versions = { before: sides.before?.content ?? null, after: sides.after?.content ?? '' }
  if (show === 'rendered') return pageDiff(await comparePages(ctx, caller, { ...place, ...versions }))
  if (show !== 'sides') {
    const diff = await compareLines(ctx, versions)
    return textDiff({ ...versions, before: versions.before ?? '', diff }, show === 'split' ? 'split' : 'below')
  }
  const render = (text: string | undefined) =>
    text === undefined ? undefined : renderMarkdown(ctx, caller, { ...place, content: text, idPrefix: null })
  const [before, after] = await Promise.all([render(sides.before?.content), render(sides.after?.content)])
  if (before === undefined && after !== undefined) return content(after)
  return html`<div class="sides">
    ${side('Before', before, 'There was no page.')}
    ${side('After', after, 'There is no page any more.')}
  </div>`
}

function side(label: string, rendered: Rendered | undefined, none: string): Html {
  return html`<div class="side" role="group" aria-label="${label}"><h3>${label}</h3>
    ${rendered === undefined ? html`<p class="empty">${none}</p>` : content(rendered)}</div>`
}
