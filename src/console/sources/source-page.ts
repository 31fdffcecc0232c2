import { neuronPage, placeId, sourcePage, sourcesPage } from '../../contract/console-paths.ts'
import type { SourceDetail } from '../../contract/documents.ts'
import { reaches } from '../../contract/vocabulary.ts'
import type { PlacedNeuron, SourceOutcome } from '../../sources/read-source-outcome.ts'
import type { SourceText } from '../../sources/read-source-text.ts'
import { statusWords } from '../islands/source-words.ts'
import { sizeInWords } from '../islands/upload/upload-plan.ts'
import { button, type FormErrors, field, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { placeWords, when } from '../layout/wording.ts'

export type SourceView = {
  kb: PageKb
  source: SourceDetail
  outcome: SourceOutcome
  text: SourceText | undefined
  placed: readonly PlacedNeuron[]
  errors?: FormErrors | undefined
  notice?: HtmlPart
}

export function sourceDetailPage(visit: Visit, view: SourceView): Html {
  const { kb, source, outcome, text, placed, notice } = view
  const isCurator = reaches(visit.session.role, 'curator')
  const main = html`<nav aria-label="Where you are"><a href="${sourcesPage(kb.slug)}">Sources</a></nav>
    <h1><bdi>${source.filename}</bdi></h1>
    ${state(kb, source)}
    ${facts(source, text)}
    ${isCurator && source.archivedAt === null && actions(visit, view)}
    ${warnings(source)}
    ${outcomeLists(kb, outcome)}
    ${editions(kb, source, outcome)}
    ${sourceText(kb.slug, source.id, text, placed)}`
  return page(visit, { title: `${source.filename} · ${kb.title}`, kb, main, notice, islands: ['live-sources'] })
}

function state(kb: PageKb, { id, status, errorMessage, archivedAt }: SourceDetail): Html {
  const { label, tone } = statusWords(status)
  const isOver = status === 'success' || status === 'failed'
  return html`<p data-live-sources="${kb.slug}" data-source="${id}">
      <span class="badge ${tone}" data-status>${label}</span>
      ${!isOver && html`<a href="${sourcePage(kb.slug, id)}" data-refresh>Refresh</a>`}
    </p>
    ${errorMessage !== null && html`<p class="problems">${errorMessage}</p>`}
    ${archivedAt !== null && html`<p class="warning">Archived ${when(archivedAt)}. The pages that were made of it stay.</p>`}`
}

function facts(
  { path, fileType, fileSize, seq, createdAt, tags, connector, sourceUrl, contentHash }: SourceDetail,
  text: SourceText | undefined,
): Html {
  const shown: [string, HtmlPart][] = [
    ['Folder', html`<bdi>${path}</bdi>`],
    ['Type', `.${fileType}, ${sizeInWords(fileSize)}`],
    ['Number', seq],
    ['Added', when(createdAt)],
    ['Tags', tags === null ? undefined : html`<bdi>${tags.replaceAll(',', ', ')}</bdi>`],
    ['Came by', connector],
    ['Found at', sourceUrl === null ? undefined : addressOf(sourceUrl)],
    ['Read', text && readInWords(text)],
    ['SHA-256', html`<code>${contentHash}</code>`],
  ]
  return html`<dl class="facts">${shown.map(([name, value]) => value !== undefined && html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

function readInWords({ characters, anchors }: SourceText): string {
  const [first] = anchors
  const unit = first && (['page', 'slide', 'sheet'] as const).find((key) => first[key] !== undefined)
  const places = unit === undefined ? '' : `, ${anchors.length} ${unit}${anchors.length === 1 ? '' : 's'}`
  return `${characters.toLocaleString('en')} characters${places}`
}

function addressOf(text: string): HtmlPart {
  const url = URL.parse(text)
  const leads = url !== null && (url.protocol === 'http:' || url.protocol === 'https:')
  return leads ? html`<a href="${url.href}" rel="noreferrer nofollow">${text}</a>` : html`<bdi>${text}</bdi>`
}

function actions(visit: Visit, { kb, source, errors }: SourceView): Html {
  const { id, status, filename, fileType } = source
  const path = sourcePage(kb.slug, id)
  const isOver = status === 'success' || status === 'failed'
  return html`<div class="row actions">
      <a class="button second" href="${path}/file" download>Download</a>
      ${isOver && form(visit, { action: `${path}/ingest` }, button(status === 'failed' ? 'Try again' : 'Read again', { class: 'second' }))}
      ${status !== 'processing' && html`<a class="button second" href="${path}/archive">Archive…</a>`}
    </div>
    <details class="replace"${errors !== undefined && html` open`}>
      <summary>Replace with a new edition</summary>
      ${form(
        visit,
        { action: `${path}/replace`, errors, attributes: { enctype: 'multipart/form-data' } },
        html`${field({
          ...{ name: 'file', label: 'File', type: 'file', errors },
          hint: html`A .${fileType} file, whatever its name; it is kept as <bdi>${filename}</bdi>. Its pages take the place of those that there are: they keep their
            numbers, and edits to them are merged.`,
          attributes: { required: true, accept: `.${fileType}` },
        })}
        ${button('Replace')}`,
      )}
    </details>`
}

function warnings({ warnings = [] }: SourceDetail): Html | undefined {
  if (warnings.length === 0) return undefined
  return html`<section class="warning" aria-labelledby="warnings"><h2 id="warnings">What was left out, or is to be checked (${warnings.length})</h2>
    <ul>${warnings.map((text) => html`<li>${text}</li>`)}</ul></section>`
}

function outcomeLists(kb: PageKb, { neurons, neuronCount, candidates, candidateCount }: SourceOutcome): Html {
  return html`<section aria-labelledby="neurons"><h2 id="neurons">Pages made of it${neuronCount > 0 && ` (${neuronCount})`}</h2>
      ${
        neurons.length === 0
          ? html`<p class="empty">None yet.</p>`
          : html`<ul>${neurons.map((neuron) => html`<li>${neuronLink(kb.slug, neuron)}</li>`)}</ul>`
      }
      ${more(neuronCount - neurons.length)}
    </section>
    ${
      candidates.length > 0 &&
      html`<section aria-labelledby="candidates"><h2 id="candidates">Waiting for a decision (${candidateCount})</h2>
        <ul>${candidates.map(
          ({ candidateId, title, removes, warnings }) =>
            html`<li><a href="/queue/${encodeURIComponent(candidateId)}"><bdi>${title}</bdi></a>${removes && ' (to be removed)'}
              ${warnings.map((text) => html`<br><small>${text}</small>`)}</li>`,
        )}</ul>
        ${more(candidateCount - candidates.length)}
      </section>`
    }`
}

function neuronLink(kbSlug: string, { seqId, title }: Pick<PlacedNeuron, 'seqId' | 'title'>): Html {
  return html`<a href="${neuronPage(kbSlug, seqId)}"><bdi>${title}</bdi></a>`
}

function more(count: number): Html | undefined {
  return count > 0 ? html`<p class="hint">And ${count} more.</p>` : undefined
}

function editions(kb: PageKb, { id }: SourceDetail, { editions }: SourceOutcome): Html | undefined {
  if (editions.length < 2) return undefined
  return html`<section aria-labelledby="editions"><h2 id="editions">Editions</h2>
    <div class="scroll" tabindex="0" role="group" aria-label="Editions"><table>
      <thead><tr><th scope="col">Number</th><th scope="col">Added</th><th scope="col">By</th><th scope="col">State</th></tr></thead>
      <tbody>${editions.map(
        (edition) => html`<tr>
          <th scope="row">${edition.id === id ? html`<strong>${edition.seq}</strong> (this one)` : html`<a href="${sourcePage(kb.slug, edition.id)}">${edition.seq}</a>`}</th>
          <td>${when(edition.createdAt)}</td><td><bdi>${edition.uploader}</bdi></td>
          <td>${edition.archivedAt === null ? 'In use' : html`Archived ${when(edition.archivedAt)}`}</td>
        </tr>`,
      )}</tbody>
    </table></div></section>`
}

/** A part of a Source's text, as it was read from the file: text, never markup. Where a page of it begins has an id. */
function sourceText(kbSlug: string, id: string, text: SourceText | undefined, neurons: readonly PlacedNeuron[]): Html {
  return html`<section class="source-text" aria-labelledby="text"><h2 id="text">Text</h2>${contents(kbSlug, id, text, neurons)}</section>`
}

function contents(kbSlug: string, id: string, text: SourceText | undefined, neurons: readonly PlacedNeuron[]): Html {
  if (text === undefined) return html`<p class="empty">It has not been read yet.</p>`
  const { passages, part, parts } = text
  if (passages.length === 0) return html`<p class="empty">There is no text in it.</p>`
  const turn = (label: string) => parts > 1 && turnPages(label, sourcePage(kbSlug, id), part, parts)
  return html`${turn('Parts of the text')}
    ${passages.map(({ place, isBeginning, text }) => {
      const words = placeWords(place)
      const id = placeId(place)
      const heading = words !== undefined && isBeginning && html`<h3 id="${id}">${words}</h3>`
      const made = isBeginning && id !== undefined ? neurons.filter((one) => placeId(one.place) === id) : []
      return html`<div class="passage"><div>${heading}<div class="verbatim" dir="auto">${text}</div></div>
        ${made.length > 0 && html`<aside aria-label="Pages made of this"><ul>${made.map((neuron) => html`<li>${neuronLink(kbSlug, neuron)}</li>`)}</ul></aside>`}</div>`
    })}
    ${turn('Parts of the text, below it')}`
}

function turnPages(label: string, path: string, part: number, parts: number): Html {
  return html`<nav class="row" aria-label="${label}">
    ${part > 1 && html`<a rel="prev" href="${path}?part=${part - 1}#text">Before</a>`}
    <span>Part ${part} of ${parts}</span>
    ${part < parts && html`<a rel="next" href="${path}?part=${part + 1}#text">Next</a>`}
  </nav>`
}

export function archivePage(visit: Visit, { kb, source }: { kb: PageKb; source: SourceDetail }): Html {
  const { id, filename } = source
  const path = sourcePage(kb.slug, id)
  const main = html`<h1>Archive <bdi>${filename}</bdi>?</h1>
    <p>It leaves the list and the search. The pages that were made of it stay, and so do the links to it. An ingest that waits is called off.</p>
    <p>It cannot be taken back, but the same file may be uploaded again.</p>
    ${form(visit, { action: `${path}/archive` }, html`<div class="row">${button('Archive', { class: 'danger' })}<a href="${path}">Keep it</a></div>`)}`
  return page(visit, { title: `Archive ${filename} · ${kb.title}`, kb, main })
}
