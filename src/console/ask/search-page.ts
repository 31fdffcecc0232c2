import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { kbPage, neuronPage, sourcePage } from '../../contract/console-paths.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { KbId } from '../../contract/identifiers.ts'
import { exceedsFolded, maxQuery, type SearchHit } from '../../contract/search.ts'
import { describeKb, listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { noteQuestion } from '../../search/kb/question-log.ts'
import { type HitPage, type KbHits, searchEverywhere, searchPages } from '../../search/kb/search-pages.ts'
import { button, type Choice, controlsOf, type FormErrors } from '../layout/form.ts'
import { type Html, type HtmlPart, html, trusted } from '../layout/html-template.ts'
import { savedFilter, turnPages } from '../layout/list-parts.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import {
  type ConsoleRequest,
  consolePages,
  countField,
  isFragment,
  KbParams,
  type PageAnswer,
  withQuery,
} from '../layout/page-routes.ts'
import { type SearchAsked, searchPath } from './search-path.ts'

const SearchQuery = z.object({
  q: z.string().default(''),
  kind: z.enum(['all', 'wiki', 'source']).default('all'),
  tag: z.string().max(200).default(''),
  page: countField(4).default(1),
  total: z.coerce.number().int().min(0).default(0),
})
const AllQuery = SearchQuery.extend({ kb: z.union([KbId, z.literal('')]).default('') })
type SearchView = {
  /** Knowledge base that is searched; undefined for all. */
  kb: PageKb | undefined
  asked: SearchAsked
  knowledgeBases: readonly PageKb[]
  found: ShownResults | undefined
  errors?: FormErrors | undefined
}

type ShownResults = { in: 'one'; kb: PageKb; hits: HitPage } | { in: 'all'; hits: readonly KbHits[] }

/** Maximum number of tags, and of folders, that a search can be narrowed to in one step. */
const maxFacets = 8

