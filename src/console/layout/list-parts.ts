import { button, type Choice, form } from './form.ts'
import { type Attributes, attributes, type Html, html, icon } from './html-template.ts'
import type { Visit } from './page.ts'

type Filter = {
  label: string
  value: string | undefined
  /** The one of value `''` asks for nothing. */
  choices: readonly Choice[]
  /** Returns the address of the list with this choice. */
  href(value: string | undefined): string
  /** The value that the list has when nobody has chosen. */
  usual?: string
}

export function filterChip({ label, value = '', choices, href, usual = '' }: Filter): Html {
  const chosen = choices.find((choice) => choice.value === value)
  const isActive = value !== '' && value !== usual
  return html`<details class="chip-menu" name="filter"><summary class="chip${isActive && ' active'}">${value === '' ? label : html`<span class="unseen">${label}:</span> <bdi>${chosen?.label ?? value}</bdi>`} ${icon('chevron-down')}</summary>
    <ul class="menu-list">${choices.map(
      (choice) =>
        html`<li><a href="${href(choice.value || undefined)}"${choice.value === value && html` aria-current="true"`}><bdi>${choice.label}</bdi></a></li>`,
    )}</ul></details>`
}

type Words = {
  action: string
  label: string
  placeholder: string
  value: string | undefined
  /** The other filters, which it keeps. */
  others: Readonly<Record<string, string | undefined>>
  more?: Attributes
}

export function wordsFilter({ action, label, placeholder, value = '', others, more = {} }: Words): Html {
  return html`<form class="words" method="get" action="${action}" role="search" aria-label="${label}"${attributes(more)}>
    ${Object.entries(others).map(([name, other]) => other !== undefined && html`<input type="hidden" name="${name}" value="${other}">`)}
    <label class="unseen" for="filter-text">${placeholder}</label>
    <input id="filter-text" name="text" type="search" value="${value}" placeholder="${placeholder}" maxlength="200" dir="auto" autocomplete="off">
    <button type="submit" class="unseen">Filter</button>
  </form>`
}

/** Keeps what a list is narrowed to for the rail, or takes it from there. */
export function savedFilter(visit: Visit, path: string): Html {
  const saved = visit.session.filters.find((filter) => filter.path === path)
  const hidden = html`<input type="hidden" name="path" value="${path}">`
  if (saved !== undefined) {
    const label = html`<span class="unseen">Remove the saved filter</span> <bdi>${saved.name}</bdi> ${icon('x')}`
    return form(visit, { action: '/account/filters/remove' }, html`${hidden}${button(label, { class: 'chip active' })}`)
  }
  return html`<details class="chip-menu" name="filter"><summary class="chip">${icon('bookmark')} Save filter</summary>
    ${form(
      visit,
      { action: '/account/filters', attributes: { class: 'menu-list row' } },
      html`${hidden}<label for="filter-name">Name</label>
        <input id="filter-name" name="name" required maxlength="60" dir="auto" autocomplete="off">${button('Save', { class: 'second' })}`,
    )}</details>`
}

type LiveNotice = {
  /** Events that change what the page shows, separated by spaces. */
  kinds: string
  kb: string | undefined
  /** The page as it is now. */
  path: string
  /** Id of the part that is taken from there; without it, the page is loaded. */
  target?: string
}

/** Says that there is something new, and shows it when asked, so that nothing moves while somebody reads. For the island `live`. */
export function liveNotice({ kinds, kb, path, target }: LiveNotice): Html {
  return html`<div class="live" data-live="${kinds}"${kb !== undefined && html` data-live-kb="${kb}"`}>
    <p role="status" data-live-news></p>
    <a class="button second" href="${path}"${target !== undefined && html` hx-get="${path}" hx-target="#${target}" hx-swap="outerHTML"`} data-live-show hidden>Show what is new</a>
  </div>`
}
