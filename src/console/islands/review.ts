import { hold } from './busy.ts'
import { draftOffer, fieldsOf, make } from './dom.ts'

/**
 * Keyboard control of the queue: moves, opens and decides. Without it, the same links and forms work by hand. Prefetches the next
 * candidate, so that it shows as soon as a decision is made.
 */
const settingKey = 'ganglion.review.keys'
/** Milliseconds on a candidate until its slow parts are loaded, so that passing by does not make the server search. */
const fillDelay = 400
const editable = 'input:not([type="checkbox"]), textarea, select, [contenteditable="true"]'

type Ahead = { url: string; text: Promise<string | undefined> }

let ahead: Ahead | undefined

const find = <Kind extends Element = HTMLElement>(selector: string) => document.querySelector<Kind>(selector)

function areKeysOn(): boolean {
  try {
    return localStorage.getItem(settingKey) !== 'off'
  } catch {
    return true
  }
}

const actions: Readonly<Record<string, () => void>> = {
  j: () => move(1),
  k: () => move(-1),
  o: () => (rowInFocus() ?? find('[data-entry]'))?.querySelector<HTMLElement>('[data-open]')?.click(),
  x: () => rowInFocus()?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click(),
  a: approve,
  d: () => find('[data-reason]')?.focus(),
  e: () => find('[data-edit]')?.click(),
  c: () => find('#comment textarea')?.focus(),
  n: () => toChange('n', 1),
  p: () => toChange('p', -1),
  u: () => find('.notices [data-undo]')?.click(),
  '?': openHelp,
}

document.addEventListener('keydown', (event) => {
  const { key, target } = event
  if (key === 'Enter' && (event.ctrlKey || event.metaKey) && target instanceof HTMLTextAreaElement) {
    // With Shift, the second button: a comment that asks for changes.
    const [first, second] = target.closest('#comment')?.querySelectorAll('button') ?? []
    const pressed = event.shiftKey ? second : first
    if (pressed !== undefined) event.preventDefault()
    pressed?.click()
    return
  }
  const isInField = target instanceof Element && target.closest(editable) !== null
  if (isInField || !isPlain(event) || !areKeysOn() || find('dialog[open]') !== null) return
  const action = actions[key]
  if (action === undefined) return
  event.preventDefault()
  // A held key must not decide on one candidate after the other.
  if (!event.repeat || 'jknp'.includes(key)) action()
})

/** Whether a key is pressed without modifiers other than Shift, and outside of an input method. */
function isPlain({ ctrlKey, altKey, metaKey, shiftKey, isComposing, key }: KeyboardEvent): boolean {
  return !ctrlKey && !altKey && !metaKey && !isComposing && (!shiftKey || key === '?')
}

function move(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('[data-entry] [data-open]')]
  if (links.length === 0) {
    const link = find<HTMLAnchorElement>(`.around a[rel="${step > 0 ? 'next' : 'prev'}"]`)
    if (link === null) announce(step > 0 ? 'This is the last candidate.' : 'This is the first candidate.')
    else void open(link.href)
    return
  }
  const at = links.findIndex((link) => link.closest('[data-entry]') === rowInFocus())
  const next = links[Math.min(links.length - 1, Math.max(0, at < 0 ? 0 : at + step))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

/** Moves to the next change in a text or a page. */
function toChange(key: string, step: 1 | -1): void {
  find(`[data-change="${key}"]`)?.click()
  const changes = [...document.querySelectorAll('.page-diff > :is(.added, .removed, .changed)')]
  const at = document.activeElement === null ? -1 : changes.indexOf(document.activeElement)
  const next = changes.at(at < 0 ? (step < 0 ? -1 : 0) : (at + step) % changes.length)
  if (!(next instanceof HTMLElement)) return
  next.tabIndex = -1
  next.focus({ preventScroll: true })
  next.scrollIntoView({ block: 'center' })
}

/** Approves the candidate. If it has an edit form instead, as a conflict has, moves the focus there. */
function approve(): void {
  const form = find<HTMLFormElement>('form[data-decide="approve"]:not([data-keep])')
  const edited = find('form.edit #field-content')
  if (form !== null) form.requestSubmit()
  else if (edited !== null) edited.focus()
  else if (find('.candidate') !== null) announce('This cannot be approved as it is. The page says why.')
}

function rowInFocus(): Element | null {
  return document.activeElement?.closest('[data-entry]') ?? null
}

document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.dataset.decide === undefined) return
  event.preventDefault()
  if (find('form[data-decide][aria-busy]') === null) void decide(form, event.submitter)
})

