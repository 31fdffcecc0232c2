import { followEvents } from './event-feed.ts'

/*
 * Follows the server's events. An element with `data-live` (kinds of events, separated by spaces; `data-live-kb` for those of one
 * knowledge base) says in `data-live-news` when something has happened since the page was shown, and offers `data-live-show`. An
 * element with `data-live-refresh` (the path of a fragment) and `data-live` is filled again, unless somebody is at work in it.
 */

/** Many events at once refresh a part once. */
const restMs = 1_000

for (const element of document.querySelectorAll<HTMLElement>('[data-live]')) follow(element)

function follow(element: HTMLElement): void {
  const { live = '', liveKb, liveRefresh } = element.dataset
  const react = liveRefresh === undefined ? announcer(element) : refresher(element, liveRefresh)
  followEvents(liveKb, { kinds: live.split(' '), onEvent: react, onGap: react })
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
    // What has been focused meanwhile must not go away under somebody's hands.
    if (!element.contains(document.activeElement)) element.innerHTML = markup
  }
  return () => {
    if (!isDue) setTimeout(() => void refresh(), restMs)
    isDue = true
  }
}
