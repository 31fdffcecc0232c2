import { createParser } from 'eventsource-parser'

export type ReadEvent = { id: string; event: string; data: unknown }

/** Reads the events of a text in the format of server-sent events, without a last one that is not complete. */
export function eventsOf(text: string): ReadEvent[] {
  const events: ReadEvent[] = []
  createParser({
    onEvent: ({ id = '', event = 'message', data }) => events.push({ id, event, data: parsed(data) }),
  }).feed(text)
  return events
}

/** A stream of events that is read in the background. */
export class EventReader {
  readonly #controller = new AbortController()
  #text = ''

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** All events so far. */
  get events(): ReadEvent[] {
    return eventsOf(this.#text)
  }

  async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of body) this.#text += decoder.decode(chunk, { stream: true })
    } catch {
      // Closed, here or there: what a test still waits for does not come.
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
