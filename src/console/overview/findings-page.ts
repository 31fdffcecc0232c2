import { candidatePage, kbPage, neuronPage } from '../../contract/console-paths.ts'
import { type FindingPage, type FindingRule, type FindingView, findingRules } from '../../operate/lint/list-findings.ts'
import { button, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-query.ts'
import { counted, numberText, when } from '../layout/wording.ts'

export type FindingsView = {
  kb: { slug: string; title: string }
  /** Undefined while they are looked for for the first time. */
  findings: FindingPage | undefined
  rule: FindingRule | undefined
  from: number
  notice?: HtmlPart
  problem?: string | undefined
  now: Date
}

const ruleLabels: Readonly<Record<FindingRule, string>> = {
  'missing-target': 'Broken links',
  gap: 'Missing pages',
  'ambiguous-target': 'Ambiguous links',
  'taken-name': 'Taken names',
  contradiction: 'Contradictions',
  orphan: 'Pages without links',
}

export function findingsPage(visit: Visit, view: FindingsView): Html {
  const { kb, findings, notice, problem } = view
  return page(visit, {
    title: `Findings of ${kb.title}`,
    kb,
    notice,
    main: html`<h1>Findings</h1>
      ${problem !== undefined && html`<p class="problems" role="alert">${problem}</p>`}
      ${form(
        visit,
        { action: `${kbPage(kb.slug)}/findings/lint`, attributes: { class: 'row' } },
        html`${button('Put new findings into the queue', { class: 'second' })}
        <span class="hint">At most 100 at a time, each once. The schedule in the settings does the same.</span>`,
      )}
      ${findings === undefined ? waitForIt(view) : list(visit, view, findings)}`,
  })
}

function waitForIt({ kb }: FindingsView): Html {
  return html`<p>The links are being looked through. <a href="${kbPage(kb.slug)}/findings">Look again</a> in a moment.</p>`
}

function list(visit: Visit, view: FindingsView, { findings, counts, next, at, isBehind }: FindingPage): Html {
  const { kb, rule, from, now } = view
  const path = (query: { rule?: FindingRule | undefined; from?: number | undefined }) =>
    withQuery(`${kbPage(kb.slug)}/findings`, query)
  const tab = (value: FindingRule | undefined, label: string, count: number) =>
    html`<li><a href="${path({ rule: value })}"${value === rule && html` aria-current="true"`}>${label} (${numberText(count)})</a></li>`
  const total = findingRules.reduce((sum, each) => sum + counts[each], 0)
  return html`<nav aria-label="Kinds of findings"><ul class="tabs">
      ${tab(undefined, 'All', total)}${findingRules.map((each) => tab(each, ruleLabels[each], counts[each]))}
    </ul></nav>
    <p class="hint">Looked for ${when(at, now)}.${isBehind && ' Pages have changed since; a new look is under way.'}</p>
    ${
      findings.length === 0
        ? html`<p class="empty">${total === 0 ? 'Every link leads to a page, and every page is linked.' : 'Nothing of this kind.'}</p>`
        : html`<ul class="cards wide">${findings.map((finding) => html`<li class="card">${card(visit, view, finding)}</li>`)}</ul>`
    }
    <nav class="row" aria-label="Pages of the list">
      ${from > 0 && html`<a href="${path({ rule })}" rel="prev">First page</a>`}
      ${next !== null && html`<a href="${path({ rule, from: next })}" rel="next">More</a>`}
    </nav>`
}

function card(visit: Visit, view: FindingsView, finding: FindingView): Html {
  const { slug } = view.kb
  const { links, candidate } = finding
  return html`<h2 dir="auto">${finding.title}</h2>
    <p>${explanation(finding)}</p>
    ${
      links &&
      html`<ul>${links.places.map(({ seqId, title, line }) => html`<li>${pageLink(slug, { seqId, title })}, ${line === null ? 'front matter' : `line ${line}`}</li>`)}
      ${links.count > links.places.length && html`<li>and ${counted(links.count - links.places.length, 'more link')}</li>`}</ul>`
    }
    <div class="row">${settling(visit, view, finding)}</div>
    ${candidate && html`<p class="hint"><a href="${candidatePage(candidate.id)}">In the queue</a>: ${candidate.status}</p>`}`
}

function explanation({ rule, impact, links, neurons }: FindingView): HtmlPart {
  switch (rule) {
    case 'missing-target':
      return `${leading(links)} nowhere.`
    case 'gap':
      return `${counted(impact, 'page')} ${impact === 1 ? 'links' : 'link'} to it, and no page is about it.`
    case 'ambiguous-target':
      return `${counted(neurons.length, 'page')} have this name, so ${leading(links)} nowhere.`
    case 'taken-name':
      return 'Links by this name lead to the page, or the file, that had it first. The other pages are reached by seqId and path only.'
    case 'contradiction':
      return 'Each says that the other is wrong. One of them should replace the other.'
    case 'orphan':
      return 'Nothing links to it, and it links to nothing.'
  }
}

/** `1 link leads`, `2 links lead`. */
function leading(links: FindingView['links']): string {
  const count = links?.count ?? 0
  return `${counted(count, 'link')} ${count === 1 ? 'leads' : 'lead'}`
}

/** What would settle a finding: a candidate of one click, or the editor. */
function settling(visit: Visit, view: FindingsView, finding: FindingView): HtmlPart {
  const { slug } = view.kb
  const { rule, links, neurons } = finding
  const choose = (label: (title: string) => string) =>
    neurons.map(({ seqId, title }) =>
      form(
        visit,
        { action: withQuery(`${kbPage(slug)}/findings`, { rule: view.rule, from: view.from || undefined }) },
        html`<input type="hidden" name="fingerprint" value="${finding.fingerprint}">
          <input type="hidden" name="choice" value="${seqId}">
          ${button(html`${label(title)} <span class="hint on-button">${seqId}</span>`, { class: 'second' })}`,
      ),
    )
  const create = html`<a class="button second" href="${withQuery(`${kbPage(slug)}/new`, { title: links?.target })}">Write the page</a>`
  switch (rule) {
    case 'missing-target':
      return [choose((title) => `Link to “${title}”`), create]
    case 'gap':
      return create
    case 'ambiguous-target':
      return choose((title) => `It means “${title}”`)
    case 'contradiction':
      return choose((title) => `“${title}” holds`)
    case 'taken-name':
      return neurons.map((neuron) => pageLink(slug, neuron))
    case 'orphan':
      return neurons.map(
        ({ seqId }) =>
          html`<a class="button second" href="${neuronPage(slug, seqId)}">Read it</a>
          <a class="button second" href="${neuronPage(slug, seqId)}/edit">Add links</a>`,
      )
  }
}

function pageLink(slug: string, { seqId, title }: { seqId: string; title: string }): Html {
  return html`<a href="${neuronPage(slug, seqId)}"><bdi>${title}</bdi></a>`
}
