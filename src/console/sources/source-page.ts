import { z } from 'zod'
import { neuronPage, placeId, sourcePage, sourcesPage } from '../../contract/console-paths.ts'
import type { SourceDetail } from '../../contract/documents.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { answerFile } from '../../http/response/file-answer.ts'
import type { KbLabel } from '../../kb/readable-kb.ts'
import { describeKb } from '../../pages/list-knowledge-bases.ts'
import { counted, numberText } from '../../rules/text/numbers.ts'
import { archiveSource } from '../../sources/ingest/archive-source.ts'
import { ingestDocument } from '../../sources/ingest/ingest-document.ts'
import {
  type PlacedNeuron,
  readPlacedNeurons,
  readSource,
  readSourceOutcome,
  type SourceOutcome,
  sourceContent,
} from '../../sources/read-source.ts'
import { readSourceText, type SourceText } from '../../sources/read-source-text.ts'
import { statusWords } from '../islands/source-words.ts'
import { sizeInWords } from '../islands/upload/upload-plan.ts'
import { button, controlsOf, type FormErrors, form, postButton } from '../layout/form.ts'
import { type Html, type HtmlPart, html, placeWords, when } from '../layout/html-template.ts'
import { dataTable, turnPages } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, countField, filter, KbParams, pagesOf } from '../layout/page-routes.ts'
import { addUploadForm } from './source-upload.ts'

const SourcePath = KbParams.extend({ id: z.uuid() })
const TextQuery = z.object({
  part: filter(countField(9)),
  page: filter(countField(9)),
  slide: filter(countField(9)),
  sheet: filter(z.string().max(1000)),
  time: filter(
    z
      .string()
      .regex(/^[0-9]{1,9}$/)
      .transform(Number),
  ),
})
const notices = { uploaded: 'Uploaded. Its pages come once it is read.', ingest: 'It is being read again.' }

type Sent = ConsoleRequest<z.output<typeof SourcePath>>

/** Adds the pages of one Source. */
export const sourceRoutes = consolePages({}, async (pages, ctx, app) => {
  const curated = pagesOf(app, { people: 'curator' })
  const ofOne = { params: SourcePath } as const

  pages.get('/kb/:kb/sources/:id', { ...ofOne, query: TextQuery, notices }, (sent) => detail(sent, sent.query))

  curated.get('/kb/:kb/sources/:id/file', ofOne, async (sent) => {
    const { source } = await find(sent)
    return answerFile(sent.request, sent.reply, await sourceContent(ctx, sent.caller, source.id))
  })

  curated.post('/kb/:kb/sources/:id/ingest', ofOne, async (sent) => {
    const { kb, source } = await find(sent)
    await ingestDocument(ctx, sent.caller, source.id)
    return { to: `${sourcePage(kb.slug, source.id)}?done=ingest` }
  })

  curated.get('/kb/:kb/sources/:id/archive', ofOne, async (sent) => {
    const { kb, source } = await find(sent)
    const path = sourcePage(kb.slug, source.id)
    const main = html`<h1>Archive <bdi>${source.filename}</bdi>?</h1>
      <p>It leaves the list and the search. The pages that were made of it stay, and so do the links to it. A waiting ingest is cancelled.</p>
      <p>It cannot be taken back, but the same file may be uploaded again.</p>
      ${form(sent.visit, { action: `${path}/archive` }, html`<div class="row">${button('Archive', { class: 'danger' })}<a href="${path}">Keep it</a></div>`)}`
    return page(sent.visit, { title: `Archive ${source.filename} · ${kb.title}`, kb, main })
  })

  curated.post('/kb/:kb/sources/:id/archive', ofOne, async (sent) => {
    const { kb, source } = await find(sent)
    await archiveSource(ctx, sent.caller, source.id)
    return { to: `${sourcesPage(kb.slug)}?done=archived` }
  })

  await addUploadForm(
    { app, ctx },
    ['/kb/:kb/sources/:id/replace', SourcePath],
    async (sent, file) => {
      const { kb, source } = await find(sent)
      const edition = { ...file, filename: editionName(source, file.filename) }
      return { kb: kb.slug, file: edition, path: source.path, replace: true }
    },
    (sent, { errors }) => detail(sent, {}, errors),
  )

  async function detail(sent: Sent, place: z.output<typeof TextQuery>, errors?: FormErrors): Promise<Html> {
    const { visit, caller, notice } = sent
    const { kb, source } = await find(sent)
    const [outcome, text, placed] = await Promise.all([
      readSourceOutcome(ctx, caller, source.id),
      readSourceText(ctx, caller, source.id, place),
      readPlacedNeurons(ctx, caller, source.id),
    ])
    const mayChange = reaches(visit.session.role, 'curator') && source.archivedAt === null
    const main = html`<nav aria-label="Where you are"><a href="${sourcesPage(kb.slug)}">Sources</a></nav>
      <h1><bdi>${source.filename}</bdi></h1>
      ${state(kb, source)}
      ${facts(source, text)}
      ${mayChange && actions(visit, kb, source, errors)}
      ${warnings(source)}
      ${outcomeLists(kb, outcome)}
      ${editions(kb, source, outcome)}
      ${sourceText(kb.slug, source.id, text, placed)}`
    return page(visit, { title: `${source.filename} · ${kb.title}`, kb, main, notice, islands: ['live-sources'] })
  }

  /** Finds a Source. @throws {GanglionError} `not_found`, also for a Source of another knowledge base */
  async function find({ caller, params }: Sent) {
    const [kb, source] = await Promise.all([describeKb(ctx, caller, params.kb), readSource(ctx, caller, params.id)])
    if (source.knowledgeBaseId !== kb.id) throw new GanglionError('not_found')
    return { kb, source }
  }
})

