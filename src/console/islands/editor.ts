import { chosen, type FieldKind, lineRange, ownHeadings, type Query, queryAt } from './completion.ts'
// Every page has loaded it for the palette.
import { moved } from './palette-list.ts'

type Suggestion = { text: string; hint?: string }

/** Milliseconds after the last key until names are requested. */
const suggestionDelay = 120
/** Milliseconds until the preview is updated; more for a long text. */
const delays = { short: 700, long: 2000 }
const longText = 100_000
/** What of a text area's style places its text. */
const copied = [
  'box-sizing',
  'width',
  'padding',
  'border',
  'font',
  'line-height',
  'letter-spacing',
  'tab-size',
  'direction',
  'text-align',
  'overflow-wrap',
  'word-break',
] as const

const form = document.querySelector<HTMLFormElement>('form[data-editor]')
const beside = document.querySelector<HTMLElement>('#beside')
const content = form?.querySelector<HTMLTextAreaElement>('textarea[name="content"]')
if (form && beside && content) {
  const { completeAt: url = '', path = '', preview = '' } = form.dataset
  for (const area of form.querySelectorAll<HTMLTextAreaElement>('textarea[data-complete]')) {
    suggestIn(area, area.dataset.complete as FieldKind, { url, path })
  }
  followText(form, { content, beside, preview })
  leadToLines(beside, content)
}

/** Shows the preview and the findings of what is typed. */
function followText(
  form: HTMLFormElement,
  { content, beside, preview }: { content: HTMLTextAreaElement; beside: HTMLElement; preview: string },
): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking: AbortController | undefined
  const show = async () => {
    clearTimeout(timer)
    asking?.abort()
    asking = new AbortController()
    const { signal } = asking
    beside.setAttribute('aria-busy', 'true')
    try {
      const body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]))
      const headers = { 'HX-Request': 'true', 'HX-Current-URL': location.href, accept: 'text/html' }
      const answer = await fetch(preview, { method: 'POST', body, headers, signal })
      // Markup of this server, where every value is escaped or sanitised.
      if (answer.ok) beside.innerHTML = await answer.text()
      else if (answer.status === 401)
        say(beside, 'You were signed out. What you type is kept: you can go on, and sign in when you send it.')
    } catch {
      if (!signal.aborted) say(beside, 'There is no connection. What you type is kept in this browser.')
    } finally {
      if (!signal.aborted) beside.removeAttribute('aria-busy')
    }
  }
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(show, content.value.length > longText ? delays.long : delays.short)
  })
  form.addEventListener('submit', (event) => {
    if (event.submitter?.hasAttribute('formaction') !== true) return
    event.preventDefault()
    show().then(() => beside.focus())
  })
}

function say(place: HTMLElement, message: string): void {
  const text = document.createElement('p')
  text.className = 'warning'
  text.textContent = message
  place.replaceChildren(text)
}

/** A finding's link selects its line. */
function leadToLines(findings: HTMLElement, content: HTMLTextAreaElement): void {
  findings.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-line]') : null
    if (link === null) return
    event.preventDefault()
    const [start, end] = lineRange(content.value, Number(link.dataset.line))
    content.focus()
    content.setSelectionRange(start, end)
    content.scrollTop = placeInText(content, start).top - content.clientHeight / 3
    content.scrollIntoView({ block: 'nearest' })
  })
}

