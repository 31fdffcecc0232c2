import { z } from 'zod'
import { sourcePage, sourcesPage } from '../../contract/console-paths.ts'
import { fileTypes, type SourceAnswer } from '../../contract/documents.ts'
import { Cursor } from '../../contract/envelope.ts'
import { reaches } from '../../contract/vocabulary.ts'
import type { KbLabel } from '../../kb/readable-kb.ts'
import { describeKb } from '../../pages/list-knowledge-bases.ts'
import { numberText } from '../../rules/text/numbers.ts'
import { describeUploads } from '../../sources/describe-uploads.ts'
import { listSources } from '../../sources/read-source.ts'
import { abandonUpload, listOpenUploads } from '../../sources/receive/chunked-upload.ts'
import { statusWords } from '../islands/source-words.ts'
import { sizeInWords } from '../islands/upload/upload-plan.ts'
import { type Choice, choicesOf } from '../layout/form.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import { filterChip, savedFilter, wordsFilter } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, filter, KbParams, withQuery } from '../layout/page-routes.ts'
import { addUploadForm, type UploadAttempt, uploadSection } from './source-upload.ts'

const UploadPath = KbParams.extend({ uploadId: z.uuid() })
const ListQuery = z.object({
  text: filter(z.string().max(200)),
  status: filter(z.enum(['waiting', 'processing', 'success', 'failed'])),
  folder: filter(z.string().max(5000)),
  type: filter(z.enum(fileTypes)),
  cursor: filter(Cursor),
})
const states: readonly Choice[] = [
  ['waiting', 'Waiting'],
  ['processing', 'Being read'],
  ['success', 'Done'],
  ['failed', 'Failed'],
]

const notices = { archived: 'The Source is archived.', removed: 'The upload is removed.' }
const statusesOf: Readonly<Record<string, readonly SourceAnswer['status'][]>> = {
  waiting: ['pending', 'ready'],
  processing: ['processing'],
  success: ['success'],
  failed: ['failed'],
}
const sourcesPerPage = 50

type Filters = z.output<typeof ListQuery>
type Listed = {
  kb: KbLabel
  query: Filters
  sources: readonly SourceAnswer[]
  nextCursor: string | null
  fileTypes: readonly string[]
  folders: readonly string[]
}

/** Adds the list of Sources, with the form that uploads one. */
export const sourceListRoutes = consolePages({}, async (pages, ctx, app) => {
  pages.get('/kb/:kb/sources', { params: KbParams, query: ListQuery, notices }, (sent) => list(sent, sent.query))

  const removing = { params: UploadPath, config: { people: 'curator' } } as const
  pages.post('/kb/:kb/sources/uploads/:uploadId/remove', removing, async ({ caller, params }) => {
    await abandonUpload(ctx, caller, params.uploadId)
    return { to: `${sourcesPage(params.kb)}?done=removed` }
  })

  await addUploadForm(
    { app, ctx },
    ['/kb/:kb/sources', KbParams],
    ({ params: { kb } }, file, typed) => ({ kb, file, ...typed }),
    (sent, attempt) => list(sent, {}, attempt),
  )

  async function list(
    { visit, caller, params, notice }: ConsoleRequest<z.output<typeof KbParams>>,
    query: Filters,
    attempt?: UploadAttempt,
  ): Promise<Html> {
    const isCurator = reaches(visit.session.role, 'curator')
    const { text, folder, type, cursor } = query
    const [kb, accepted, { documents: sources, nextCursor }, openUploads] = await Promise.all([
      describeKb(ctx, caller, params.kb),
      describeUploads(ctx, caller, params.kb),
      listSources(ctx, caller, params.kb, {
        ...{ limit: sourcesPerPage, text, folder, fileType: type, statuses: statusesOf[query.status ?? ''] },
        ...(cursor === undefined ? {} : { cursor }),
      }),
      isCurator ? listOpenUploads(ctx, caller, params.kb) : [],
    ])
    // The total would tell readers about Sources that they may not see.
    const total = isCurator ? await ctx.sources.countOf(kb.id) : undefined
    const listed = { kb, query, sources, nextCursor, ...accepted }
    const title = `Sources · ${kb.title}`
    return page(visit, {
      title: text === undefined ? title : `${text} · ${title}`,
      kb,
      notice,
      islands: isCurator ? ['live-sources', 'upload'] : ['live-sources'],
      scripts: ['htmx.js'],
      main: html`<h1>Sources <span class="tally" id="sources-total">${total !== undefined && numberText(total)}</span></h1>
        <p class="hint">Files that pages are made of.</p>
        ${isCurator && uploadSection(visit, { ...listed, openUploads, attempt })}
        <div class="filters">${wordsIn(listed)}</div>
        ${results(visit, listed)}`,
    })
  }
})

