import { kbPage, neuronPage, sourcePage } from '../../contract/console-paths.ts'
import type { SearchHit } from '../../contract/search.ts'
import type { HitPage, KbHits } from '../../search/kb/search-pages.ts'
import { button, type FormErrors, field, selectField } from '../layout/form.ts'
import { type Html, type HtmlPart, html, trusted } from '../layout/html-template.ts'
import { savedFilter } from '../layout/list-parts.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-query.ts'
import { type SearchAsked, searchPath } from './ask-paths.ts'

export type SearchView = {
  /** Undefined: all knowledge bases. */
  kb: PageKb | undefined
  asked: SearchAsked
  /** Knowledge bases that the form offers. */
  knowledgeBases: readonly PageKb[]
  found: ShownResults | undefined
  /** Errors of the query. */
  errors?: FormErrors | undefined
}

/** Results of a search in one knowledge base, or in all. */
export type ShownResults = { in: 'one'; kb: PageKb; hits: HitPage } | { in: 'all'; hits: readonly KbHits[] }

/** Tags that a search can be narrowed to in one step, and folders. */
const maxFacets = 8

const kinds = [
  { value: 'all', label: 'Pages and Sources' },
  { value: 'wiki', label: 'Pages' },
  { value: 'source', label: 'Sources' },
]
const queryExamples = [
  ['vip escalation', 'both words, in any order and inflection'],
  ['"page the lead"', 'these words one after the other'],
  ['lead OR manager', 'either'],
  ['escal*', 'words that begin so'],
  ['ticket -vip', 'without a word; NOT vip means the same'],
  ['ticket tag:policy', 'with a tag; also path:guides, title:vip, kind:source'],
  ['ticket after:2026-05', 'changed in May 2026 or later; before:2026 is earlier'],
] as const

export function searchPage(visit: Visit, view: SearchView): Html {
  const { kb, asked } = view
  const main = html`<h1>Search${kb === undefined && ' all knowledge bases'}</h1>
    ${searchForm(view)}
    <p id="search-count" role="status">${countOf(view)}</p>
    <div id="results">${results(visit, view)}</div>
    ${queryHelp()}`
  const title = kb === undefined ? 'Search' : `Search · ${kb.title}`
  return page(visit, {
    title: asked.q === '' ? title : `${asked.q} · ${title}`,
    kb,
    main,
    islands: ['search'],
    scripts: ['htmx.js'],
  })
}

/** Renders the parts of the page that depend on the query. */
export function searchFragment(visit: Visit, view: SearchView): Html {
  const { asked, found, kb } = view
  const counting =
    found?.in === 'one' &&
    found.hits.behind === undefined &&
    kb &&
    html`<span hidden hx-get="${withQuery(`${kbPage(kb.slug)}/search/asked`, { q: asked.q, total: found.hits.total })}" hx-trigger="load delay:2s" hx-swap="none"></span>`
  return html`<p id="search-count" hx-swap-oob="innerHTML">${countOf(view)}</p>${results(visit, view)}${counting}`
}

function searchForm({ kb, asked, knowledgeBases, errors }: SearchView): Html {
  const path = searchPath(kb?.slug)
  const choices = [
    { value: '', label: 'All' },
    ...knowledgeBases.map(({ slug, title }) => ({ value: slug, label: title })),
  ]
  return html`<form id="search" class="filters" method="get" action="${path}" role="search" aria-label="Search"
    hx-get="${path}" hx-target="#results" hx-trigger="input delay:250ms, submit" hx-sync="this:replace">
    ${field({
      ...{ name: 'q', label: 'Words', type: 'search', value: asked.q, errors },
      hint: html`<span class="with-scripts"><kbd>/</kbd> leads here, <kbd>↓</kbd> to what is found.</span>`,
      attributes: { maxlength: 512, autocomplete: 'off', dir: 'auto' },
    })}
    ${selectField({ name: 'kind', label: 'Look in', value: asked.kind, choices: kinds })}
    ${
      kb === undefined
        ? selectField({ name: 'kb', label: 'Knowledge base', value: '', choices })
        : field({ name: 'tag', label: 'With the tag', value: asked.tag, attributes: { maxlength: 200 } })
    }
    ${button('Search')}
    ${kb !== undefined && html`<a href="${searchPath(undefined, { ...asked, tag: undefined })}" data-search-all>Search all knowledge bases</a>`}
  </form>`
}

function countOf({ asked, found, errors }: SearchView): string {
  if (errors !== undefined) return errors.fieldErrors?.q?.join(' ') ?? ''
  if (found === undefined) return ''
  const total = found.in === 'one' ? found.hits.total : found.hits.reduce((sum, { total }) => sum + total, 0)
  const amount = total === 0 ? 'Nothing found' : `${total} found`
  return `${amount} for “${asked.q}”.`
}

function results(visit: Visit, { kb, asked, found }: SearchView): HtmlPart {
  if (found === undefined) return undefined
  const path = searchPath(kb?.slug, { ...asked, page: undefined })
  return html`<div class="chips">${savedFilter(visit, path)}</div>${hitsOf(asked, found)}`
}

