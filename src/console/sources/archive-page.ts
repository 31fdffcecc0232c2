import { sourcePage } from '../../contract/console-paths.ts'
import type { SourceDetail } from '../../contract/documents.ts'
import { button, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'

export function archivePage(visit: Visit, { kb, source }: { kb: PageKb; source: SourceDetail }): Html {
  const { id, filename } = source
  const path = sourcePage(kb.slug, id)
  const main = html`<h1>Archive <bdi>${filename}</bdi>?</h1>
    <p>It leaves the list and the search. The pages that were made of it stay, and so do the links to it. An ingest that waits is called off.</p>
    <p>It cannot be taken back, but the same file may be uploaded again.</p>
    ${form(visit, { action: `${path}/archive` }, html`<div class="row">${button('Archive', { class: 'danger' })}<a href="${path}">Keep it</a></div>`)}`
  return page(visit, { title: `Archive ${filename} · ${kb.title}`, kb, main })
}
