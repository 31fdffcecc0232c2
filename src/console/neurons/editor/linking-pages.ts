import { neuronPage } from '../../../contract/console-paths.ts'
import { type Html, html } from '../../layout/html-template.ts'

const perPage = 50

/** A part of the pages that link to one, with links to the other parts. @param hrefOf the address of a part, from 1 */
export function linkingPages(
  kbSlug: string,
  pages: readonly { seqId: string; title: string }[],
  { part, isMore, hrefOf }: { part: number; isMore: boolean; hrefOf: (part: number) => string },
): Html {
  const start = (part - 1) * perPage
  const shown = pages.slice(start, start + perPage)
  const items = shown.map(
    ({ seqId, title }) => html`<li><a href="${neuronPage(kbSlug, seqId)}" dir="auto">${title}</a></li>`,
  )
  const hasNext = start + perPage < pages.length
  const counted = `${start + 1} to ${start + shown.length} of ${isMore ? 'more than ' : ''}${pages.length}`
  return html`<ol class="linking" start="${start + 1}">${items}</ol>
    ${
      pages.length > perPage &&
      html`<nav class="row" aria-label="Pages that link here">
      ${part > 1 && html`<a href="${hrefOf(part - 1)}">Previous</a>`}
      <span>${counted}</span>
      ${hasNext && html`<a href="${hrefOf(part + 1)}">Next</a>`}
    </nav>`
    }`
}