function hitsOf(asked: SearchAsked, found: ShownResults): Html {
  if (found.in === 'all') return inAll(asked, found.hits)
  const { kb, hits } = found
  const behind = behindNotice(hits.behind)
  if (hits.total === 0 && behind)
    return html`${behind}<p class="empty">Nothing is found yet. Search again in a moment.</p>`
  if (hits.total === 0) return html`${nothingFound(kb, asked, hits.suggestion)}`
  return html`${behind}${didYouMean(kb, asked, hits.suggestion)}
    ${hits.matched === 'some' && html`<p class="hint">No page has all of it. These have some of it, most words first.</p>`}
    <ol class="hits" start="${(hits.page - 1) * 20 + 1}">${hits.hits.map((hit) => oneHit(kb.slug, hit, 'h2', asked.q))}</ol>
    ${turnPages(kb.slug, asked, hits)}
    ${narrowing(kb, asked, hits.facets)}`
}

function behindNotice(behind: HitPage['behind']): Html | undefined {
  return behind && html`<p class="hint" role="status">The search index is being built: pages can be missing.</p>`
}

/** Links to the same query with a filter more, for what many of the pages have. */
function narrowing(kb: PageKb, asked: SearchAsked, facets: HitPage['facets']): Html | undefined {
  if (facets === undefined) return undefined
  const links = [
    ...facets.tags
      .slice(0, maxFacets)
      .map((facet) => ({ ...facet, label: `#${facet.value}`, filter: `tag:"${facet.value}"` })),
    ...facets.folders
      .filter(({ value }) => value !== '')
      .slice(0, maxFacets)
      .map((facet) => ({ ...facet, label: `${facet.value}/`, filter: `path:"/${facet.value}/"` })),
  ]
  if (links.length === 0) return undefined
  const href = (filter: string) => searchPath(kb.slug, { ...asked, q: `${asked.q} ${filter}`, page: undefined })
  return html`<nav class="facets" aria-label="Narrow the search"><h2>Narrow</h2>
    <ul>${links.map(({ label, filter, count }) => html`<li><a href="${href(filter)}"><bdi>${label}</bdi></a> ${count}</li>`)}</ul></nav>`
}

function inAll(asked: SearchAsked, found: readonly KbHits[]): Html {
  if (found.length === 0) return html`<p class="empty">Try fewer or other words.</p>`
  return html`${found.map(
    ({ kb, hits, total, isUnavailable, behind }) => html`<section class="of-kb">
      <h2><bdi>${kb.title}</bdi></h2>
      ${behindNotice(behind)}
      ${isUnavailable && html`<p class="warning">It cannot be searched right now. Try again in a moment.</p>`}
      <ol class="hits">${hits.map((hit) => oneHit(kb.slug, hit, 'h3'))}</ol>
      ${total > hits.length && html`<p><a href="${searchPath(kb.slug, asked)}">All ${total} in <bdi>${kb.title}</bdi></a></p>`}
    </section>`,
  )}`
}

export function oneHit(
  kbSlug: string,
  { id, seqId, title, filename, path, highlight, pinned }: SearchHit,
  heading: 'h2' | 'h3',
  question?: string,
): Html {
  const href = seqId === null ? sourcePage(kbSlug, id) : withQuery(neuronPage(kbSlug, seqId), { for: question })
  const link = html`<a href="${href}"><bdi>${title ?? filename}</bdi></a>`
  const kind = [
    seqId === null && html` <span class="badge">Source</span>`,
    pinned && html` <span class="badge">Pinned</span>`,
  ]
  const place = seqId === null ? path : path.replace(/^neurons\//, '')
  // A highlight is text that was escaped, with marks and nothing else.
  return html`<li>${heading === 'h2' ? html`<h2>${link}${kind}</h2>` : html`<h3>${link}${kind}</h3>`}
    <p class="hint"><bdi>${place}</bdi></p><p dir="auto">${trusted(highlight)}</p></li>`
}

function nothingFound(kb: PageKb, asked: SearchAsked, suggestion: string | undefined): Html {
  return html`${didYouMean(kb, asked, suggestion)}
    <p class="empty">Try fewer or other words${(asked.tag !== undefined || asked.kind !== 'all') && ', or without the filters'}.
    <a href="${searchPath(undefined, { ...asked, tag: undefined })}">Search all knowledge bases</a></p>`
}

function didYouMean(kb: PageKb, asked: SearchAsked, suggestion: string | undefined): Html | undefined {
  if (suggestion === undefined) return undefined
  const href = searchPath(kb.slug, { ...asked, q: suggestion, page: undefined })
  return html`<p>Did you mean <a href="${href}"><bdi>${suggestion}</bdi></a>?</p>`
}

function turnPages(kbSlug: string, asked: SearchAsked, { page, pages }: HitPage): Html | undefined {
  if (pages < 2) return undefined
  const to = (number: number) => searchPath(kbSlug, { ...asked, page: number })
  return html`<nav class="row" aria-label="Pages of hits">
    ${page > 1 && html`<a rel="prev" href="${to(page - 1)}">Before</a>`}
    <span>Page ${page} of ${pages}</span>
    ${page < pages && html`<a rel="next" href="${to(page + 1)}">Next</a>`}
  </nav>`
}

function queryHelp(): Html {
  return html`<details class="query-help"><summary>How to search</summary>
    <table><thead><tr><th scope="col">Write</th><th scope="col">To find</th></tr></thead>
      <tbody>${queryExamples.map(([query, meaning]) => html`<tr><td><code>${query}</code></td><td>${meaning}</td></tr>`)}</tbody></table>
    <p class="hint">Titles, texts, tags, file names and numbers such as handbook_00000042 are searched.</p></details>`
}
