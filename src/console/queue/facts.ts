import type { TestChange, TestEffects, TestResultLine } from '../../contract/answer-tests.ts'
import { kbPage, neuronPage, sourcePage } from '../../contract/console-paths.ts'
import type { QueueEntry } from '../../queue/lists/list-queue.ts'
import type { FieldChange } from '../../review/field-changes.ts'
import type { LinkChange, LinkChanges } from '../../review/link-changes.ts'
import type { CandidateReview } from '../../review/review-candidate.ts'
import type { SimilarNeuron } from '../../review/similar-neurons.ts'
import type { SourcePassage } from '../../review/source-passage.ts'
import { type Html, html, placeWords, when } from '../layout/html-template.ts'
import { dataTable } from '../layout/list-parts.ts'
import { candidateUrl, type QueueParams } from './view.ts'

export function fieldSection(fields: readonly FieldChange[]): Html | undefined {
  const [changed = [], same = []] = [true, false].map((wanted) =>
    fields.filter(({ isChanged }) => isChanged === wanted),
  )
  if (fields.length === 0) return undefined
  return html`<section aria-labelledby="fields-title">
    <h2 id="fields-title">Properties</h2>
    ${fieldTable('Changed properties', changed)}
    ${same.length > 0 && html`<details><summary>${same.length} unchanged</summary>${fieldTable('Unchanged properties', same)}</details>`}
  </section>`
}

function fieldTable(label: string, fields: readonly FieldChange[]): Html {
  const lines = (some: readonly string[], others: readonly string[], mark: (line: string) => Html) =>
    some.map((line) => html`<div dir="auto">${others.includes(line) ? line : mark(line)}</div>`)
  const rows = fields.map(
    ({ name, before, after }) => html`<th scope="row" dir="auto">${name}</th>
      <td>${lines(before, after, (line) => html`<del>${line}</del>`)}</td>
      <td>${lines(after, before, (line) => html`<ins>${line}</ins>`)}</td>`,
  )
  return dataTable(label, ['Property', 'Before', 'After'], rows, { class: 'fields', empty: 'No property changes.' })
}

export function linkSection(links: LinkChanges, kb: string): Html | undefined {
  if (links.gainedCount + links.lostCount === 0) return undefined
  return html`<section aria-labelledby="links-title">
    <h2 id="links-title">Links</h2>
    ${linkList('Gained', links.gained, links.gainedCount, kb)}
    ${linkList('Lost', links.lost, links.lostCount, kb)}
  </section>`
}

function linkList(label: string, links: readonly LinkChange[], count: number, kb: string): Html | undefined {
  if (count === 0) return undefined
  return html`<h3>${label} (${count})</h3>
    <ul class="links">${links.map((link) => html`<li>${link.type !== 'cites' && html`${link.type}: `}${linkText(link, kb)}</li>`)}
    ${count > links.length && html`<li>${count - links.length} more</li>`}</ul>`
}

function linkText({ target, leadsTo, kb: other }: LinkChange, kb: string): Html {
  if (typeof leadsTo === 'object')
    return html`<a href="${neuronPage(kb, leadsTo.seqId)}" dir="auto">${leadsTo.title}</a>`
  if (leadsTo === 'nothing') return html`<bdi>${target}</bdi> <span class="badge warn">leads nowhere</span>`
  if (leadsTo === 'what waits with it')
    return html`<bdi>${target}</bdi> <span class="badge">proposed together with this</span>`
  if (leadsTo === 'several')
    return html`<bdi>${target}</bdi> <span class="badge warn">several pages have this name</span>`
  if (leadsTo === 'a file') return html`<bdi>${target}</bdi> (a file)`
  return html`<bdi>${target}</bdi> in <bdi>${other}</bdi>`
}

/** Renders passages of Sources. Imported pages can name files that were never Sources here; these are left out. */
export function sourceSection(sources: readonly SourcePassage[], kb: string): Html | undefined {
  const shown = sources.filter(({ id, text }) => id !== undefined || text !== undefined)
  if (shown.length === 0) return undefined
  return html`<details class="source"><summary>What the Source says</summary>
    ${shown.map(
      ({ id, filename, place, text, isCut }) => html`<h3>${
        id === undefined
          ? html`<bdi>${filename}</bdi>`
          : html`<a href="${sourcePage(kb, id, place)}" dir="auto">${filename}</a>`
      } ${placeWords(place)}</h3>
      ${
        text === undefined
          ? html`<p class="empty">The text of this Source is no longer stored. Open the Source and ingest it again to see it here.</p>`
          : html`<pre class="passage" dir="auto" tabindex="0">${text}</pre>${isCut && html`<p class="hint">The passage goes on: open the Source to read all of it.</p>`}`
      }`,
    )}
  </details>`
}

/** Renders pages that may say the same. Finding them takes a while, so scripts load them later, or a link does. */
export function similarSection({ id }: Pick<QueueEntry, 'id'>, params: QueueParams, similar: Html | undefined): Html {
  const later = html`<div data-fill="${candidateUrl(id, params, {}, 'similar')}"><a href="${candidateUrl(id, params, { similar: '1' })}#similar-title">Find similar pages</a></div>`
  return html`<section aria-labelledby="similar-title">
    <h2 id="similar-title">Similar pages</h2>
    ${similar ?? later}
  </section>`
}

/** Renders the similar pages. @param found undefined if search is busy */
export function similarList(found: readonly SimilarNeuron[] | undefined, kb: string): Html {
  if (found === undefined) return html`<p class="empty">Search is busy. Reload the page to see them.</p>`
  if (found.length === 0) return html`<p class="empty">None found.</p>`
  return html`<ul>${found.map(
    ({ seqId, title, why }) =>
      html`<li><a href="${neuronPage(kb, seqId)}" dir="auto">${title}</a> <span class="soft" dir="auto">${why.join(' · ')}</span></li>`,
  )}</ul>`
}

export function duplicateSection(duplicates: CandidateReview['duplicates'], params: QueueParams): Html | undefined {
  if (duplicates.length === 0) return undefined
  return html`<section aria-labelledby="duplicates-title">
    <h2 id="duplicates-title">Also waiting</h2>
    <ul>${duplicates.map(
      ({ entry, why }) =>
        html`<li><a href="${candidateUrl(entry.id, params)}" dir="auto">${entry.title}</a> <span class="soft">${why.join(', ')}, ${when(entry.createdAt)}</span></li>`,
    )}</ul>
  </section>`
}

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
      ${dataTable(`First results of ${question}`, ['Before', 'After'], [html`<td>${resultList(before, kb)}</td><td>${resultList(after, kb)}</td>`], { class: 'fields' })}</details>`,
    )}`
}

export function resultList(results: readonly TestResultLine[], kb: string): Html {
  if (results.length === 0) return html`<span class="empty">Nothing is found.</span>`
  return html`<ol>${results.map(
    ({ seqId, title, passage }) =>
      html`<li><a href="${neuronPage(kb, seqId)}" dir="auto">${title}</a><br><small dir="auto">${passage}</small></li>`,
  )}</ol>`
}
