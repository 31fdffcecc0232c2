import { kbPage } from '../../contract/console-paths.ts'
import { type PersonRole, reaches } from '../../contract/vocabulary.ts'
import type { FirstKbs } from '../../pages/list-knowledge-bases.ts'
import type { Session } from '../../people/person-session.ts'
import { asset, island } from './asset.ts'
import { form } from './form.ts'
import { type Html, type HtmlPart, html, icon } from './html-template.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Knowledge bases of the tenant, for the sidebar. */
    knowledgeBases: FirstKbs | undefined
    /** Banner of a page that shows a preview. */
    previewBanner: Html | undefined
  }
}

export type Visit = {
  session: Session
  path: string
  /** Token that proves that a form came from a page of this server. */
  formToken: string
  /** Nonce that permits styles created by a script of the page, as CodeMirror does. */
  styleNonce: () => string
  knowledgeBases?: FirstKbs | undefined
  previewBanner?: Html | undefined
}

export type PageKb = { slug: string; title: string }

type PageOptions = {
  /** Title of the document, most specific words first. */
  title: string
  /** Main content, with the page's one `h1`. */
  main: HtmlPart
  kb?: PageKb | undefined
  /** Tree of pages in the sidebar, below the links of the knowledge base. */
  rail?: HtmlPart
  /** Result of the last action, announced to screen readers. */
  notice?: HtmlPart
  /** Modules of `islands/` that the page loads. */
  islands?: readonly string[]
  /** True if the islands use CodeMirror, which creates styles. */
  hasCode?: boolean
  /** Further assets that are plain scripts. */
  scripts?: readonly string[]
}

/**
 * Place in the sidebar. `holds`: where its pages are, if not below its own path. Without a place, the path is that of a single page.
 * `group`: places that are listed below it while one of them is open, its own first.
 */
type Link = {
  href: string
  label: string
  icon: string
  least?: PersonRole
  holds?: readonly string[]
  group?: readonly Omit<Link, 'group'>[]
}

const places: readonly Link[] = [
  { href: '/', label: 'Home', icon: 'house', holds: [] },
  { href: '/queue', label: 'Queue', icon: 'inbox', least: 'curator' },
  { href: '/activity', label: 'Activity', icon: 'activity' },
  { href: '/settings', label: 'Settings', icon: 'settings', least: 'admin' },
]

const placesOfKb = (slug: string): readonly Link[] => {
  const base = kbPage(slug)
  return [
    { href: base, label: 'Overview', icon: 'book-open', holds: [] },
    {
      ...{ href: `${base}/tree`, label: 'Pages', icon: 'files' },
      group: [
        { href: `${base}/tree`, label: 'Folders', icon: 'files', holds: [`${base}/tree`, `${base}/neurons`] },
        { href: `${base}/tags`, label: 'Tags', icon: 'tags' },
        { href: `${base}/graph`, label: 'Graph', icon: 'waypoints' },
      ],
    },
    { href: `${base}/chat`, label: 'Ask', icon: 'message-circle' },
    { href: `${base}/sources`, label: 'Sources', icon: 'file-text' },
    {
      ...{ href: `${base}/findings`, label: 'Quality', icon: 'triangle-alert', least: 'curator' },
      group: [
        { href: `${base}/findings`, label: 'Findings', icon: 'triangle-alert' },
        { href: `${base}/questions`, label: 'Questions', icon: 'search' },
        { href: `${base}/tests`, label: 'Answer tests', icon: 'check' },
        { href: `${base}/stale`, label: 'Pages to look at again', icon: 'history' },
      ],
    },
    { href: `${base}/sites`, label: 'Sites', icon: 'code', least: 'curator' },
    { href: `${base}/new`, label: 'New page', icon: 'plus', least: 'curator' },
    { href: `${base}/settings`, label: 'Settings', icon: 'settings', least: 'admin' },
  ]
}

/** Maximum knowledge bases in the sidebar; the start page lists all. */
export const maxListed = 12

