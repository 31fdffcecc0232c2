import { placeInText } from './caret.ts'
import { chosen, type FieldKind, moved, ownHeadings, type Query, queryAt } from './completion.ts'

type Suggestion = { text: string; hint?: string }

const delay = 120

/** Suggests names while somebody types in a text area: the keyboard stays there, and the list follows the caret. */
export function suggestIn(area: HTMLTextAreaElement, kind: FieldKind, at: { url: string; path: string }): void {
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
    timer = setTimeout(ask, delay)
  })
  area.addEventListener('compositionend', () => {
    timer = setTimeout(ask, delay)
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
