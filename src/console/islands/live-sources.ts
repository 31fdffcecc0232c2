import { fieldsOf, root } from './dom.ts'
import { addressOf } from './palette-list.ts'
import type { IngestNews } from './source-words.ts'

type News = IngestNews & { documentId?: string }

function follow(list: HTMLElement): void {
  const events = new EventSource(`${root}/api/v1/events?kb=${encodeURIComponent(list.dataset.liveSources ?? '')}`)
  const latest = new Map<string, News>()
  const show = async (news: News) => {
    const { newsWords } = await import('./source-words.ts')
    const words = newsWords(news)
    const source = sourceOf(news.documentId ?? '')
    const badge = source?.querySelector('[data-status]')
    if (words === undefined || badge === null || badge === undefined) return
    badge.textContent = words.label
    badge.className = `badge ${words.tone}`
    // Reloads the page to show the result, unless the form for a new edition is open.
    const isChosen = document.querySelector('details.replace[open]') !== null
    if (source?.tagName === 'P' && !isChosen && (news.kind === 'ingest.completed' || news.kind === 'ingest.failed'))
      location.reload()
  }
  for (const kind of ['ingest.started', 'ingest.progress', 'ingest.completed', 'ingest.failed']) {
    events.addEventListener(kind, ({ data }: MessageEvent<string>) => {
      const news: News = JSON.parse(data)
      latest.set(news.documentId ?? '', news)
      void show(news)
    })
  }
  const hideRefresh = () => {
    for (const link of document.querySelectorAll<HTMLElement>('[data-refresh]')) link.classList.add('unseen')
  }
  events.addEventListener('open', hideRefresh)
  // The new list may be older than the latest events.
  document.addEventListener('htmx:after:swap', () => {
    if (events.readyState === EventSource.OPEN) hideRefresh()
    for (const news of latest.values()) void show(news)
  })
  addEventListener('pagehide', () => events.close())
}

function sourceOf(id: string): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>('[data-source]')].find(({ dataset }) => dataset.source === id)
}

const list = document.querySelector<HTMLElement>('[data-live-sources]')
if (list !== null) follow(list)
const filters = document.querySelector<HTMLFormElement>('form.words')
if (filters !== null) {
  // The URL holds the filter, so that the page can be reloaded, bookmarked and shared.
  document.addEventListener('htmx:after:swap', () =>
    history.replaceState(history.state, '', addressOf(filters.action, fieldsOf(filters))),
  )
  // Shows an uploaded file in the list at once.
  document.addEventListener('sources-changed', () => filters.requestSubmit())
}
