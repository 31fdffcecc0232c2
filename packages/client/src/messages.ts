import { createParser } from 'eventsource-parser'
import { ConnectionError } from './ganglion-error.ts'

/** Server-sent event (HTML standard, section 9.2). `data` is empty if the message only sets `id` or `retry`. */
type Message = { event: string; data: string; id?: string; retry?: number }

/** Milliseconds without data after which a stream counts as broken. The server sends a comment every 15 seconds. */
const maxSilence = 60_000

/** Reads server-sent events. @throws {ConnectionError} if the stream breaks, or is silent for a minute */
export async function* readMessages(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Message, void> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  const read: Message[] = []
  const parser = createParser({
    onEvent: ({ event = 'message', data }) => read.push({ event, data }),
    onId: (id) => read.push({ event: 'message', data: '', id }),
    onRetry: (retry) => read.push({ event: 'message', data: '', retry }),
  })
  try {
    for (;;) {
      const chunk = await readInTime(reader)
      if (chunk === undefined) return
      parser.feed(decoder.decode(chunk, { stream: true }))
      yield* read.splice(0)
    }
  } finally {
    await reader?.cancel().catch(() => {})
  }
}

async function readInTime(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('silent')), maxSilence)
  })
  try {
    return (await Promise.race([reader?.read(), silence]))?.value
  } catch (cause) {
    throw new ConnectionError('The stream broke off.', { cause })
  } finally {
    clearTimeout(timer)
  }
}
