import { placeInText } from './caret.ts'
import { type FieldKind, lineRange } from './completion.ts'
import { suggestIn } from './suggestions.ts'

/** The preview follows the text after so many milliseconds; of a long one later. */
const delays = { short: 700, long: 2000 }
const longText = 100_000

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
