const reconnectMs = { first: 5_000, longest: 120_000 }
/** Milliseconds after which a tab in the background gives its connection up: a browser has only six for all tabs of a server. */
const backgroundMs = 30_000

export type Feed = {
  /** Events to be told of. */
  kinds: readonly string[]
  onEvent: (event: MessageEvent<string>) => void
  /** Some events may have been missed. */
  onGap: () => void
  onOpen?: () => void
}

/** Follows the events of the tenant, or of one knowledge base, for as long as the page is looked at. */
export function followEvents(kb: string | undefined, { kinds, onEvent, onGap, onOpen }: Feed): void {
  const path = `/api/v1/events${kb === undefined ? '' : `?kb=${encodeURIComponent(kb)}`}`
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let wait = reconnectMs.first
  let hasMissed = false

  function connect(): void {
    const opened = new EventSource(path)
    source = opened
    for (const kind of kinds) opened.addEventListener(kind, onEvent)
    opened.addEventListener('gap', onGap)
    opened.addEventListener('open', () => {
      wait = reconnectMs.first
      onOpen?.()
      if (hasMissed) onGap()
      hasMissed = false
    })
    opened.addEventListener('error', () => {
      // The browser takes a lost connection up again where it ended, but not one that was refused.
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
  // A page that is kept for going back must hold no connection.
  addEventListener('pagehide', disconnect)
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) connect()
  })
  connect()
}
