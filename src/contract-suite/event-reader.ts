export type ReadEvent = { id: string; event: string; data: unknown }

/** Reads the events of a text in the format of server-sent events, without a last one that is not complete. */
export function eventsOf(text: string): ReadEvent[] {
  const blocks = text.replaceAll(/\r\n?/g, '\n').split('\n\n').slice(0, -1)
  return blocks.flatMap((block) => {
    const lines = block.split('\n')
    const field = (name: string) =>
      lines.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).replace(/^ /, '')] : []))
    const data = field('data').join('\n')
    return data === ''
      ? []
      : [{ id: field('id').at(-1) ?? '', event: field('event').at(-1) ?? 'message', data: parsed(data) }]
  })
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
