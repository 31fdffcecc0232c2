import { z } from 'zod'
import { addAnswerTest } from '../../answer-tests/add-test.ts'
import { dismissProposedTest } from '../../answer-tests/proposed-tests.ts'
import { readTestReport } from '../../answer-tests/read-test-report.ts'
import { AnswerTestInput, TestDismissal, type TestReport, type TestRun } from '../../contract/answer-tests.ts'
import { kbPage, neuronPage } from '../../contract/console-paths.ts'
import { parseSent } from '../../contract/faults.ts'
import { describeKb } from '../../pages/list-knowledge-bases.ts'
import { audiences } from '../../rules/access/audience.ts'
import { typedItems } from '../../rules/text/lines.ts'
import { button, type Choice, choicesOf, controlsOf, FormFields, form, postButton } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { dataTable } from '../layout/list-parts.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, type FormView, KbParams, withQuery } from '../layout/page-routes.ts'
import { resultList } from './facts.ts'

const Query = z.object({
  question: z.string().max(1000).default(''),
  audience: z.string().max(20).default(''),
  cites: z.string().max(1000).default(''),
  refuses: z.enum(['', 'true', 'false']).catch(''),
})

type TestsView = { kb: PageKb; report: TestReport }

const notices = {
  added: 'The test is added, and committed to main.',
  dismissed: 'The proposed test is dismissed.',
}

const voteWords = {
  up: 'A reader liked the answer',
  down: 'A reader did not like the answer',
  flag: 'A reader flagged the answer',
}

const refusals: readonly Choice[] = [
  ['', 'not looked at'],
  ['false', 'something must answer it'],
  ['true', 'nothing may answer it'],
]

export const testsPageRoutes = consolePages({ people: 'curator' }, (pages, ctx) => {
  pages.get('/kb/:kb/tests', { params: KbParams, query: Query, notices }, (sent) =>
    tests(sent, { typed: sent.query, notice: sent.notice }),
  )

  pages.form('/kb/:kb/tests', {
    ...{ params: KbParams, body: FormFields },
    async act({ caller, params: { kb }, body }) {
      await addAnswerTest(ctx, caller, kb, parseSent(AnswerTestInput, inputOf(body)))
      return { to: `${kbPage(kb)}/tests?done=added` }
    },
    refused: (sent, { errors }) => tests(sent, { typed: sent.body, errors }),
  })

  const dismissing = { params: KbParams, body: FormFields }
  pages.post('/kb/:kb/tests/dismiss', dismissing, async ({ caller, params: { kb }, body }) => {
    await dismissProposedTest(ctx, caller, kb, parseSent(TestDismissal, body))
    return { to: `${kbPage(kb)}/tests?done=dismissed#proposed` }
  })

  async function tests(
    { visit, caller, params }: Pick<ConsoleRequest<{ kb: string }>, 'visit' | 'caller' | 'params'>,
    { notice, ...typing }: FormView<FormFields>,
  ): Promise<Html> {
    const kb = await describeKb(ctx, caller, params.kb)
    const report = await readTestReport(ctx, caller, kb.slug)
    const { passed, failed, results, problems, history, redSince } = report
    return page(visit, {
      title: `Answer tests of ${kb.title}`,
      kb,
      notice,
      main: html`<h1>Answer tests</h1>
        <p class="hint">Questions, and what must hold of their answers. They are in <code>tests/*.yaml</code> on main, and are run by words alone.</p>
        ${results.length === 0 ? html`<p class="empty">There are none yet.</p>` : html`<p${failed > 0 && html` class="warning"`}>${passed} of ${passed + failed} pass.${redSince !== null && html` A test has failed since <code>${redSince.slice(0, 12)}</code>.`}</p>`}
        ${historyChart(history)}
        ${problems.length > 0 && html`<div class="warning"><p>Some cannot be run:</p><ul>${problems.map(({ file, line, message }) => html`<li><code>${file}:${line}</code> ${message}</li>`)}</ul></div>`}
        ${results.length > 0 && resultTable(kb.slug, report)}
        ${proposedSection(visit, { kb, report })}
        ${addForm(visit, kb.slug, typing)}
        ${unreachedSection({ kb, report })}`,
    })
  }
})

/** Returns the test of a form, without empty fields. */
function inputOf({ question, audience, retrieves = '', cites = '', contains = '', refuses }: FormFields): unknown {
  const words = /[\s,]+/
  const [seqIds, cited] = [typedItems(retrieves, words), typedItems(cites, words)]
  const texts = typedItems(contains, '\n')
  return {
    question,
    ...(audience && { audience }),
    ...(seqIds.length && { retrieves: seqIds }),
    ...(cited.length && { cites: cited }),
    ...(texts.length && { contains: texts }),
    ...(refuses && { refuses: refuses === 'true' }),
  }
}

