import type { Blame, BlamedSentence } from '../../contract/blame.ts'
import { neuronPage, sourcePage, versionPage } from '../../contract/console-paths.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { type Html, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'

/** Renders a page with the origin of each passage. Consecutive sentences with the same origin form one passage. */
export function blamePage(visit: Visit, { kb, blame }: { kb: PageKb; blame: Blame }): Html {
  const { seqId, title, sentences, nextStart } = blame
  const path = neuronPage(kb.slug, seqId)
  const main = html`
    <p class="crumbs"><a href="${path}" dir="auto">${title}</a> · <a href="${path}/history">History</a></p>
    <h1>Who said so: <bdi>${title}</bdi></h1>
    <div class="scroll" tabindex="0" role="group" aria-label="Sentences">
    <table>
      <caption class="unseen">The sentences of the page, in order</caption>
      <thead><tr><th scope="col">Text</th><th scope="col">Version</th><th scope="col">When</th><th scope="col">Said by</th>
        <th scope="col">Approved by</th><th scope="col">Came from</th></tr></thead>
      <tbody>${partsOf(sentences).map((part) => row(visit, { kb, seqId }, part))}</tbody>
    </table></div>
    ${nextStart !== undefined && html`<p><a href="${path}/blame?start=${nextStart}">Next sentences</a></p>`}`
  return page(visit, { title: `Who said so: ${title}`, main, kb })
}

function partsOf(sentences: readonly BlamedSentence[]): BlamedSentence[] {
  const parts: BlamedSentence[] = []
  for (const sentence of sentences) {
    const last = parts.at(-1)
    if (last?.version !== sentence.version || last.proposedBy !== sentence.proposedBy) parts.push({ ...sentence })
    else last.text += `\n${sentence.text}`
  }
  return parts
}

function row(
  { session }: Visit,
  { kb, seqId }: { kb: PageKb; seqId: string },
  { text, version, commit, at, approvedBy, candidateId, proposedBy, model, sources = [] }: BlamedSentence,
): Html {
  const candidate = candidateId !== null && reaches(session.role, 'curator')
  return html`<tr><td dir="auto">${text.split('\n').map((line) => html`${line}<br>`)}</td>
    <td><a href="${versionPage(kb.slug, seqId, commit)}" aria-label="Read version ${version}">${version}</a></td>
    <td>${when(at)}</td><td dir="auto">${proposedBy ?? '–'}${model && html` (${model})`}</td><td dir="auto">${approvedBy}</td>
    <td>${candidate && html`<a href="/queue/${encodeURIComponent(candidateId)}">Candidate</a>`} ${sources.map(
      (source) => {
        const name = `${source.filename ?? 'Source'}${source.page === undefined ? '' : `, page ${source.page}`}`
        return source.id === undefined
          ? html` <bdi>${name}</bdi>`
          : html` <a href="${sourcePage(kb.slug, source.id, source)}" dir="auto">${name}</a>`
      },
    )}</td></tr>`
}
