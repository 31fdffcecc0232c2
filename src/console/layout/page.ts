import { kbPage } from '../../contract/console-paths.ts'
import { type PersonRole, reaches } from '../../contract/vocabulary.ts'
import { asset, island } from './asset.ts'
import { form } from './form.ts'
import { type Html, type HtmlPart, html } from './html-template.ts'
import type { Visit } from './visit.ts'

/** The knowledge base that a page is of. */
export type PageKb = { slug: string; title: string }

type PageOptions = {
  /** Of the document, the most telling words first. */
  title: string
  /** Holds the page's one `h1`. */
  main: HtmlPart
  kb?: PageKb | undefined
  /** What has just happened, read out to those who cannot see it. */
  notice?: HtmlPart
  /** Modules of `islands/` that the page loads. */
  islands?: readonly string[]
  /** Whether they use CodeMirror, which makes styles. */
  hasCode?: boolean
  /** Assets beside them that are plain scripts. */
  scripts?: readonly string[]
}

/** `holds`: where the pages of the place are, if not below its own path; of a place without, the path is one page. */
type Link = { href: string; label: string; least?: PersonRole; holds?: readonly string[] }

const places: readonly Link[] = [
  { href: '/', label: 'Home', holds: [] },
  { href: '/queue', label: 'Queue', least: 'curator' },
  { href: '/activity', label: 'Activity' },
  { href: '/settings', label: 'Settings', least: 'admin' },
]

const placesOfKb = (slug: string): readonly Link[] => {
  const base = kbPage(slug)
  return [
    { href: base, label: 'Overview', holds: [] },
    { href: `${base}/tree`, label: 'Pages', holds: [`${base}/neurons`] },
    { href: `${base}/tags`, label: 'Tags' },
    { href: `${base}/graph`, label: 'Graph' },
    { href: `${base}/search`, label: 'Search' },
    { href: `${base}/chat`, label: 'Ask' },
    { href: `${base}/sources`, label: 'Sources' },
    { href: `${base}/findings`, label: 'Findings', least: 'curator' },
    { href: `${base}/new`, label: 'New page', least: 'curator' },
    { href: `${base}/settings`, label: 'Settings', least: 'admin' },
  ]
}

/** A whole page, in the frame that all pages for signed-in people share. */
export function page(visit: Visit, { kb, main, notice, hasCode, ...head }: PageOptions): Html {
  const { session } = visit
  const styleNonce = hasCode === true ? visit.styleNonce() : undefined
  return html`${top({ ...head, styleNonce, islands: ['palette', ...(head.islands ?? [])] })}
    <header class="bar">
      <a class="brand" href="/">Ganglion</a>
      ${navigation('Main', places, visit)}
      <form class="find" action="${kb === undefined ? '/search' : `${kbPage(kb.slug)}/search`}" role="search">
        <label class="unseen" for="find">Search</label>
        <input type="search" id="find" name="q" placeholder="Search" autocomplete="off">
        <a class="palette" href="/search" data-palette title="Jump to… (Ctrl+K)">Jump to…</a>
      </form>
      ${account(visit)}
    </header>
    ${kb && html`<div class="bar of-kb">${navigation(`Knowledge base ${kb.title}`, placesOfKb(kb.slug), { ...visit, name: kb.title })}</div>`}
    <main id="main" tabindex="-1">
      <div class="notices" role="status" aria-live="polite">${notice && html`<div class="notice">${notice}</div>`}</div>
      ${main}
    </main>
    <footer class="foot"><a href="/docs">API reference</a> <span>${session.tenant.slug}</span></footer>
  </body></html>`
}

/** A page outside the frame, as for those who have not signed in. */
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
    <script src="${asset('htmx.js')}" defer></script>
    ${scripts.map((name) => html`<script src="${asset(name)}" defer></script>`)}
    ${islands.map((name) => html`<script type="module" src="${island(name)}"></script>`)}
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
  const current = shown.find(({ href, holds = [href] }) => {
    return here === href || holds.some((path) => here.startsWith(`${path}/`))
  })
  return html`<nav aria-label="${label}">${name !== undefined && html`<strong dir="auto">${name}</strong>`}<ul>
    ${shown.map((link) => html`<li><a href="${link.href}"${link === current && html` aria-current="page"`}>${link.label}</a></li>`)}
  </ul></nav>`
}

function account(visit: Visit): Html {
  const { user } = visit.session
  return html`<div class="account">
    <a href="/account" dir="auto">${user.name}</a>
    ${form(visit, { action: '/sign-out' }, html`<button class="quiet" type="submit">Sign out</button>`)}
  </div>`
}
