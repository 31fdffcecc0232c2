import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { LoggedEvent } from '../../../../src/contract/events.ts'

/** Follows the tenant's events from before the first on, over restarts of the server. */
export class EventFollower {
  readonly #token: string
  readonly events: LoggedEvent[] = []
  readonly problems: string[] = []
  /** Sources whose ingest waits or runs. */
  readonly waiting = new Set<string>()
  readonly #awaited = new Map<string, () => void>()

  constructor(token: string) {
    this.#token = token
  }

  /** Until the connection breaks. */
  async follow(url: string): Promise<void> {
    try {
      const last = this.events.at(-1)?.id ?? 0
      const headers = { authorization: `Bearer ${this.#token}`, 'last-event-id': String(last) }
      const { body } = await fetch(`${url}/api/v1/events`, { headers })
      const parsed = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()) ?? []
      for await (const { id, event, data } of parsed) {
        if (id === undefined) this.problems.push(`the stream says ${event}: ${data}`)
        else this.#take(JSON.parse(data))
      }
    } catch {
      // The server is gone.
    }
  }

  /** Resolves with the next event whose kind or stage is this. */
  next(name: string): Promise<void> {
    return new Promise((resolve) => this.#awaited.set(name, resolve))
  }

  /** The ids of events have no holes. */
  #take(event: LoggedEvent): void {
    const last = this.events.at(-1)?.id ?? 0
    if (event.id !== last + 1) this.problems.push(`event ${event.id} came after ${last}`)
    this.events.push(event)
    const { kind, documentId, stage } = event
    if (documentId !== undefined && /^(?:source|ingest)\./.test(kind)) {
      const isOver = kind === 'ingest.completed' || kind === 'ingest.failed' || event.status === 'failed'
      if (isOver) this.waiting.delete(documentId)
      else this.waiting.add(documentId)
    }
    for (const name of [kind, stage ?? '']) {
      this.#awaited.get(name)?.()
      this.#awaited.delete(name)
    }
  }
}
