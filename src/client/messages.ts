import { ConnectionError } from './ganglion-error.ts'

/** A server-sent event (HTML standard, section 9.2). `data` is empty if it only sets the others. */
type Message = { event: string; data: string; id?: string; retry?: number }

/** The server sends a comment every 15 seconds. */
const maxSilence = 60_000

/** Reads server-sent events. @throws {ConnectionError} if the stream breaks, or is silent for a minute */
export async function* readMessages(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Message, void> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const chunk = await readInTime(reader)
      if (chunk === undefined) return
      const blocks = (text + decoder.decode(chunk, { stream: true })).split(/\r\n\r\n|\n\n|\r\r/)
      text = blocks.pop() ?? ''
      for (const block of blocks) yield parse(block)
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

function parse(block: string): Message {
  const message: Message = { event: 'message', data: '' }
  const data: string[] = []
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, name, value = ''] = /^(\w+)(?:: ?(.*))?$/.exec(line) ?? []
    if (name === 'data') data.push(value)
    else if (name === 'event' || name === 'id') message[name] = value
    else if (name === 'retry' && /^\d+$/.test(value)) message.retry = Number(value)
  }
  message.data = data.join('\n')
  return message
}