/** Suggests names while somebody types in a text area. The focus stays there, and the list follows the caret. */
function suggestIn(area: HTMLTextAreaElement, kind: FieldKind, at: { url: string; path: string }): void {
  const list = document.createElement('ul')
  list.id = `suggestions-${area.name}`
  list.className = 'completions'
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Suggestions')
  list.hidden = true
  const status = document.createElement('div')
  status.className = 'unseen'
  status.setAttribute('role', 'status')
  area.after(list, status)

  let query: Query | undefined
  let found: Suggestion[] = []
  let selected = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking: AbortController | undefined

  const close = () => {
    clearTimeout(timer)
    asking?.abort()
    query = undefined
    found = []
    list.hidden = true
    list.replaceChildren()
    for (const name of ['aria-controls', 'aria-activedescendant', 'aria-haspopup']) area.removeAttribute(name)
  }

  const select = (index: number) => {
    selected = index
    for (const [at, option] of [...list.children].entries()) option.setAttribute('aria-selected', String(at === index))
    list.children[index]?.scrollIntoView({ block: 'nearest' })
    area.setAttribute('aria-activedescendant', `${list.id}-${index}`)
  }

  const show = (asked: Query, suggestions: Suggestion[]) => {
    found = suggestions
    if (found.length === 0) return close()
    list.replaceChildren(...found.map((suggestion, index) => optionOf(suggestion, `${list.id}-${index}`)))
    for (const [index, option] of [...list.children].entries()) {
      // Before the text area loses the focus.
      option.addEventListener('mousedown', (event) => {
        event.preventDefault()
        choose(asked, index)
      })
    }
    list.hidden = false
    const place = placeInText(area, asked.from)
    const right = area.offsetLeft + area.clientWidth - list.offsetWidth
    list.style.left = `${Math.max(area.offsetLeft, Math.min(area.offsetLeft + place.left, right))}px`
    list.style.top = `${area.offsetTop + place.bottom - area.scrollTop}px`
    area.setAttribute('aria-haspopup', 'listbox')
    area.setAttribute('aria-controls', list.id)
    status.textContent = `${found.length} ${found.length === 1 ? 'suggestion' : 'suggestions'}`
    select(0)
  }

  const choose = (asked: Query, index: number) => {
    const choice = found[index]
    close()
    if (choice === undefined) return
    const { text, goesOn } = chosen(asked, kind, choice.text)
    area.setSelectionRange(asked.from, asked.to)
    // The only way by which browsers can undo it.
    if (!document.execCommand('insertText', false, text)) area.setRangeText(text, asked.from, asked.to, 'end')
    status.textContent = `${choice.text} inserted`
    if (goesOn) ask()
  }

  const ask = async () => {
    const isCaret = area.selectionStart === area.selectionEnd
    const asked = isCaret ? queryAt(area.value, area.selectionStart, kind) : undefined
    if (asked === undefined) return close()
    query = asked
    asking?.abort()
    asking = new AbortController()
    try {
      const suggestions = await suggestionsFor(asked, area.value, at, asking.signal)
      if (query === asked) show(asked, kind === 'edges' ? fitting(asked, area.value, suggestions) : suggestions)
    } catch {
      if (query === asked) close()
    }
  }

  area.setAttribute('aria-autocomplete', 'list')
  area.addEventListener('input', (event) => {
    clearTimeout(timer)
    // An input method shows suggestions of its own.
    if (event instanceof InputEvent && event.isComposing) return close()
    timer = setTimeout(ask, suggestionDelay)
  })
  area.addEventListener('compositionend', () => {
    timer = setTimeout(ask, suggestionDelay)
  })
  area.addEventListener('keydown', (event) => {
    if (list.hidden || query === undefined || event.isComposing) return
    const next = moved(event.key, selected, found.length)
    if (next !== undefined) select(next)
    else if (event.key === 'Enter' || (event.key === 'Tab' && !event.shiftKey)) choose(query, selected)
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
  })
  area.addEventListener('blur', close)
  area.addEventListener('click', close)
}

function optionOf({ text, hint }: Suggestion, id: string): HTMLElement {
  const option = document.createElement('li')
  option.id = id
  option.setAttribute('role', 'option')
  option.dir = 'auto'
  option.textContent = text
  if (hint !== undefined) {
    const small = document.createElement('small')
    small.textContent = hint
    option.append(small)
  }
  return option
}

async function suggestionsFor(
  { kind, q, target }: Query,
  text: string,
  { url, path }: { url: string; path: string },
  signal: AbortSignal,
): Promise<Suggestion[]> {
  if (kind === 'heading' && target === '') return ownHeadings(text, q).map((heading) => ({ text: heading }))
  const asked = new URLSearchParams({ kind, q, target, path })
  const answer = await fetch(`${url}?${asked}`, { signal, headers: { accept: 'application/json' } })
  return answer.ok ? (await answer.json()).found : []
}

/** A relation begins with a type, and goes on with a page. */
function fitting({ from }: Query, text: string, suggestions: Suggestion[]): Suggestion[] {
  const isTyped = text.slice(text.lastIndexOf('\n', from - 1) + 1, from).includes(':')
  return suggestions.filter((suggestion) => suggestion.text.endsWith(':') !== isTyped)
}

/** Position of an offset in a text area's value, in pixels from the corner of its content. `bottom`: below the line. */
function placeInText(area: HTMLTextAreaElement, offset: number): { left: number; top: number; bottom: number } {
  const style = getComputedStyle(area)
  const mirror = document.createElement('div')
  for (const name of copied) mirror.style.setProperty(name, style.getPropertyValue(name))
  mirror.style.setProperty('position', 'absolute')
  mirror.style.setProperty('visibility', 'hidden')
  mirror.style.setProperty('white-space', 'pre-wrap')
  const mark = document.createElement('span')
  mark.textContent = '\u200b'
  mirror.append(area.value.slice(0, offset), mark, area.value.slice(offset, offset + 200))
  document.body.append(mirror)
  const place = { left: mark.offsetLeft, top: mark.offsetTop, bottom: mark.offsetTop + mark.offsetHeight }
  mirror.remove()
  return place
}