/** Returns the name of a new edition, which is that of the Source. @throws {ValidationError} for a file of another type */
function editionName({ filename, fileType }: SourceDetail, chosen: string): string {
  const isSameType = chosen.toLowerCase().endsWith(`.${fileType}`)
  if (!isSameType) throw new ValidationError({ file: [`Choose a .${fileType} file, as the edition before is one.`] })
  return filename
}

function state(kb: KbLabel, { id, status, errorMessage, archivedAt }: SourceDetail): Html {
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
  const places = unit === undefined ? '' : `, ${counted(anchors.length, unit)}`
  return `${numberText(characters)} characters${places}`
}

function addressOf(text: string): HtmlPart {
  const url = URL.parse(text)
  const leads = url !== null && (url.protocol === 'http:' || url.protocol === 'https:')
  return leads ? html`<a href="${url.href}" rel="noreferrer nofollow">${text}</a>` : html`<bdi>${text}</bdi>`
}

function actions(visit: Visit, kb: KbLabel, source: SourceDetail, errors: FormErrors | undefined): Html {
  const { id, status, filename, fileType } = source
  const path = sourcePage(kb.slug, id)
  const isOver = status === 'success' || status === 'failed'
  const replacing = { action: `${path}/replace`, errors, attributes: { enctype: 'multipart/form-data' } }
  return html`<div class="row actions">
      <a class="button second" href="${path}/file" download>Download</a>
      ${isOver && postButton(visit, `${path}/ingest`, status === 'failed' ? 'Try again' : 'Read again')}
      ${status !== 'processing' && html`<a class="button second" href="${path}/archive">Archive…</a>`}
    </div>
    <details class="replace"${errors !== undefined && html` open`}>
      <summary>Replace with a new edition</summary>
      ${form(visit, replacing, [
        controlsOf({}, errors).text('file', 'File', {
          hint: html`A .${fileType} file, whatever its name; it is kept as <bdi>${filename}</bdi>. Its pages take the place of those that there are: they keep their
            numbers, and edits to them are merged.`,
          ...{ type: 'file', required: true, accept: `.${fileType}` },
        }),
        button('Replace'),
      ])}
    </details>`
}

function warnings({ warnings = [] }: SourceDetail): Html | undefined {
  if (warnings.length === 0) return undefined
  return html`<section class="warning" aria-labelledby="warnings"><h2 id="warnings">What was left out, or is to be checked (${warnings.length})</h2>
    <ul>${warnings.map((text) => html`<li>${text}</li>`)}</ul></section>`
}

function outcomeLists(kb: KbLabel, { neurons, neuronCount, candidates, candidateCount }: SourceOutcome): Html {
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

function editions(kb: KbLabel, { id }: SourceDetail, { editions }: SourceOutcome): Html | undefined {
  if (editions.length < 2) return undefined
  const rows = editions.map(
    (
      edition,
    ) => html`<th scope="row">${edition.id === id ? html`<strong>${edition.seq}</strong> (this one)` : html`<a href="${sourcePage(kb.slug, edition.id)}">${edition.seq}</a>`}</th>
      <td>${when(edition.createdAt)}</td><td><bdi>${edition.uploader}</bdi></td>
      <td>${edition.archivedAt === null ? 'In use' : html`Archived ${when(edition.archivedAt)}`}</td>`,
  )
  return html`<section aria-labelledby="editions"><h2 id="editions">Editions</h2>
    ${dataTable('Editions', ['Number', 'Added', 'By', 'State'], rows)}</section>`
}

/** Renders a part of a Source's text, as it was read from the file: text, never markup. The beginning of each page has an id. */
function sourceText(kbSlug: string, id: string, text: SourceText | undefined, neurons: readonly PlacedNeuron[]): Html {
  return html`<section class="source-text" aria-labelledby="text"><h2 id="text">Text</h2>${contents(kbSlug, id, text, neurons)}</section>`
}

function contents(kbSlug: string, id: string, text: SourceText | undefined, neurons: readonly PlacedNeuron[]): Html {
  if (text === undefined) return html`<p class="empty">It has not been read yet.</p>`
  const { passages, part: page, parts: pages } = text
  if (passages.length === 0) return html`<p class="empty">There is no text in it.</p>`
  const href = (part: number) => `${sourcePage(kbSlug, id)}?part=${part}#text`
  const turn = (label: string) => turnPages({ label, page, pages, href, words: ['Before', 'Part', 'Next'] })
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