const kinds: readonly Choice[] = [
  ['all', 'Pages and Sources'],
  ['wiki', 'Pages'],
  ['source', 'Sources'],
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

export const searchPageRoutes = consolePages({}, (pages, ctx) => {
  pages.get('/search', { query: AllQuery }, (sent) => {
    const { kb, tag: _, ...asked } = sent.query
    if (kb !== '' && !isFragment(sent.request)) return sent.reply.redirect(searchPath(kb, asked))
    return search(sent, kb === '' ? undefined : kb, asked)
  })

  pages.get('/kb/:kb/search', { params: KbParams, query: SearchQuery }, (sent) => {
    const { tag, ...asked } = sent.query
    return search(sent, sent.params.kb, { ...asked, ...(tag === '' ? {} : { tag }) })
  })

  // Logs a query that was typed and then left for a while; the results page sends this request.
  const counted = { params: KbParams, query: SearchQuery.pick({ q: true, total: true }) }
  pages.get('/kb/:kb/search/asked', counted, async ({ request, reply, caller, params, query: { q, total } }) => {
    // A page of another site cannot send this header.
    if (isFragment(request)) await noteSearch(ctx, caller, params.kb, q, total)
    return reply.status(204).send()
  })

  async function search(
    { request, visit, caller }: ConsoleRequest,
    kbName: string | undefined,
    asked: SearchAsked,
  ): Promise<PageAnswer> {
    const [kb, { knowledgeBases }] = await Promise.all([
      kbName === undefined ? undefined : describeKb(ctx, caller, kbName),
      kbName === undefined ? listKnowledgeBases(ctx, caller) : { knowledgeBases: [] },
    ])
    const answer = (found: ShownResults | undefined, problem?: { status: number; message: string }) => {
      const errors = problem && { fieldErrors: { q: [problem.message] } }
      const view = { kb, asked, knowledgeBases, found, errors }
      const shown = isFragment(request) ? searchFragment(visit, view) : searchPage(visit, view)
      return { page: shown, status: problem?.status ?? 200 }
    }
    const q = asked.q.trim()
    if (q === '') return answer(undefined)
    try {
      if (q.length > maxQuery || exceedsFolded(q, maxQuery))
        throw new ValidationError({ q: [`At most ${maxQuery} characters.`] })
      const { kind, tag, page = 1 } = asked
      const query = { q, kind, isTyping: isFragment(request) }
      if (kb === undefined) return answer({ in: 'all', hits: await searchEverywhere(ctx, caller, query) })
      const hits = await searchPages(ctx, caller, kb.slug, { ...query, page, ...(tag === undefined ? {} : { tag }) })
      if (page === 1 && !isFragment(request) && hits.behind === undefined)
        await noteSearch(ctx, caller, kb.slug, q, hits.total)
      return answer({ in: 'one', kb, hits })
    } catch (error) {
      return answer(undefined, problemOf(error))
    }
  }
})

async function noteSearch(ctx: AppContext, caller: Caller, kb: string, q: string, total: number): Promise<void> {
  const counts = { asked: 1, empty: total === 0 ? 1 : 0 }
  await noteQuestion(ctx, caller, await ctx.readableKb(caller.tenantId, kb), q, counts)
}

/** Returns a message if the person can correct the error; throws any other error. */
function problemOf(error: unknown): { status: number; message: string } {
  if (error instanceof ValidationError && error.fieldErrors.q !== undefined) {
    return { status: 400, message: error.fieldErrors.q.join(' ') }
  }
  if (error instanceof GanglionError && error.status === 503) return { status: 503, message: error.message }
  throw error
}

function searchPage(visit: Visit, view: SearchView): Html {
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
  const { text, select } = controlsOf({ q: asked.q, kind: asked.kind, tag: asked.tag }, errors)
  return html`<form id="search" class="filters" method="get" action="${path}" role="search" aria-label="Search"
    hx-get="${path}" hx-target="#results" hx-trigger="input delay:250ms, submit" hx-sync="this:replace">
    ${text('q', 'Words', {
      hint: html`<span class="with-scripts"><kbd>/</kbd> leads here, <kbd>↓</kbd> to what is found.</span>`,
      ...{ type: 'search', maxlength: 512, autocomplete: 'off', dir: 'auto' },
    })}
    ${select('kind', 'Look in', kinds)}
    ${
      kb === undefined
        ? select('kb', 'Knowledge base', [
            ['', 'All'],
            ...knowledgeBases.map(({ slug, title }): Choice => [slug, title]),
          ])
        : text('tag', 'With the tag', { maxlength: 200 })
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
  const href = (page: number) => searchPath(kb.slug, { ...asked, page })
  return html`${behind}${didYouMean(kb, asked, hits.suggestion)}
    ${hits.matched === 'some' && html`<p class="hint">No page has all of it. These have some of it, most words first.</p>`}
    <ol class="hits" start="${(hits.page - 1) * 20 + 1}">${hits.hits.map((hit) => oneHit(kb.slug, hit, 'h2', asked.q))}</ol>
    ${turnPages({ label: 'Pages of hits', page: hits.page, pages: hits.pages, href })}
    ${narrowing(kb, asked, hits.facets)}`
}

function behindNotice(behind: HitPage['behind']): Html | undefined {
  return behind && html`<p class="hint" role="status">The search index is being built: pages can be missing.</p>`
}

/** Renders links that add a filter to the query, for tags and folders that many of the results have. */
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
  // A highlight is escaped text with marks only.
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

function queryHelp(): Html {
  return html`<details class="query-help"><summary>How to search</summary>
    <table><thead><tr><th scope="col">Write</th><th scope="col">To find</th></tr></thead>
      <tbody>${queryExamples.map(([query, meaning]) => html`<tr><td><code>${query}</code></td><td>${meaning}</td></tr>`)}</tbody></table>
    <p class="hint">Titles, texts, tags, file names and numbers such as handbook_00000042 are searched.</p></details>`
}
