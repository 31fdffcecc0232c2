/**
 * Follows the server's events. An element with `data-live` (kinds of events, separated by spaces; `data-live-kb` for those of one
 * knowledge base) counts in `data-live-count` what has happened since the page was shown, and offers `data-live-show`. An
 * element with `data-live-refresh` (the path of a fragment) and `data-live` is filled again, unless somebody is at work in it.
 */

const reconnectMs = { first: 5_000, longest: 120_000 }
/** Many events at once refresh a part once. */
const restMs = 1_000

for (const element of document.querySelectorAll<HTMLElement>('[data-live]')) follow(element)

function follow(element: HTMLElement): void {
  const { live = '', liveKb, liveRefresh } = element.dataset
  const react = liveRefresh === undefined ? counter(element) : refresher(element, liveRefresh)
  const path = `/api/v1/events${liveKb === undefined ? '' : `?kb=${encodeURIComponent(liveKb)}`}`
  let wait = reconnectMs.first
  const connect = () => {
    const source = new EventSource(path)
    for (const kind of live.split(' ')) source.addEventListener(kind, react)
    // Events that were missed, as after a long sleep: there may be something new.
    source.addEventListener('gap', react)
    source.addEventListener('open', () => {
      wait = reconnectMs.first
    })
    source.addEventListener('error', () => {
      // A lost connection is taken up again by the browser; a refused one is not.
      if (source.readyState !== EventSource.CLOSED) return
      setTimeout(connect, wait)
      wait = Math.min(wait * 2, reconnectMs.longest)
    })
    addEventListener('pagehide', () => source.close(), { once: true })
  }
  connect()
}

function counter(element: HTMLElement): () => void {
  const text = element.querySelector('[data-live-count]')
  const show = element.querySelector<HTMLElement>('[data-live-show]')
  let count = 0
  show?.addEventListener('click', () => {
    count = 0
    if (text !== null) text.textContent = ''
    show.hidden = true
    document.getElementById('main')?.focus()
  })
  return () => {
    count++
    if (text !== null) text.textContent = count === 1 ? '1 new event' : `${count} new events`
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
    // What has been focused meanwhile must not go away under somebody's hands.
    if (!element.contains(document.activeElement)) element.innerHTML = markup
  }
  return () => {
    if (!isDue) setTimeout(() => void refresh(), restMs)
    isDue = true
  }
}
