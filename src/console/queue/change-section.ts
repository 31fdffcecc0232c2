import type { AppContext } from '../../app/open-context.ts'
import { type BlockDiff, compareLines, comparePages } from '../../pages/compare-pages.ts'
import { type Rendered, renderMarkdown } from '../../pages/render-page.ts'
import type { CandidateReview } from '../../review/review-candidate.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { pageDiff, type TextDiff, textDiff } from '../layout/diff.ts'
import { content, type Html, html } from '../layout/html-template.ts'
import { sourceSection } from './facts.ts'
import { candidateUrl, type QueueParams, type Show, shows } from './view.ts'

export type ShownChange =
  | { show: 'rendered'; diff: BlockDiff }
  | ({ show: 'lines' | 'split' } & TextDiff)
  | { show: 'sides'; before: Rendered | undefined; after: Rendered | undefined }

export type TestsChange = TextDiff & { path: string }

const labels: Readonly<Record<Show, string>> = {
  rendered: 'As a page',
  lines: 'As text',
  split: 'Side by side',
  sides: 'Before and after',
}

/** Characters of both sides, but for pictures, beyond which a change is shown as text: a page of that length takes seconds to render. */
const longChange = 128 * 1024

/** Returns the default view of a change. */
export function usualShow({ before, after }: CandidateReview['sides']): Show {
  const { length } = `${before?.content}${after?.content}`.replace(/\bdata:image\/[\w;,+/=]+/g, '')
  return length > longChange ? 'lines' : 'rendered'
}

/** The files of answer tests that come with a candidate, as text. */
export function changesOfTests(ctx: AppContext, { tests }: Pick<CandidateReview, 'tests'>): Promise<TestsChange[]> {
  return Promise.all(
    tests.map(async ({ path, before, after }) => {
      const sides = { before: before ?? '', after: after ?? '' }
      return { path, ...sides, diff: await compareLines(ctx, sides) }
    }),
  )
}

export function testsSection(changes: readonly TestsChange[]): Html | undefined {
  if (changes.length === 0) return undefined
  return html`<section aria-labelledby="tests-title"><h2 id="tests-title">Answer tests that come with it</h2>
    ${changes.map((change) => html`<h3><code>${change.path}</code></h3>${textDiff(change, 'below')}`)}</section>`
}

/** Compares the two sides of a candidate; of a conflict, what the Neuron says now and what is proposed. */
export async function changeOf(
  ctx: AppContext,
  caller: Caller,
  { kb, sides }: Pick<CandidateReview, 'kb' | 'sides'>,
  show: Show,
): Promise<ShownChange> {
  const versions = { before: sides.before?.content ?? null, after: sides.after?.content ?? '' }
  if (show === 'lines' || show === 'split') {
    return { show, ...versions, before: versions.before ?? '', diff: await compareLines(ctx, versions) }
  }
  const place = { kb: kb.slug, path: sides.path }
  if (show === 'rendered') return { show, diff: await comparePages(ctx, caller, { ...place, ...versions }) }
  const render = (side: 'before' | 'after') => {
    const text = sides[side]?.content
    return text === undefined ? undefined : renderMarkdown(ctx, caller, { ...place, content: text, idPrefix: null })
  }
  const [before, after] = await Promise.all([render('before'), render('after')])
  return { show, before, after }
}

export function changeSection(
  change: ShownChange,
  { entry, sides, sources, kb }: Pick<CandidateReview, 'entry' | 'sides' | 'sources' | 'kb'>,
  { params, isEditing }: { params: QueueParams; isEditing: boolean },
): Html {
  const source = sourceSection(sources, kb.slug)
  // A new page has nothing before it.
  const offered = sides.before === undefined ? shows.filter((show) => show === 'rendered' || show === 'lines') : shows
  const more = isEditing ? { edit: '1' } : {}
  const tab = (show: Show) =>
    html`<li><a href="${candidateUrl(entry.id, { ...params, show }, more)}#change"${
      show === change.show && html` aria-current="true"`
    }>${labels[show]}</a></li>`
  return html`<section id="change" aria-labelledby="change-title">
    <h2 id="change-title" class="unseen">What it changes</h2>
    <nav aria-label="How the change is shown"><ul class="tabs">${offered.map(tab)}</ul></nav>
    <div class="change-with-source">${source}<div class="shown">${view(change)}</div></div>
  </section>`
}

function view(change: ShownChange): Html {
  switch (change.show) {
    case 'rendered':
      return pageDiff(change.diff)
    case 'lines':
      return textDiff(change, 'below')
    case 'split':
      return textDiff(change, 'split')
    case 'sides':
      if (change.before === undefined && change.after !== undefined) return content(change.after)
      return html`<div class="sides">
        ${side('Before', change.before, 'There was no page.')}
        ${side('After', change.after, 'There is no page any more.')}
      </div>`
  }
}

function side(label: string, rendered: Rendered | undefined, none: string): Html {
  return html`<div class="side" role="group" aria-label="${label}"><h3>${label}</h3>
    ${rendered === undefined ? html`<p class="empty">${none}</p>` : content(rendered)}</div>`
}
