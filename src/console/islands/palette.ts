import { make, root } from './dom.ts'
import { type Jump, moved, offered, readVisited, remember } from './palette-list.ts'

const key = 'visited'
const ownPath = () => location.pathname.slice(root.length)
/** Milliseconds between the last key and the request. */
const pause = 120

/** A dialog for jumping to any page: a combobox with a list box (WAI-ARIA Authoring Practices). */
class Palette {
  readonly #input = make('input', {
    ...{ type: 'search', role: 'combobox', autocomplete: 'off', maxlength: '512' },
    ...{ placeholder: 'Page, Source, knowledge base, command…', 'aria-label': 'Jump to' },
    ...{ 'aria-controls': 'palette-list', 'aria-expanded': 'true', 'aria-autocomplete': 'list' },
  })
  readonly #list = make('ul', { id: 'palette-list', role: 'listbox', 'aria-label': 'Places' })
  readonly #status = make('p', { class: 'unseen', role: 'status' })
  readonly #dialog = make(
    'dialog',
    { class: 'palette-box', 'aria-label': 'Jump to' },
    this.#input,
    this.#list,
    this.#status,
  )
  #options: HTMLElement[] = []
  #jumps: Jump[] = []
  #at = -1
  #timer: ReturnType<typeof setTimeout> | undefined
  #asking = new AbortController()

  constructor() {
    this.#input.addEventListener('input', () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.#ask(), pause)
    })
    this.#input.addEventListener('keydown', (event) => this.#press(event))
    this.#dialog.addEventListener('click', (event) => {
      if (event.target === this.#dialog) this.#dialog.close()
    })
    document.body.append(this.#dialog)
  }

  open(): void {
    if (this.#dialog.open) return
    this.#input.value = ''
    this.#dialog.showModal()
    this.#input.focus()
    void this.#ask()
  }

  async #ask(): Promise<void> {
    this.#asking.abort()
    this.#asking = new AbortController()
    const q = this.#input.value
    const [, kb = '', page = ''] = /^\/kb\/([^/]+)(?:\/neurons\/([^/]+))?/.exec(ownPath()) ?? []
    try {
      const query = new URLSearchParams({ q, kb: decodeURIComponent(kb), page: decodeURIComponent(page) })
      const response = await fetch(`${root}/palette?${query}`, {
        signal: this.#asking.signal,
        headers: { accept: 'application/json' },
      })
      if (!response.ok) throw new Error(String(response.status))
      const { items }: { items: Jump[] } = await response.json()
      this.#show(offered(items, readVisited(sessionStorage.getItem(key)), q, ownPath()))
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return
      this.#show([])
      this.#status.textContent = 'The server does not answer. Try again.'
    }
  }

  #show(jumps: Jump[]): void {
    this.#jumps = jumps
    this.#options = []
    this.#list.replaceChildren()
    let group = ''
    for (const [index, jump] of jumps.entries()) {
      if (jump.group !== group) {
        group = jump.group
        this.#list.append(make('li', { role: 'presentation' }, group))
      }
      const option = optionOf(jump, index)
      option.addEventListener('click', () => location.assign(root + jump.href))
      this.#options.push(option)
      this.#list.append(option)
    }
    this.#select(jumps.length === 0 ? -1 : 0)
    this.#status.textContent = jumps.length === 0 ? 'Nothing found.' : `${jumps.length} places.`
  }

  #select(at: number): void {
    this.#at = at
    for (const [index, option] of this.#options.entries()) option.setAttribute('aria-selected', String(index === at))
    const selected = this.#options[at]
    this.#input.setAttribute('aria-activedescendant', selected?.id ?? '')
    selected?.scrollIntoView({ block: 'nearest' })
  }

  #press(event: KeyboardEvent): void {
    const { key } = event
    if (key === 'Enter') {
      event.preventDefault()
      const { href } = this.#jumps[this.#at] ?? {}
      location.assign(root + (href ?? `/search?${new URLSearchParams({ q: this.#input.value })}`))
      return
    }
    const next = moved(key, this.#at, this.#options.length)
    if (next === undefined) return
    event.preventDefault()
    this.#select(next)
  }
}

function optionOf({ label, detail }: Jump, index: number): HTMLElement {
  const attributes = { id: `palette-${index}`, role: 'option' }
  return make('li', attributes, make('bdi', {}, label), ' ', make('small', {}, detail))
}

let palette: Palette | undefined
const open = () => {
  palette ??= new Palette()
  palette.open()
}
document.addEventListener('keydown', (event) => {
  if (
    event.defaultPrevented ||
    event.key.toLowerCase() !== 'k' ||
    !(event.ctrlKey || event.metaKey) ||
    event.shiftKey ||
    event.altKey
  )
    return
  event.preventDefault()
  open()
})
for (const link of document.querySelectorAll<HTMLElement>('[data-palette]')) {
  link.setAttribute('aria-haspopup', 'dialog')
  link.addEventListener('click', (event) => {
    event.preventDefault()
    open()
  })
}
const here = { title: document.title.replace(/ · Ganglion$/, ''), href: ownPath() }
sessionStorage.setItem(key, JSON.stringify(remember(readVisited(sessionStorage.getItem(key)), here)))
// Removes the visited pages, so that the next person who signs in in this tab does not see them.
for (const form of document.querySelectorAll('form[action$="/sign-out"]')) {
  form.addEventListener('submit', () => sessionStorage.removeItem(key))
}