/** Sends a decision and shows the next candidate. If the decision fails, the server's page explains it. */
async function decide(form: HTMLFormElement, pressed: HTMLElement | null): Promise<void> {
  const release = hold(form, pressed)
  announce('Deciding…')
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      headers: { 'hx-request': 'true', 'hx-current-url': location.href, accept: 'text/html' },
      body: new URLSearchParams(fieldsOf(form)),
    })
    const next = response.headers.get('hx-location')
    const signIn = response.headers.get('hx-redirect')
    if (response.ok && next !== null) {
      forget(form)
      await show(next, await response.text(), response.headers.get('x-seen'))
    } else if (signIn !== null) {
      tell('You were signed out. What you typed is kept.', { href: signIn, label: 'Sign in' })
      release()
    } else form.submit()
  } catch {
    tell('The server could not be reached. Nothing was decided: try again.')
    release()
  }
}

/**
 * Shows the prefetched page, below the notice about the decision. If it is another page or an outdated one, the browser loads it. `seen`:
 * the version that the page must have.
 */
async function show(path: string, notice: string, seen: string | null): Promise<void> {
  const { pathname, href } = new URL(path, location.href)
  const known = ahead !== undefined && new URL(ahead.url).pathname === pathname ? await ahead.text : undefined
  if (known === undefined || !replaceMain(known, seen)) {
    location.assign(href)
    return
  }
  history.pushState({ review: true }, '', href)
  const notices = find('.notices')
  const box = make('div', { class: 'notice' })
  // Markup of this server, where every value is escaped.
  box.innerHTML = notice
  notices?.replaceChildren(box)
  arrive()
}

async function open(url: string): Promise<void> {
  const around = find('.around')
  if (around) hold(around)
  const known = ahead?.url === url ? await ahead.text : undefined
  if (known === undefined || !replaceMain(known)) {
    location.assign(url)
    return
  }
  history.pushState({ review: true }, '', url)
  arrive()
}

/** Replaces the main part of the page. @returns false if the text is not a candidate's page of the required version */
function replaceMain(text: string, seen: string | null = null): boolean {
  const page = new DOMParser().parseFromString(text, 'text/html')
  const [main, fresh] = [find('main'), page.querySelector('main')]
  if (main === null || fresh?.querySelector('[data-candidate]') === null || fresh === null) return false
  if (seen !== null && fresh.querySelector<HTMLInputElement>('[name="seen"]')?.value !== seen) return false
  main.replaceChildren(...fresh.childNodes)
  document.title = page.title
  return true
}

/** Prepares the page that is shown now: scroll position and focus. */
function arrive(): void {
  scrollTo(0, 0)
  find('.candidate h1')?.focus()
  begin()
}

addEventListener('popstate', () => location.reload())

function fetchAhead(): void {
  const link = find<HTMLAnchorElement>('.candidate .around a[rel="next"]')
  if (link === null) return
  const text = fetch(link.href, { headers: { accept: 'text/html' } }).then(
    (response) => (response.ok ? response.text() : undefined),
    () => undefined,
  )
  ahead = { url: link.href, text }
}

/** Loads parts that take the server longer than the page. If loading fails, the link to the part stays. */
function fillAll(): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-fill]')) {
    fetch(place.dataset.fill ?? '', { headers: { 'hx-request': 'true', accept: 'text/html' } })
      .then(async (response) => {
        if (!response.ok) return
        place.innerHTML = await response.text()
        delete place.dataset.fill
      })
      .catch(() => undefined)
  }
}