export function page(visit: Visit, { kb, main, notice, rail, hasCode, ...head }: PageOptions): Html {
  const styleNonce = hasCode === true ? visit.styleNonce() : undefined
  return html`${top({ ...head, styleNonce, islands: ['palette', ...(head.islands ?? [])] })}
    <header class="bar">
      <button type="button" class="quiet menu" popovertarget="rail" aria-label="Menu">${icon('menu')}</button>
      <a class="brand" href="/">Ganglion</a>
      <form class="find" action="${kb === undefined ? '/search' : `${kbPage(kb.slug)}/search`}" role="search">
        <label class="unseen" for="find">Search</label>
        ${icon('search')}<input type="search" id="find" name="q" placeholder="Search${kb && ` ${kb.title}`}" autocomplete="off">
        <a class="palette" href="/search" data-palette title="Jump to… (Ctrl+K)"><span class="unseen">Jump to…</span><kbd aria-hidden="true">Ctrl K</kbd></a>
      </form>
      ${account(visit)}
    </header>
    <div class="frame">
      <div class="rail" id="rail" popover>
        ${navigation('Main', places, visit)}
        ${savedFilters(visit)}
        ${kb && html`<div class="of-kb">${navigation(`Knowledge base ${kb.title}`, placesOfKb(kb.slug), { ...visit, name: kb.title })}${rail}</div>`}
        ${otherKbs(visit, kb)}
      </div>
      <div class="stage">
        <main id="main" tabindex="-1">
          ${visit.previewBanner}
          <div class="notices" role="status" aria-live="polite">${notice && html`<div class="notice">${notice}</div>`}</div>
          ${main}
        </main>
        <footer class="foot"><a href="/docs">API reference</a> <span>${visit.session.tenant.slug}</span></footer>
      </div>
    </div>
  </body></html>`
}

export function barePage({ main, ...head }: Pick<PageOptions, 'title' | 'main' | 'islands'>): Html {
  return html`${top(head)}
    <header class="bar"><a class="brand" href="/">Ganglion</a></header>
    <main id="main" class="narrow" tabindex="-1">${main}</main>
  </body></html>`
}

function top({
  title,
  styleNonce,
  islands = [],
  scripts = [],
}: Pick<PageOptions, 'title' | 'islands' | 'scripts'> & { styleNonce?: string | undefined }): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="htmx-config" content="includeIndicatorCSS:false, history:false">
    <title>${title} · Ganglion</title>
    <link rel="icon" href="${asset('layout/icon.svg')}" type="image/svg+xml">
    <link rel="stylesheet" href="${asset('console.css')}"${styleNonce !== undefined && html` nonce="${styleNonce}"`}>
    ${scripts.map((name) => html`<script src="${asset(name)}" defer></script>`)}
    ${['busy', ...islands].map((name) => html`<script type="module" src="${island(name)}"></script>`)}
  </head>
  <body>
    <a class="skip" href="#main">Skip to content</a>`
}

function navigation(
  label: string,
  links: readonly Link[],
  { session: { role }, path, name }: Pick<Visit, 'session' | 'path'> & { name?: string },
): Html {
  const [here = path] = path.split('?')
  const shown = links.filter(({ least = 'reader' }) => reaches(role, least))
  const isHere = ({ href, holds = [href] }: Link) => here === href || holds.some((path) => here.startsWith(`${path}/`))
  const item = (link: Link): Html => {
    const open = link.group?.some(isHere) ? link.group : undefined
    return html`<li><a href="${link.href}"${open === undefined && isHere(link) && html` aria-current="page"`}>${icon(link.icon)} ${link.label}</a>
      ${open && html`<ul class="group">${open.map(item)}</ul>`}</li>`
  }
  return html`<nav aria-label="${label}">${name !== undefined && html`<strong class="rail-title" dir="auto">${name}</strong>`}<ul>
    ${shown.map(item)}
  </ul></nav>`
}

function savedFilters({ session: { filters }, path }: Visit): Html | undefined {
  if (filters.length === 0) return undefined
  return html`<nav aria-label="Saved filters"><strong class="rail-title">Saved filters</strong><ul>
    ${filters.map((filter) => html`<li><a href="${filter.path}"${filter.path === path && html` aria-current="page"`}>${icon('bookmark')} <bdi>${filter.name}</bdi></a></li>`)}
  </ul></nav>`
}

function otherKbs({ knowledgeBases }: Visit, kb: PageKb | undefined): Html | undefined {
  const { labels, total } = knowledgeBases ?? { labels: [], total: 0 }
  const others = labels.filter(({ slug }) => slug !== kb?.slug)
  if (others.length === 0) return undefined
  return html`<nav aria-label="Knowledge bases"><strong class="rail-title">${kb === undefined ? 'Knowledge bases' : 'Others'}</strong><ul>
    ${others.slice(0, maxListed).map(({ slug, title }) => html`<li><a href="${kbPage(slug)}">${icon('library')} <bdi>${title}</bdi></a></li>`)}
    ${others.length > maxListed && html`<li><a href="/">All ${total}</a></li>`}
  </ul></nav>`
}

function account(visit: Visit): Html {
  const { user } = visit.session
  return html`<div class="account">
    <button type="button" class="quiet" popovertarget="account">${icon('user')} <bdi>${user.name}</bdi></button>
    <div class="menu-list" id="account" popover>
      <a href="/account">Your account</a>
      ${form(visit, { action: '/sign-out' }, html`<button class="quiet" type="submit">${icon('log-out')} Sign out</button>`)}
    </div>
  </div>`
}
