import { fieldsOf } from './dom.ts'
import { addressOf } from './palette-list.ts'

/** Adds keyboard control to the search page, and keeps its URL up to date with the results. */
function attend(form: HTMLFormElement): void {
  const field = form.querySelector<HTMLInputElement>('input[name=q]')
  if (field === null) return

  form.addEventListener('change', (event) => {
    // Another knowledge base has its own page.
    if (event.target instanceof HTMLSelectElement && event.target.name === 'kb') form.submit()
  })
  // The URL holds the query, so that the page can be reloaded, bookmarked and shared.
  document.addEventListener('htmx:after:swap', () =>
    history.replaceState(history.state, '', addressOf(form.action, fieldsOf(form))),
  )
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { target, key } = event
    const isTyping = target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null
    if (key === '/' && !isTyping) {
      event.preventDefault()
      field.focus()
      field.select()
    } else if ((key === 'ArrowDown' || key === 'ArrowUp') && (target === field || isHit(target))) {
      if (move(field, target, key === 'ArrowDown' ? 1 : -1)) event.preventDefault()
    }
  })
}

function hits(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('.hits a[href]')]
}

function isHit(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && hits().includes(target)
}

/** Moves the focus between the field and the hits. Returns false at either end. */
function move(field: HTMLElement, from: EventTarget | null, step: 1 | -1): boolean {
  const places: (EventTarget | null)[] = [field, ...hits()]
  const next = places[places.indexOf(from) + step]
  if (!(next instanceof HTMLElement)) return false
  next.focus()
  return true
}

const form = document.querySelector<HTMLFormElement>('#search')
if (form !== null) attend(form)