function resultTable(kb: string, { results }: TestReport): Html {
  const rows = results
    .toSorted((a, b) => Number(a.passed) - Number(b.passed))
    .map(
      ({ question, audience, passed, failures, top, file, line }) =>
        html`<th scope="row"><bdi>${question}</bdi> <span class="soft">asked as ${audience}</span></th>
      <td>${passed ? html`<span class="badge">passes</span>` : html`<span class="badge warn">fails</span><ul>${failures.map((failure) => html`<li dir="auto">${failure}</li>`)}</ul>`}</td>
      <td><details><summary>${top[0]?.title ?? 'Nothing'}</summary>${resultList(top, kb)}</details></td>
      <td><code>${file}:${line}</code></td>`,
    )
  return dataTable('Results', ['Question', 'Result', 'First results', 'Where'], rows, { class: 'wide' })
}

function proposedSection(visit: Visit, { kb, report: { proposed = [], moreProposed } }: TestsView): Html | undefined {
  if (proposed.length === 0 && !moreProposed) return undefined
  const path = `${kbPage(kb.slug)}/tests`
  return html`<section aria-labelledby="proposed"><h2 id="proposed">Proposed tests</h2>
    <p class="hint">Questions that readers voted on, which wait in the queue, and that chat refused. Adding a test takes its question off the list.</p>
    ${moreProposed && html`<p class="hint">More is pending: only the latest 50 votes and the 50 questions refused most often are listed. Decide on these, or read <a href="${withQuery('/queue', { kb: kb.slug, kind: 'reader-feedback' })}">all votes</a> and <a href="${kbPage(kb.slug)}/questions">all questions</a>.</p>`}
    <ul>${proposed.map(({ question, refused, feedback, test: { audience, cites, refuses } }) => {
      const typed = {
        question,
        ...(cites && { audience, cites: cites.join(', ') }),
        ...(refuses === false && { refuses: 'false' }),
      }
      return html`<li><bdi>${question}</bdi>
      ${refused > 0 && html`<span class="soft">refused ${refused === 1 ? 'once' : `${refused} times`}</span>`}
      ${feedback.map(({ candidateId, vote, reason, shouldCite }) => html`<br><a href="/queue/${candidateId}">${voteWords[vote]}</a>${reason !== undefined && html`: <bdi>${reason}</bdi>`}${shouldCite && html` · It should cite <a href="${neuronPage(kb.slug, shouldCite)}">${shouldCite}</a>`}`)}
      <div class="row"><a class="button second" href="${withQuery(path, typed)}#add-title">Make a test…</a>
      ${postButton(visit, `${path}/dismiss`, 'Dismiss', { class: 'second' }, { question })}</div></li>`
    })}</ul></section>`
}

function addForm(visit: Visit, kb: string, { typed = {}, errors }: FormView<FormFields>): Html {
  const { text, area, select } = controlsOf({ ...typed, audience: typed.audience || 'tool' }, errors)
  const hint = 'seqIds, with commas between.'
  return html`<section aria-labelledby="add-title"><h2 id="add-title">Add a test</h2>
    <p>If you give only a question, the test expects the first page that today’s answer cites.</p>
    ${form(visit, { action: `${kbPage(kb)}/tests`, errors }, [
      text('question', 'Question', { maxlength: 1000 }),
      select('audience', 'Asked as', choicesOf(audiences)),
      text('retrieves', 'Pages that are among the first five', { hint }),
      text('cites', 'Pages that the answer cites', { hint }),
      area('contains', 'Texts that the answer holds', { hint: 'One on each line.', class: 'short', rows: 2 }),
      select('refuses', 'Refusal', refusals),
      html`<p>${button('Add the test')}</p>`,
    ])}</section>`
}

function unreachedSection({ kb, report: { coverage } }: TestsView): Html | undefined {
  const { neurons, reached, unreached } = coverage
  if (unreached.length === 0) return undefined
  const more = neurons - reached - unreached.length
  return html`<section aria-labelledby="unreached-title"><h2 id="unreached-title">Pages that no test reaches</h2>
    <p>Tests reach ${reached} of ${neurons} pages. <a href="${kbPage(kb.slug)}/questions?order=empty">Questions that found nothing</a></p>
    <ul>${unreached.map(({ seqId, title }) => html`<li><a href="${neuronPage(kb.slug, seqId)}" dir="auto">${title}</a></li>`)}
    ${more > 0 && html`<li>${more} more</li>`}</ul></section>`
}

const [width, height, most] = [6, 40, 60]

/** Renders the share of answer tests that passed at the last tested commits, oldest first. */
export function historyChart(runs: readonly TestRun[]): Html | undefined {
  const shown = runs.slice(-most)
  const last = shown.at(-1)
  if (shown.length < 2 || last === undefined) return undefined
  const label = `Answer tests that passed at the last ${shown.length} tested commits; now ${last.passed} of ${last.passed + last.failed}`
  return html`<svg class="chart" role="img" aria-label="${label}" width="${shown.length * width}" height="${height}">${shown.map(
    ({ commit, passed, failed }, index) => {
      const high = Math.round((height * passed) / Math.max(1, passed + failed))
      return html`<g><title>${commit.slice(0, 12)}: ${passed} of ${passed + failed}</title>
        <rect class="${failed > 0 ? 'failed' : 'passed'}" x="${index * width}" y="${height - Math.max(1, high)}" width="${width - 1}" height="${Math.max(1, high)}"></rect></g>`
    },
  )}</svg>`
}
