import { followEvents } from './event-feed.ts'
import { keepAddress } from './form-address.ts'
import type { IngestNews } from './source-words.ts'

/** Shows how far Sources are as the server tells it. */
function follow(list: HTMLElement): void {
  const show = async ({ data }: MessageEvent<string>) => {
    const { newsWords } = await import('./source-words.ts')
    const news: IngestNews & { documentId?: string } = JSON.parse(data)
    const words = newsWords(news)
    const source = sourceOf(news.documentId ?? '')
    const badge = source?.querySelector('[data-status]')
    if (words === undefined || badge === null || badge === undefined) return
    badge.textContent = words.label
    badge.className = `badge ${words.tone}`
    // What it became is on the page of the server; what is chosen to replace it is kept.
    const isChosen = document.querySelector('details.replace[open]') !== null
    if (source?.tagName === 'P' && !isChosen && (news.kind === 'ingest.completed' || news.kind === 'ingest.failed'))
      location.reload()
  }
  followEvents(list.dataset.liveSources, {
    kinds: ['ingest.started', 'ingest.progress', 'ingest.completed', 'ingest.failed'],
    onEvent: (event) => void show(event),
    onGap: () => showRefresh(true),
    onOpen: () => showRefresh(false),
  })
}

/** Offers the link that asks for the page again, where what it says may be old. */
function showRefresh(isNeeded: boolean): void {
  for (const link of document.querySelectorAll('[data-refresh]')) link.classList.toggle('unseen', !isNeeded)
}

function sourceOf(id: string): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>('[data-source]')].find(({ dataset }) => dataset.source === id)
}

const list = document.querySelector<HTMLElement>('[data-live-sources]')
if (list !== null) follow(list)
const filters = document.querySelector<HTMLFormElement>('form.filters')
if (filters !== null) {
  keepAddress(filters)
  // A file that was uploaded stands in the list at once.
  document.addEventListener('sources-changed', () => filters.requestSubmit())
}
