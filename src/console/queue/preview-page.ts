import type { ChatCitation } from '../../contract/chat.ts'
import { candidatePage, kbPage, neuronPage } from '../../contract/console-paths.ts'
import type { Preview } from '../../contract/preview.ts'
import type { SearchHit } from '../../contract/search.ts'
import type { Rendered } from '../../pages/render-page.ts'
import { oneHit } from '../ask/search-page.ts'
import { button, field } from '../layout/form.ts'
import { content, type Html, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'

/** What came of a question. `all`: where the search goes on. */
export type Tried = { rendered: Rendered; citations: readonly ChatCitation[]; hits: readonly SearchHit[]; all: string }

/** Says on each page of a preview what it shows, what it is without, and leads back. */
export function previewBanner({
  candidates,
  conflicts,
  titleOf,
  kb,
  path,
}: Preview & { titleOf: (id: string) => string; kb: PageKb; path: string }): Html {
  const link = (id: string) => html`<a href="${candidatePage(id)}" dir="auto">${titleOf(id)}</a>`
  const left = new Set(conflicts.map(({ candidateId }) => candidateId))
  const laid = candidates.filter((id) => !left.has(id))
  return html`<aside class="notice preview" aria-label="Preview">
    <p><strong>Preview.</strong> ${laid.length === 0 ? html`<bdi>${kb.title}</bdi> is as it is` : html`<bdi>${kb.title}</bdi> as if ${laid.length === 1 ? 'this candidate were' : `these ${laid.length} candidates were`} approved: ${laid.map((id, index) => html`${index > 0 && ', '}${link(id)}`)}`}.
      <a href="${path}">Ask and search</a> · <a href="${candidatePage(candidates[0] ?? '')}">Back to the queue</a> · <a href="${kbPage(kb.slug)}">Leave the preview</a></p>
    ${conflicts.map(({ candidateId, message }) => html`<p class="warning">Left out, since it cannot be approved: ${link(candidateId)}. ${message}</p>`)}
  </aside>`
}

export function tryPage(
  visit: Visit,
  { kb, path, q, tried }: { kb: PageKb; path: string; q: string; tried: Tried | undefined },
): Html {
  const main = html`<h1>Try it</h1>
    <form class="filters" method="get" action="${path}" role="search" aria-label="Try it">
      ${field({ name: 'q', label: 'A question or words', type: 'search', value: q, attributes: { maxlength: 8000, autocomplete: 'off', dir: 'auto', autofocus: q === '' } })}
      ${button('Ask and search')}
    </form>
    <p class="hint">Answers and results are those after the approval. Nothing that you ask here is kept. <a href="${kbPage(kb.slug)}/tree">Read the pages</a></p>
    ${tried && outcome(kb, tried)}`
  return page(visit, { title: `Try it · ${kb.title}`, main, kb })
}

function outcome({ slug }: PageKb, { rendered, citations, hits, all }: Tried): Html {
  return html`<section aria-labelledby="answer-title"><h2 id="answer-title">Answer</h2>
      <div class="answer">${content(rendered)}</div>
      ${citations.length > 0 && html`<ul>${citations.map(({ seqId, title }) => html`<li><a href="${neuronPage(slug, seqId)}"><bdi>${title}</bdi></a> <code>${seqId}</code></li>`)}</ul>`}
    </section>
    <section aria-labelledby="found-title"><h2 id="found-title">Found</h2>
      ${hits.length === 0 ? html`<p class="empty">No page has these words.</p>` : html`<ol class="hits">${hits.map((hit) => oneHit(slug, hit, 'h3'))}</ol>`}
      <p><a href="${all}">Search on</a></p>
    </section>`
}
