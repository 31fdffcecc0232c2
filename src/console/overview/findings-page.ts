import { z } from 'zod'
import { candidatePage, kbPage, neuronPage } from '../../contract/console-paths.ts'
import { GanglionError } from '../../contract/errors.ts'
import { SeqId } from '../../contract/vocabulary.ts'
import { lintNow, proposeFinding } from '../../operate/lint/lint-kb.ts'
import {
  type FindingPage,
  type FindingRule,
  type FindingView,
  findingRules,
  listFindings,
} from '../../operate/lint/list-findings.ts'
import { readKbOverview } from '../../operate/overview/read-overview.ts'
import { counted, numberText } from '../../rules/text/numbers.ts'
import { button, form, postButton } from '../layout/form.ts'
import { type Html, type HtmlPart, html, when } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, KbParams, withQuery } from '../layout/page-routes.ts'

/** Query of a list of findings: its knowledge base, the rule that it shows, and the number of its first finding. */
type Listed = { kb: string; rule: FindingRule | undefined; from: number }

const ruleLabels: Readonly<Record<FindingRule, string>> = {
  'missing-target': 'Broken links',
  gap: 'Missing pages',
  'ambiguous-target': 'Ambiguous links',
  'taken-name': 'Taken names',
  contradiction: 'Contradictions',
  orphan: 'Pages without links',
}

function list(visit: Visit, listed: Listed, { findings, counts, next, at, isBehind }: FindingPage): Html {
  const { kb, rule, from } = listed
  const path = (query: { rule?: FindingRule | undefined; from?: number | undefined }) =>
    withQuery(`${kbPage(kb)}/findings`, query)
  const tab = (value: FindingRule | undefined, label: string, count: number) =>
    html`<li><a href="${path({ rule: value })}"${value === rule && html` aria-current="true"`}>${label} (${numberText(count)})</a></li>`
  const total = findingRules.reduce((sum, each) => sum + counts[each], 0)
  return html`<nav aria-label="Kinds of findings"><ul class="tabs">
      ${tab(undefined, 'All', total)}${findingRules.map((each) => tab(each, ruleLabels[each], counts[each]))}
    </ul></nav>
    <p class="hint">Looked for ${when(at)}.${isBehind && ' Pages have changed since; a new look is under way.'}</p>
    ${
      findings.length === 0
        ? html`<p class="empty">${total === 0 ? 'Every link leads to a page, and every page is linked.' : 'Nothing of this kind.'}</p>`
        : html`<ul class="cards wide">${findings.map((finding) => html`<li class="card">${card(visit, listed, finding)}</li>`)}</ul>`
    }
    <nav class="row" aria-label="Pages of the list">
      ${from > 0 && html`<a href="${path({ rule })}" rel="prev">First page</a>`}
      ${next !== null && html`<a href="${path({ rule, from: next })}" rel="next">More</a>`}
    </nav>`
}

