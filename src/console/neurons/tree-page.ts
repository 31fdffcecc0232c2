import { neuronPage, treePage } from '../../contract/console-paths.ts'
import type { TreePage } from '../../pages/read-tree.ts'
import { type Html, html } from '../layout/html-template.ts'
import { icon } from '../layout/icon.ts'
import { page } from '../layout/page.ts'
import type { Visit } from '../layout/visit.ts'
import { crumbs } from './crumbs.ts'

export function folderPage(visit: Visit, { kb, folder, entries, nextCursor }: TreePage, rail: Html): Html {
  const name = folder === '' ? 'Pages' : folder.slice(folder.lastIndexOf('/') + 1)
  const main = html`
    ${crumbs(kb, folder === '' ? [] : folder.split('/').slice(0, -1))}
    <h1 dir="auto">${name}</h1>
    ${
      entries.length === 0
        ? html`<p class="empty">There are no pages yet. They come from Sources, imports and proposals.</p>`
        : html`<ul class="tree">${entries.map((entry) =>
            entry.kind === 'folder'
              ? html`<li class="folder"><a href="${treePage(kb.slug, entry.path)}">${icon('folder')} <bdi>${entry.name}</bdi></a> <span class="unseen">folder</span></li>`
              : html`<li><a href="${neuronPage(kb.slug, entry.seqId)}">${icon('file-text')} <bdi>${entry.title}</bdi></a> <span class="hint"><bdi>${entry.name}</bdi></span></li>`,
          )}</ul>`
    }
    ${nextCursor !== null && html`<p><a href="${more(kb.slug, folder, nextCursor)}" rel="next">More</a></p>`}`
  return page(visit, { title: name, main, kb, rail })
}

function more(kbSlug: string, folder: string, cursor: string): string {
  const path = treePage(kbSlug, folder)
  return `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
}
