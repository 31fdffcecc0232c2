import { kbPage, neuronPage, tagPage } from '../../contract/console-paths.ts'
import type { NeuronPage } from '../../contract/neurons.ts'
import type { TagPage } from '../../pages/read-tags.ts'
import { field } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { type PageKb, page } from '../layout/page.ts'
import type { Visit } from '../layout/visit.ts'
import { when } from '../layout/when.ts'

export function tagsPage(visit: Visit, { kb, tags, total, page: number, pages }: TagPage, q: string): Html {
  const path = `${kbPage(kb.slug)}/tags`
  const at = (to: number) => `${path}?${new URLSearchParams({ ...(q === '' ? {} : { q }), page: String(to) })}`
  const main = html`
    <h1>Tags</h1>
    <form action="${path}" method="get" role="search" aria-label="Tags">
      ${field({ name: 'q', label: 'Tags that hold', value: q, type: 'search' })}
      <p><button class="second" type="submit">Show</button></p>
    </form>
    ${
      total === 0
        ? html`<p class="empty">${q === '' ? 'No page has a tag yet.' : 'No tag holds this.'}</p>`
        : html`<ul class="tags">${tags.map(
            ({ tag, count }) =>
              html`<li><a class="badge" href="${tagPage(kb.slug, tag)}"><bdi>${tag}</bdi> <span class="tally">${count}<span class="unseen"> ${count === 1 ? 'page' : 'pages'}</span></span></a></li>`,
          )}</ul>`
    }
    ${
      pages > 1 &&
      html`<nav aria-label="Pages of tags"><p class="row">${number > 1 && html`<a href="${at(number - 1)}" rel="prev">Before</a>`}
        Page ${number} of ${pages} ${number < pages && html`<a href="${at(number + 1)}" rel="next">More</a>`}</p></nav>`
    }`
  return page(visit, { title: 'Tags', main, kb })
}

export function taggedPage(visit: Visit, kb: PageKb, tag: string, { neurons, nextCursor }: NeuronPage): Html {
  const main = html`
    <p class="crumbs"><a href="${kbPage(kb.slug)}/tags">Tags</a></p>
    <h1>Pages tagged <bdi>${tag}</bdi></h1>
    ${
      neurons.length === 0
        ? html`<p class="empty">No page has this tag.</p>`
        : html`<ul class="tree">${neurons.map(
            ({ seqId, title, updatedAt }) =>
              html`<li><a href="${neuronPage(kb.slug, seqId)}" dir="auto">${title}</a> <span class="hint">${when(updatedAt)}</span></li>`,
          )}</ul>`
    }
    ${nextCursor !== null && html`<p><a href="${tagPage(kb.slug, tag)}&amp;cursor=${encodeURIComponent(nextCursor)}" rel="next">More</a></p>`}`
  return page(visit, { title: `Tag ${tag}`, main, kb })
}