function card(visit: Visit, listed: Listed, finding: FindingView): Html {
  const { links, candidate } = finding
  return html`<h2 dir="auto">${finding.title}</h2>
    <p>${explanation(finding)}</p>
    ${
      links &&
      html`<ul>${links.places.map(({ seqId, title, line }) => html`<li>${pageLink(listed.kb, { seqId, title })}, ${line === null ? 'front matter' : `line ${line}`}</li>`)}
      ${links.count > links.places.length && html`<li>and ${counted(links.count - links.places.length, 'more link')}</li>`}</ul>`
    }
    <div class="row">${settling(visit, listed, finding)}</div>
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

/** Returns the start of a sentence: `1 link leads`, `2 links lead`. */
function leading(links: FindingView['links']): string {
  const count = links?.count ?? 0
  return `${counted(count, 'link')} ${count === 1 ? 'leads' : 'lead'}`
}

/** Renders the ways to settle a finding: buttons that propose a candidate, or a link to the editor. */
function settling(visit: Visit, listed: Listed, { rule, links, neurons, fingerprint }: FindingView): HtmlPart {
  const { kb: slug, from } = listed
  const action = withQuery(`${kbPage(slug)}/findings`, { rule: listed.rule, from: from || undefined })
  const choose = (label: (title: string) => string) =>
    neurons.map(({ seqId, title }) => {
      const text = html`${label(title)} <span class="hint on-button">${seqId}</span>`
      return postButton(visit, action, text, { class: 'second' }, { fingerprint, choice: seqId })
    })
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

const findingsOnPage = 25

/** Parses a comma-separated list of results of a form. */
const listOf = (item: z.ZodString | z.ZodUUID) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(item).max(20))
    .catch([])
const Query = z.object({
  rule: z.enum(findingRules).optional().catch(undefined),
  from: z.coerce.number().int().min(0).max(1e9).catch(0),
  proposed: z.coerce.number().int().min(0).max(1e6).optional().catch(undefined),
  changes: listOf(z.uuid()),
  byHand: listOf(SeqId),
})
const Settling = z.object({ fingerprint: z.string().max(100), choice: SeqId })

export const findingsRoutes = consolePages({ people: 'curator' }, (pages, ctx) => {
  pages.get('/kb/:kb/findings', { params: KbParams, query: Query }, (sent) =>
    shown(sent, { notice: noticeOf(sent.params.kb, sent.query) }),
  )

  pages.form('/kb/:kb/findings', {
    ...{ params: KbParams, query: Query, body: Settling },
    async act({ caller, params: { kb }, query: { rule, from }, body }) {
      const { candidateIds, byHand } = await proposeFinding(ctx, caller, kb, body)
      const done = { changes: candidateIds.join(','), byHand: byHand.map(({ seqId }) => seqId).join(',') }
      return { to: withQuery(`${kbPage(kb)}/findings`, { rule, from, ...done }) }
    },
    explain(error) {
      if (!(error instanceof GanglionError)) throw error
      const isGone = error.code === 'not_found'
      const problem = isGone
        ? 'This finding is gone: somebody has settled it, or the pages have changed.'
        : error.message
      return { status: isGone ? 409 : error.status, errors: { formErrors: [problem] } }
    },
    refused: (sent, { errors }) => shown(sent, { problem: errors.formErrors?.[0] }),
  })

  pages.post('/kb/:kb/findings/lint', { params: KbParams }, async ({ caller, params: { kb } }) => {
    const { findings } = await lintNow(ctx, caller, kb)
    const proposed = findings.filter(({ status }) => status === 'proposed').length
    return { to: withQuery(`${kbPage(kb)}/findings`, { proposed }) }
  })

  async function shown(
    { visit, caller, params, query: { rule, from } }: ConsoleRequest<{ kb: string }, z.infer<typeof Query>>,
    { notice, problem }: { notice?: HtmlPart; problem?: string | undefined },
  ): Promise<Html> {
    const kb = await readKbOverview(ctx, caller, params.kb)
    const path = `${kbPage(kb.slug)}/findings`
    const findings = await listFindings(ctx, caller, kb.slug, { rule, from, limit: findingsOnPage })
    return page(visit, {
      title: `Findings of ${kb.title}`,
      kb,
      notice,
      main: html`<h1>Findings</h1>
        ${problem !== undefined && html`<p class="problems" role="alert">${problem}</p>`}
        ${form(
          visit,
          { action: `${path}/lint`, attributes: { class: 'row' } },
          html`${button('Put new findings into the queue', { class: 'second' })}
          <span class="hint">At most 100 at a time, each once. The schedule in the settings does the same.</span>`,
        )}
        ${findings === undefined ? html`<p>The links are being looked through. <a href="${path}">Look again</a> in a moment.</p>` : list(visit, { kb: kb.slug, rule, from }, findings)}`,
    })
  }
})

function noticeOf(kb: string, { proposed, changes, byHand }: z.infer<typeof Query>): Html | undefined {
  if (proposed === 0) return html`There is nothing new.`
  if (proposed !== undefined) {
    return html`${counted(proposed, 'finding')} put into <a href="${withQuery('/queue', { kb, connector: 'lint' })}">the queue</a>.`
  }
  if (changes.length + byHand.length === 0) return undefined
  return html`${
    changes.length > 0 &&
    html`${counted(changes.length, 'change')} proposed:
      ${changes.map((id, index) => html`<a href="${candidatePage(id)}">change ${index + 1}</a> `)}`
  }
  ${
    byHand.length > 0 &&
    html`To be edited by hand, since the link stands in the front matter or in text that is too complex:
      ${byHand.map((seqId) => html`<a href="${neuronPage(kb, seqId)}/edit">${seqId}</a> `)}`
  }`
}