function announce(text: string): void {
  const place = find('[data-announce]')
  if (place !== null) place.textContent = text
}

function tell(problem: string, link?: { href: string; label: string }): void {
  announce('')
  const box = make('div', { class: 'problems', role: 'alert' }, problem)
  if (link !== undefined) box.append(' ', make('a', { href: link.href }, link.label))
  find('.notices')?.replaceChildren(box)
  scrollTo(0, 0)
}

function openHelp(): void {
  find<HTMLDialogElement>('[data-keys] dialog')?.showModal()
}

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element)) return
  if (target.closest('[data-keys-open]') !== null) openHelp()
  if (target.closest('[data-keys-switch]') !== null) {
    try {
      localStorage.setItem(settingKey, areKeysOn() ? 'off' : 'on')
    } catch {
      announce('The browser does not keep this setting.')
    }
    showSetting()
  }
})

function showSetting(): void {
  const isOn = areKeysOn()
  const button = find('[data-keys-switch]')
  button?.setAttribute('aria-pressed', String(isOn))
  if (button !== null) button.textContent = isOn ? 'Shortcuts are on' : 'Shortcuts are off'
}

/**
 * Keeps what is typed into a candidate's forms in this tab until it is sent, even if the session ends meanwhile. An edit belongs to the
 * version of the candidate and of its page that the form was opened with (`seen`).
 */
const draftKey = (form: HTMLFormElement) => `ganglion.review.drafts.${form.dataset.keep}`

document.addEventListener('input', ({ target }) => {
  const form = target instanceof Element ? target.closest<HTMLFormElement>('form[data-keep]') : null
  if (form === null) return
  const fields = fieldsOf(form).filter(([name]) => name !== '_csrf')
  try {
    sessionStorage.setItem(draftKey(form), JSON.stringify(fields))
  } catch {
    // The browser's storage is disabled or full: only the page itself holds the text.
  }
})

/** A form that posts without scripts has sent its content. If that is rejected, the response contains it again. */
document.addEventListener('submit', ({ target }) => {
  if (target instanceof HTMLFormElement && target.dataset.decide === undefined) forget(target)
})

function forget(form: HTMLFormElement): void {
  sessionStorage.removeItem(draftKey(form))
}

/** Restores what was typed. An edit of an older text is only offered: it would hide what has changed since. */
function restoreDrafts(): void {
  if (document.querySelector('.problems') !== null) return // the server sends back what was typed
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-keep]')) {
    const draft = new Map<string, string>(JSON.parse(sessionStorage.getItem(draftKey(form)) ?? '[]'))
    const controls = [...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input[name], textarea[name]')]
    const restore = () => {
      for (const control of controls)
        if (control.name !== 'seen') control.value = draft.get(control.name) ?? control.value
    }
    const isBehind = controls.some(({ name, value }) => name === 'seen' && value !== draft.get(name))
    if (draft.has('base') && isBehind) offerDraft(form, restore)
    else restore()
  }
}

function offerDraft(form: HTMLFormElement, restore: () => void): void {
  const message =
    'You have a draft of this edit, typed before the candidate or its page has changed. The form has the text as it is now.'
  const offer = draftOffer(message, {
    restore: () => {
      restore()
      offer.remove()
      form.querySelector('textarea')?.dispatchEvent(new Event('input', { bubbles: true }))
      form.querySelector<HTMLElement>('.cm-content, textarea')?.focus()
    },
    discard: () => {
      forget(form)
      offer.remove()
    },
  })
  offer.setAttribute('role', 'status')
  form.prepend(offer)
}

function begin(): void {
  showSetting()
  restoreDrafts()
  if (find('form[data-editor]') !== null) void import('./editor.ts').then(({ showEditors }) => showEditors())
  if (find('[data-text-diff]') !== null) void import('./text-diff.ts').then(({ showTextDiffs }) => showTextDiffs())
  setTimeout(fillAll, fillDelay)
  fetchAhead()
}

begin()
