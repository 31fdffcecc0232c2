import { candidatePage, neuronPage, versionPage } from '../../contract/console-paths.ts'
import { reaches } from '../../contract/vocabulary.ts'
import type { BlockDiff, LineDiff } from '../../pages/compare-pages.ts'
import type { PageHistory, PageVersion, VersionText } from '../../pages/read-history.ts'
import { pageDiff, textDiff } from '../layout/diff.ts'
import { button, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'

export function historyPage(visit: Visit, { kb, seqId, title, isRemoved, versions, next }: PageHistory): Html {
  const path = neuronPage(kb.slug, seqId)
  const [latest, before] = versions
  const main = html`
    <p class="crumbs"><a href="${path}" dir="auto">${title}</a></p>
    <h1>History of <bdi>${title}</bdi></h1>
    ${isRemoved && removalNotice(visit, latest)}
    <form action="${path}/history" method="get">
      <div class="scroll" tabindex="0" role="group" aria-label="Versions">
      <table>
        <caption class="unseen">Versions, the latest first</caption>
        <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Version</th><th scope="col">Title</th>
          <th scope="col">Approved by</th><th scope="col">When</th><th scope="col">Came from</th></tr></thead>
        <tbody>${versions.map((one) => row(visit, { kb, seqId }, one, { from: one === before, to: one === latest }))}</tbody>
      </table></div>
      ${versions.length > 1 && html`<p><button type="submit">Compare</button></p>`}
    </form>
    ${next !== null && html`<p><a href="${path}/history?before=${next}" rel="next">Older versions</a></p>`}`
  return page(visit, { title: `History of ${title}`, main, kb })
}

function removalNotice(visit: Visit, latest: PageVersion | undefined): Html {
  if (latest?.title !== null) return html`<p class="warning">This page was removed.</p>`
  const { by, at, candidateId } = latest
  return html`<div class="warning"><p>This page was removed by <bdi>${by}</bdi> ${when(at)}.</p>
    ${
      candidateId !== null &&
      reaches(visit.session.role, 'curator') &&
      form(
        visit,
        { action: `${candidatePage(candidateId)}/reverse` },
        button('Undo: propose to bring it back', { class: 'second' }),
      )
    }</div>`
}

function row(
  { session }: Visit,
  { kb, seqId }: { kb: PageKb; seqId: string },
  { version, title, commit, by, at, candidateId }: PageVersion,
  checked: { from: boolean; to: boolean },
): Html {
  const radio = (name: 'from' | 'to') =>
    html`<input type="radio" name="${name}" value="${version}" aria-label="${name === 'from' ? 'From' : 'To'} version ${version}"${checked[name] && html` checked`}>`
  const shown =
    title === null
      ? html`${version}`
      : html`<a href="${versionPage(kb.slug, seqId, commit)}" aria-label="Read version ${version}">${version}</a>`
  const origin = candidateId !== null && reaches(session.role, 'curator')
  return html`<tr><td>${radio('from')}</td><td>${radio('to')}</td><td>${shown}</td>
    <td dir="auto">${title ?? html`<em>removed</em>`}</td><td dir="auto">${by}</td><td>${when(at)}</td>
    <td>${origin ? html`<a href="/queue/${encodeURIComponent(candidateId)}">Candidate</a>` : '–'}</td></tr>`
}

export type DiffView = 'lines' | 'side' | 'page'

const views: readonly [DiffView, string][] = [
  ['lines', 'Lines'],
  ['side', 'Side by side'],
  ['page', 'As a page'],
]

type Comparison = {
  kb: PageKb
  seqId: string
  before: VersionText
  after: VersionText
  view: DiffView
  /** Difference by line, or by block for the view of the page. */
  difference: LineDiff | BlockDiff
}

export function comparisonPage(visit: Visit, { kb, seqId, before, after, view, difference }: Comparison): Html {
  const path = `${neuronPage(kb.slug, seqId)}/history`
  const title = after.title ?? before.title ?? seqId
  const isPage = 'blocks' in difference
  const shown = isPage
    ? pageDiff(difference)
    : textDiff({ diff: difference, before: before.text, after: after.text }, view === 'side' ? 'split' : 'below')
  const main = html`
    <p class="crumbs"><a href="${neuronPage(kb.slug, seqId)}" dir="auto">${title}</a> · <a href="${path}">History</a></p>
    <h1>Changes of <bdi>${title}</bdi></h1>
    <p>From ${label({ kb, seqId }, before)} to ${label({ kb, seqId }, after)}.</p>
    <nav class="views" aria-label="Views"><ul class="row">${views.map(
      ([name, text]) =>
        html`<li><a href="${path}?from=${before.version}&amp;to=${after.version}&amp;view=${name}"${name === view && html` aria-current="page"`}>${text}</a></li>`,
    )}</ul></nav>
    ${shown}`
  return page(visit, {
    title: `Changes of ${title}`,
    main,
    kb,
    ...(!isPage && { islands: ['text-diff'], hasCode: true }),
  })
}

function label({ kb, seqId }: Pick<Comparison, 'kb' | 'seqId'>, { version, title, commit, by, at }: VersionText): Html {
  const name = html`version ${version}`
  const link = title === null ? name : html`<a href="${versionPage(kb.slug, seqId, commit)}">${name}</a>`
  return html`${link} (<bdi>${by}</bdi>, ${when(at)})`
}
