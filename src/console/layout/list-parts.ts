import { button, type Choice, form, hidden, postButton } from './form.ts'
import { type Attributes, attributes, type Html, type HtmlPart, html, icon } from './html-template.ts'
import type { Visit } from './page.ts'

type TableOptions = {
  caption?: HtmlPart
  class?: 'wide' | 'fields' | 'work'
  /** Number of columns, at the end, that hold numbers. */
  numbers?: number
  /** Sentence in place of a table without rows. */
  empty?: string
}

/** Renders a table that scrolls by itself where it is too wide. @param rows the cells of each row */
export function dataTable(
  label: string,
  headings: readonly HtmlPart[],
  rows: readonly Html[],
  { caption, class: look, numbers = 0, empty }: TableOptions = {},
): Html {
  if (rows.length === 0 && empty !== undefined) return html`<p class="empty">${empty}</p>`
  const number = (column: number) => column >= headings.length - numbers && html` class="number"`
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table${look && html` class="${look}"`}>
    ${caption && html`<caption>${caption}</caption>`}
    <thead><tr>${headings.map((heading, column) => html`<th scope="col"${number(column)}>${heading}</th>`)}</tr></thead>
    <tbody>${rows.map((cells) => html`<tr>${cells}</tr>`)}</tbody>
  </table></div>`
}

export const actionsHeading = html`<span class="unseen">Actions</span>`

type Turn = {
  label: string
  page: number
  pages: number
  href(page: number): string
  words?: readonly [before: string, unit: string, next: string]
}

export function turnPages({ label, page, pages, href, words = ['Before', 'Page', 'Next'] }: Turn): Html | undefined {
  if (pages < 2) return undefined
  const [before, unit, next] = words
  return html`<nav class="row" aria-label="${label}">
    ${page > 1 && html`<a rel="prev" href="${href(page - 1)}">${before}</a>`}
    <span>${unit} ${page} of ${pages}</span>
    ${page < pages && html`<a rel="next" href="${href(page + 1)}">${next}</a>`}
  </nav>`
}

type Filter = {
  label: string
  value: string | undefined
  /** The choice with value `''` removes the filter. */
  choices: readonly Choice[]
  /** Returns the address of the list with this choice. */
  href(value: string | undefined): string
  /** Default value of the list. */
  usual?: string
}

export function filterChip({ label, value = '', choices, href, usual = '' }: Filter): Html {
  const [, chosen = value] = choices.find(([known]) => known === value) ?? []
  const isActive = value !== '' && value !== usual
  return html`<details class="chip-menu" name="filter"><summary class="chip${isActive && ' active'}">${value === '' ? label : html`<span class="unseen">${label}:</span> <bdi>${chosen}</bdi>`} ${icon('chevron-down')}</summary>
    <ul class="menu-list">${choices.map(
      ([choice, text]) =>
        html`<li><a href="${href(choice || undefined)}"${choice === value && html` aria-current="true"`}><bdi>${text}</bdi></a></li>`,
    )}</ul></details>`
}

type Words = {
  action: string
  label: string
  placeholder: string
  value: string | undefined
  /** Values of the other filters, which the form keeps. */
  others: Readonly<Record<string, string | undefined>>
  more?: Attributes
}

export function wordsFilter({ action, label, placeholder, value = '', others, more = {} }: Words): Html {
  return html`<form class="words" method="get" action="${action}" role="search" aria-label="${label}"${attributes(more)}>
    ${Object.entries(others).map(([name, other]) => other !== undefined && hidden({ [name]: other }))}
    <label class="unseen" for="filter-text">${placeholder}</label>
    <input id="filter-text" name="text" type="search" value="${value}" placeholder="${placeholder}" maxlength="200" dir="auto" autocomplete="off">
    <button type="submit" class="unseen">Filter</button>
  </form>`
}

/** Renders a form that saves the filter of a list for the sidebar, or removes it from there. */
export function savedFilter(visit: Visit, path: string): Html {
  const saved = visit.session.filters.find((filter) => filter.path === path)
  if (saved !== undefined) {
    const label = html`<span class="unseen">Remove the saved filter</span> <bdi>${saved.name}</bdi> ${icon('x')}`
    return postButton(visit, '/account/filters/remove', label, { class: 'chip active' }, { path })
  }
  return html`<details class="chip-menu" name="filter"><summary class="chip">${icon('bookmark')} Save filter</summary>
    ${form(
      visit,
      { action: '/account/filters', attributes: { class: 'menu-list row' } },
      html`${hidden({ path })}<label for="filter-name">Name</label>
        <input id="filter-name" name="name" required maxlength="60" dir="auto" autocomplete="off">${button('Save', { class: 'second' })}`,
    )}</details>`
}

type LiveNotice = {
  /** Events that change what the page shows, separated by spaces. */
  kinds: string
  kb: string | undefined
  /** Path of the current page. */
  path: string
  /** Id of the part that the response replaces. Undefined loads the page. */
  target?: string
}

/** Announces that there is something new, and shows it on request, so that nothing moves while somebody reads. For the island `live`. */
export function liveNotice({ kinds, kb, path, target }: LiveNotice): Html {
  return html`<div class="live" data-live="${kinds}"${kb !== undefined && html` data-live-kb="${kb}"`}>
    <p role="status" data-live-news></p>
    <a class="button second" href="${path}"${target !== undefined && html` hx-get="${path}" hx-target="#${target}" hx-swap="outerHTML"`} data-live-show hidden>Show what is new</a>
  </div>`
}
