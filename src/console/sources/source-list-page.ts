import { sourcePage, sourcesPage } from '../../contract/console-paths.ts'
import type { SourceAnswer, UploadStatus } from '../../contract/documents.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { statusWords } from '../islands/source-words.ts'
import { sizeInWords } from '../islands/upload/upload-plan.ts'
import type { Choice } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { filterChip, savedFilter, wordsFilter } from '../layout/list-parts.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-query.ts'
import { when } from '../layout/wording.ts'
import { type UploadAttempt, uploadSection } from './source-upload.ts'

/** Filters of the list, as in the URL. */
export type SourceListQuery = {
  text?: string | undefined
  status?: string | undefined
  folder?: string | undefined
  type?: string | undefined
  cursor?: string | undefined
}

export type SourceList = {
  kb: PageKb
  query: SourceListQuery
  /** Number of Sources that are not archived, whatever the filter; for curators. */
  total: number | undefined
  sources: readonly SourceAnswer[]
  nextCursor: string | null
  fileTypes: readonly string[]
  folders: readonly string[]
  openUploads: readonly UploadStatus[]
  /** An upload that was refused. */
  attempt?: UploadAttempt | undefined
  notice?: HtmlPart
}

const states: readonly Choice[] = [
  { value: 'waiting', label: 'Waiting' },
  { value: 'processing', label: 'Being read' },
  { value: 'success', label: 'Done' },
  { value: 'failed', label: 'Failed' },
]

export function sourceListPage(visit: Visit, list: SourceList): Html {
  const { kb, query, total, notice } = list
  const isCurator = reaches(visit.session.role, 'curator')
  const main = html`<h1>Sources <span class="tally" id="sources-total">${total?.toLocaleString('en')}</span></h1>
    <p class="hint">Files that pages are made of.</p>
    ${isCurator && uploadSection(visit, list)}
    <div class="filters">${wordsIn(list)}</div>
    ${results(visit, list)}`
  const title = `Sources · ${kb.title}`
  return page(visit, {
    title: query.text === undefined ? title : `${query.text} · ${title}`,
    kb,
    main,
    notice,
    islands: isCurator ? ['live-sources', 'upload'] : ['live-sources'],
    scripts: ['htmx.js'],
  })
}

/** The field of words stays in place while the rest is changed by it. */
function wordsIn({ kb, query: { text, status, folder, type } }: SourceList): Html {
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

function chips(visit: Visit, { kb, query, fileTypes, folders }: SourceList): Html {
  const chip = (name: 'status' | 'folder' | 'type', label: string, choices: readonly Choice[]) => {
    const href = (value: string | undefined) => hrefOf(kb.slug, { ...query, cursor: undefined, [name]: value })
    return filterChip({ label, value: query[name], choices: [{ value: '', label: 'Any' }, ...choices], href })
  }
  return html`<div class="filters chips" role="group" aria-label="Filters">
    ${chip('status', 'Status', states)}
    ${
      folders.length > 1 &&
      chip(
        'folder',
        'Folder',
        folders.map((folder) => ({ value: folder, label: folder })),
      )
    }
    ${chip(
      'type',
      'Type',
      fileTypes.map((type) => ({ value: type, label: `.${type}` })),
    )}
    ${
      isFiltered(query) &&
      html`<a class="chip" href="${sourcesPage(kb.slug)}">Clear filters</a>
      ${savedFilter(visit, hrefOf(kb.slug, { ...query, cursor: undefined }))}`
    }
  </div>`
}

function isFiltered({ text, status, folder, type }: SourceListQuery): boolean {
  return [text, status, folder, type].some((filter) => filter !== undefined)
}

function results(visit: Visit, list: SourceList): Html {
  const { kb, query, sources, nextCursor } = list
  if (sources.length === 0)
    return html`<div id="sources" data-live-sources="${kb.slug}">${chips(visit, list)}${emptyState(list)}</div>`
  const isUnfinished = sources.some(({ status }) => status !== 'success' && status !== 'failed')
  return html`<div id="sources" data-live-sources="${kb.slug}">
    ${chips(visit, list)}
    <div class="scroll" tabindex="0" role="group" aria-label="Sources"><table>
      <caption>${query.cursor === undefined ? 'The newest first' : 'Older ones'}</caption>
      <thead><tr><th scope="col">File</th><th scope="col">Status</th><th scope="col">Size</th><th scope="col">Added</th></tr></thead>
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

function emptyState({ kb, query }: SourceList): Html {
  if (isFiltered(query) || query.cursor !== undefined) {
    return html`<p class="empty">No Source fits. <a href="${sourcesPage(kb.slug)}">Show all</a></p>`
  }
  return html`<p class="empty">There are no Sources yet. Upload a document, a sheet, slides, a recording or a picture, and its pages
    wait in the queue or go straight into the knowledge base, as its rules say.</p>`
}

function hrefOf(kbSlug: string, query: SourceListQuery): string {
  return withQuery(sourcesPage(kbSlug), query)
}
