import type { TestChange, TestEffects, TestResultLine } from '../../contract/answer-tests.ts'
import { kbPage, neuronPage } from '../../contract/console-paths.ts'
import { type Html, html } from '../layout/html-template.ts'

/** What a candidate's approval changes in the results of the answer tests. */
export function effectsSection(effects: TestEffects | undefined, kb: string): Html | undefined {
  if (effects === undefined || (effects.tests === 0 && effects.state === 'tested')) return undefined
  return html`<section aria-labelledby="effects-title">
    <h2 id="effects-title">Answer tests</h2>
    ${effectsText(effects)}
    ${changeList('It breaks', effects.broken, kb)}
    ${changeList('It mends', effects.mended, kb)}
    ${changeList('Other results change', effects.changed, kb)}
    <p><a href="${kbPage(kb)}/tests">All answer tests</a></p>
  </section>`
}

function effectsText({ state, reason = '', tests, broken, mended, changed }: TestEffects): Html | undefined {
  if (state === 'running') return html`<p role="status">They are being run. <a href="">Look again</a></p>`
  if (state === 'failed') return html`<p class="warning">They could not be run: ${reason}</p>`
  if (broken.length > 0) return html`<p class="warning">Its approval breaks ${broken.length} of ${tests}.</p>`
  if (mended.length + changed.length === 0) return html`<p class="empty">Its approval changes none of ${tests}.</p>`
  return html`<p>Its approval breaks none of ${tests}.</p>`
}

function changeList(label: string, changes: readonly TestChange[], kb: string): Html | undefined {
  if (changes.length === 0) return undefined
  return html`<h3>${label} (${changes.length})</h3>
    ${changes.map(
      ({ question, audience, failures, before, after }) => html`<details${label === 'It breaks' && html` open`}>
      <summary><bdi>${question}</bdi> <span class="soft">asked as ${audience}</span></summary>
      ${failures.length > 0 && html`<ul>${failures.map((failure) => html`<li dir="auto">${failure}</li>`)}</ul>`}
      <div class="scroll" tabindex="0" role="group" aria-label="First results of ${question}"><table class="fields">
        <thead><tr><th scope="col">Before</th><th scope="col">After</th></tr></thead>
        <tbody><tr><td>${resultList(before, kb)}</td><td>${resultList(after, kb)}</td></tr></tbody>
      </table></div></details>`,
    )}`
}

export function resultList(results: readonly TestResultLine[], kb: string): Html {
  if (results.length === 0) return html`<span class="empty">Nothing is found.</span>`
  return html`<ol>${results.map(
    ({ seqId, title, passage }) =>
      html`<li><a href="${neuronPage(kb, seqId)}" dir="auto">${title}</a><br><small dir="auto">${passage}</small></li>`,
  )}</ol>`
}