/** Renders the search field, which stays in place while htmx replaces the results. */
function wordsIn({ kb, query: { text, status, folder, type } }: Listed): Html {
  const path = sourcesPage(kb.slug)
  return wordsFilter({
    ...{ action: path, label: 'Filter the Sources', placeholder: 'Name contains', value: text },
    others: { status, folder, type },
    more: {
      ...{ 'hx-get': path, 'hx-target': '#sources', 'hx-select': '#sources', 'hx-swap': 'outerHTML' },
      'hx-select-oob': '#sources-total',
      'hx-trigger': 'input delay:300ms, submit',
    },
  })
}

function chips(visit: Visit, { kb, query, fileTypes, folders }: Listed): Html {
  const chip = (name: 'status' | 'folder' | 'type', label: string, choices: readonly Choice[]) => {
    const href = (value: string | undefined) => hrefOf(kb.slug, { ...query, cursor: undefined, [name]: value })
    return filterChip({ label, value: query[name], choices: [['', 'Any'], ...choices], href })
  }
  const types = fileTypes.map((type): Choice => [type, `.${type}`])
  return html`<div class="filters chips" role="group" aria-label="Filters">
    ${chip('status', 'Status', states)}
    ${folders.length > 1 && chip('folder', 'Folder', choicesOf(folders))}
    ${chip('type', 'Type', types)}
    ${
      isFiltered(query) &&
      html`<a class="chip" href="${sourcesPage(kb.slug)}">Clear filters</a>
      ${savedFilter(visit, hrefOf(kb.slug, { ...query, cursor: undefined }))}`
    }
  </div>`
}

function isFiltered({ text, status, folder, type }: Filters): boolean {
  return [text, status, folder, type].some((filter) => filter !== undefined)
}

function results(visit: Visit, list: Listed): Html {
  const { kb, query, sources, nextCursor } = list
  if (sources.length === 0)
    return html`<div id="sources" data-live-sources="${kb.slug}">${chips(visit, list)}${emptyState(list)}</div>`
  const isUnfinished = sources.some(({ status }) => status !== 'success' && status !== 'failed')
  return html`<div id="sources" data-live-sources="${kb.slug}">
    ${chips(visit, list)}
    <div class="scroll" tabindex="0" role="group" aria-label="Sources"><table>
      <caption>${query.cursor === undefined ? 'The newest first' : 'Older ones'}</caption>
      <thead><tr>${['File', 'Status', 'Size', 'Added'].map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
      <tbody>${sources.map((source) => row(kb.slug, source))}</tbody>
    </table></div>
    ${isUnfinished && html`<p><a href="${hrefOf(kb.slug, query)}" data-refresh>Refresh to see how far they are</a></p>`}
    <nav class="row" aria-label="Pages of the list">
      ${query.cursor !== undefined && html`<a href="${hrefOf(kb.slug, { ...query, cursor: undefined })}">Newest</a>`}
      ${nextCursor !== null && html`<a rel="next" href="${hrefOf(kb.slug, { ...query, cursor: nextCursor })}">Older</a>`}
    </nav>
  </div>`
}

function row(kbSlug: string, { id, filename, path, status, errorMessage, fileSize, createdAt }: SourceAnswer): Html {
  const { label, tone } = statusWords(status)
  return html`<tr data-source="${id}">
    <th scope="row"><a href="${sourcePage(kbSlug, id)}"><bdi>${filename}</bdi></a>${path !== '/' && html` <small class="hint"><bdi>${path}</bdi></small>`}</th>
    <td><span class="badge ${tone}" data-status>${label}</span>${errorMessage !== null && html` <small>${errorMessage}</small>`}</td>
    <td>${sizeInWords(fileSize)}</td>
    <td>${when(createdAt)}</td>
  </tr>`
}

function emptyState({ kb, query }: Listed): Html {
  if (isFiltered(query) || query.cursor !== undefined) {
    return html`<p class="empty">No Source matches. <a href="${sourcesPage(kb.slug)}">Show all</a></p>`
  }
  return html`<p class="empty">There are no Sources yet. Upload a document, a sheet, slides, a recording or a picture, and its pages
    wait in the queue or go straight into the knowledge base, as its rules say.</p>`
}

function hrefOf(kbSlug: string, query: Filters): string {
  return withQuery(sourcesPage(kbSlug), query)
}
