import { root } from './dom.ts'

/**
 * Follows the server's events. An element with `data-live` (kinds of events, separated by spaces; `data-live-kb` for those of one knowledge
 * base) reports in `data-live-news` that something has happened since the page was loaded, and shows `data-live-show`. An element with
 * `data-live-refresh` (the path of a fragment) and `data-live` is refreshed, unless it has the focus.
 */

const reconnectMs = { first: 5_000, longest: 120_000 }
/** Milliseconds after which a tab in the background closes its connection: a browser has only six for all tabs of a server. */
const backgroundMs = 30_000
/** Milliseconds in which several events cause a single refresh. */
const restMs = 1_000

for (const element of document.querySelectorAll<HTMLElement>('[data-live]')) follow(element)

function follow(element: HTMLElement): void {
  const { live = '', liveKb, liveRefresh } = element.dataset
  const react = liveRefresh === undefined ? announcer(element) : refresher(element, liveRefresh)
  followEvents(liveKb, live.split(' '), react)
}

function announcer(element: HTMLElement): () => void {
  const text = element.querySelector('[data-live-news]')
  const show = element.querySelector<HTMLElement>('[data-live-show]')
  show?.addEventListener('click', () => {
    if (text !== null) text.textContent = ''
    show.hidden = true
    document.getElementById('main')?.focus()
  })
  return () => {
    if (text !== null) text.textContent = 'There is something new.'
    if (show !== null) show.hidden = false
  }
}

function refresher(element: HTMLElement, path: string): () => void {
  let isDue = false
  const refresh = async () => {
    isDue = false
    if (element.contains(document.activeElement)) return
    const answer = await fetch(path, { headers: { 'hx-request': 'true' } }).catch(() => undefined)
    if (answer?.ok !== true) return
    const markup = await answer.text()
    // An element that got the focus meanwhile is not replaced.
    if (!element.contains(document.activeElement)) element.innerHTML = markup
  }
  return () => {
    if (!isDue) setTimeout(() => void refresh(), restMs)
    isDue = true
  }
}

/**
 * Reacts to events of the tenant, or of one knowledge base, while the page is visible, and after a time in which some may have been missed.
 */
function followEvents(kb: string | undefined, kinds: readonly string[], react: () => void): void {
  const path = `${root}/api/v1/events${kb === undefined ? '' : `?kb=${encodeURIComponent(kb)}`}`
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let wait = reconnectMs.first
  let hasMissed = false

  function connect(): void {
    const opened = new EventSource(path)
    source = opened
    for (const kind of kinds) opened.addEventListener(kind, react)
    opened.addEventListener('gap', react)
    opened.addEventListener('open', () => {
      wait = reconnectMs.first
      if (hasMissed) react()
      hasMissed = false
    })
    opened.addEventListener('error', () => {
      // The browser resumes a lost connection, but not one that was rejected.
      if (opened.readyState !== EventSource.CLOSED) return
      hasMissed = true
      timer = setTimeout(connect, wait)
      wait = Math.min(wait * 2, reconnectMs.longest)
    })
  }

  function disconnect(): void {
    clearTimeout(timer)
    source?.close()
    source = undefined
    hasMissed = true
  }

  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer)
    if (document.hidden) timer = setTimeout(disconnect, backgroundMs)
    else if (source === undefined || source.readyState === EventSource.CLOSED) connect()
  })
  // A page in the back-forward cache must not hold a connection.
  addEventListener('pagehide', disconnect)
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) connect()
  })
  connect()
}
