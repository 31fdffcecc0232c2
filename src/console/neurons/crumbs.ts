import { treePage } from '../../contract/console-paths.ts'
import { type Html, html } from '../layout/html-template.ts'
import type { PageKb } from '../layout/page.ts'

/** The way to a page or folder: the knowledge base, and the folders around it, each a link. */
export function crumbs(kb: PageKb, folders: readonly string[]): Html {
  return html`<nav class="crumbs" aria-label="Folders"><ol>
    <li><a href="${treePage(kb.slug, '')}" dir="auto">${kb.title}</a></li>
    ${folders.map(
      (name, at) =>
        html`<li><a href="${treePage(kb.slug, folders.slice(0, at + 1).join('/'))}" dir="auto">${name}</a></li>`,
    )}
  </ol></nav>`
}
