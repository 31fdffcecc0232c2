import { z } from 'zod'
import { type BlamedSentence, BlamePath, BlameQuery } from '../../contract/blame.ts'
import { candidatePage, neuronPage, sourcePage, versionPage } from '../../contract/console-paths.ts'
import { NeuronPath } from '../../contract/neurons.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { kbLabel } from '../../kb/readable-kb.ts'
import { readBlame } from '../../pages/blame/read-blame.ts'
import { compareLines, comparePages } from '../../pages/compare-pages.ts'
import {
  type PageHistory,
  type PageVersion,
  readHistory,
  readVersions,
  type VersionText,
} from '../../pages/read-history.ts'
import { pageDiff, textDiff } from '../layout/diff.ts'
import { postButton } from '../layout/form.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import { dataTable } from '../layout/list-parts.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { consolePages, countField } from '../layout/page-routes.ts'

/** Maximum versions of a page on one page of its history. */
export const versionsShown = 50

const views = { lines: 'Lines', side: 'Side by side', page: 'As a page' } as const
const HistoryQuery = z.object({
  from: countField(9).exactOptional(),
  to: countField(9).exactOptional(),
  view: z.enum(['lines', 'side', 'page']).default('lines'),
  before: countField(9).exactOptional(),
})

/** Adds the pages of a Neuron's history, and of the origin of its sentences. */
export const historyRoutes = consolePages({}, (pages, ctx) => {
  pages.get('/kb/:kb/neurons/:seqId/history', { params: NeuronPath, query: HistoryQuery }, async (sent) => {
    const { visit, caller, params } = sent
    const { from, to, view, before: cursor } = sent.query
    if (from === undefined || to === undefined)
      return historyPage(visit, await readHistory(ctx, caller, { ...params, before: cursor, limit: versionsShown }))
    const { seqId } = params
    const { kb, before, after } = await readVersions(ctx, caller, { ...params, from, to })
    const path = `${neuronPage(kb.slug, seqId)}/history`
    const title = after.title ?? before.title ?? seqId
    const texts = { before: before.text, after: after.text }
    const contents = { before: before.content, after: after.content }
    const shown =
      view === 'page'
        ? pageDiff(await comparePages(ctx, caller, { kb: params.kb, path: after.path, ...contents }))
        : textDiff({ diff: await compareLines(ctx, texts), ...texts }, view === 'side' ? 'split' : 'below')
    const main = html`
      <p class="crumbs"><a href="${neuronPage(kb.slug, seqId)}" dir="auto">${title}</a> · <a href="${path}">History</a></p>
      <h1>Changes of <bdi>${title}</bdi></h1>
      <p>From ${label({ kb, seqId }, before)} to ${label({ kb, seqId }, after)}.</p>
      <nav class="views" aria-label="Views"><ul class="row">${Object.entries(views).map(
        ([name, text]) =>
          html`<li><a href="${path}?from=${before.version}&amp;to=${after.version}&amp;view=${name}"${name === view && html` aria-current="page"`}>${text}</a></li>`,
      )}</ul></nav>
      ${shown}`
    const code = view === 'page' ? {} : { islands: ['text-diff'], hasCode: true }
    return page(visit, { title: `Changes of ${title}`, main, kb, ...code })
  })

  pages.get('/kb/:kb/neurons/:seqId/blame', { params: BlamePath, query: BlameQuery }, async (sent) => {
    const { visit, caller, params, query } = sent
    const kb = await kbLabel(await ctx.readableKb(caller.tenantId, params.kb))
    const { seqId, title, sentences, nextStart } = await readBlame(ctx, caller, { ...params, ...query })
    const path = neuronPage(kb.slug, seqId)
    const main = html`
      <p class="crumbs"><a href="${path}" dir="auto">${title}</a> · <a href="${path}/history">History</a></p>
      <h1>Who said so: <bdi>${title}</bdi></h1>
      ${dataTable(
        'The sentences of the page, in order',
        ['Text', 'Version', 'When', 'Said by', 'Approved by', 'Came from'],
        partsOf(sentences).map((part) => blameRow(visit, { kb, seqId }, part)),
      )}
      ${nextStart !== undefined && html`<p><a href="${path}/blame?start=${nextStart}">Next sentences</a></p>`}`
    return page(visit, { title: `Who said so: ${title}`, main, kb })
  })
})

export function historyPage(visit: Visit, { kb, seqId, title, isRemoved, versions, next }: PageHistory): Html {
  const path = neuronPage(kb.slug, seqId)
  const [latest, before] = versions
  const main = html`
    <p class="crumbs"><a href="${path}" dir="auto">${title}</a></p>
    <h1>History of <bdi>${title}</bdi></h1>
    ${isRemoved && removalNotice(visit, latest)}
    <form action="${path}/history" method="get">
      ${dataTable(
        'Versions, the latest first',
        ['From', 'To', 'Version', 'Title', 'Approved by', 'When', 'Came from'],
        versions.map((one) => row(visit, { kb, seqId }, one, { from: one === before, to: one === latest })),
      )}
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
      postButton(visit, `${candidatePage(candidateId)}/reverse`, 'Undo: propose to bring it back')
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
  return html`<td>${radio('from')}</td><td>${radio('to')}</td><td>${shown}</td>
    <td dir="auto">${title ?? html`<em>removed</em>`}</td><td dir="auto">${by}</td><td>${when(at)}</td>
    <td>${origin ? html`<a href="/queue/${encodeURIComponent(candidateId)}">Candidate</a>` : '–'}</td>`
}

function label({ kb, seqId }: { kb: PageKb; seqId: string }, { version, title, commit, by, at }: VersionText): Html {
  const name = html`version ${version}`
  const link = title === null ? name : html`<a href="${versionPage(kb.slug, seqId, commit)}">${name}</a>`
  return html`${link} (<bdi>${by}</bdi>, ${when(at)})`
}

/** Joins consecutive sentences with the same origin into one passage. */
function partsOf(sentences: readonly BlamedSentence[]): BlamedSentence[] {
  const parts: BlamedSentence[] = []
  for (const sentence of sentences) {
    const last = parts.at(-1)
    if (last?.version !== sentence.version || last.proposedBy !== sentence.proposedBy) parts.push({ ...sentence })
    else last.text += `\n${sentence.text}`
  }
  return parts
}

function blameRow(
  { session }: Visit,
  { kb, seqId }: { kb: PageKb; seqId: string },
  { text, version, commit, at, approvedBy, candidateId, proposedBy, model, sources = [] }: BlamedSentence,
): Html {
  const candidate = candidateId !== null && reaches(session.role, 'curator')
  return html`<td dir="auto">${text.split('\n').map((line) => html`${line}<br>`)}</td>
    <td><a href="${versionPage(kb.slug, seqId, commit)}" aria-label="Read version ${version}">${version}</a></td>
    <td>${when(at)}</td><td dir="auto">${proposedBy ?? '–'}${model && html` (${model})`}</td><td dir="auto">${approvedBy}</td>
    <td>${candidate && html`<a href="/queue/${encodeURIComponent(candidateId)}">Candidate</a>`} ${sources.map(
      (source) => {
        const name = `${source.filename ?? 'Source'}${source.page === undefined ? '' : `, page ${source.page}`}`
        return source.id === undefined
          ? html` <bdi>${name}</bdi>`
          : html` <a href="${sourcePage(kb.slug, source.id, source)}" dir="auto">${name}</a>`
      },
    )}</td>`
}
