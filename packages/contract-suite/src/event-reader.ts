import { createParser } from 'eventsource-parser'

export type ReadEvent = { id: string; event: string; data: unknown }

/** Parses the server-sent events in a text. An incomplete last event is left out. */
export function eventsOf(text: string): ReadEvent[] {
  const events: ReadEvent[] = []
  createParser({
    onEvent: ({ id = '', event = 'message', data }) => events.push({ id, event, data: parsed(data) }),
  }).feed(text)
  return events
}

/** Reader of a stream of events, in the background. */
export class EventReader {
  readonly #controller = new AbortController()
  #text = ''

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Events received so far. */
  get events(): ReadEvent[] {
    return eventsOf(this.#text)
  }

  async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of body) this.#text += decoder.decode(chunk, { stream: true })
    } catch {
      // Either side has closed the stream. A step that still waits for an event fails by its timeout.
    }
  }

  close(): void {
    this.#controller.abort()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
