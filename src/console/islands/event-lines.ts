export type ReceivedEvent = { event: string; data: string }

/** Reads server-sent events (HTML standard, section 9.2) from text that comes in pieces, cut anywhere. */
export class EventLines {
  #rest = ''

  /** Adds text. @returns the events that are complete now */
  push(text: string): ReceivedEvent[] {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.flatMap((block) => {
      const lines = block.split('\n')
      const linesOf = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
      const data = linesOf('data')
      return data.length === 0 ? [] : [{ event: linesOf('event').at(-1) ?? 'message', data: data.join('\n') }]
    })
  }
}

/** Returns the message for a failed question. @param body of the API's error response */
export function problemOf(status: number, body: unknown, retryAfter: string | null): string {
  if (status === 429) {
    const seconds = Number(retryAfter) || 60
    return `You have asked a lot in a short time. Ask again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
  }
  if (status === 401 || status === 403) return 'You are signed out. Sign in in another tab, then ask again.'
  if (status === 404) return 'This conversation is gone. Begin a new one.'
  const message = typeof body === 'object' && body !== null ? Reflect.get(body, 'message') : undefined
  return typeof message === 'string' && status < 500 && status > 0
    ? message
    : 'The answer could not be completed. Your question is still here: ask again.'
}

/** Returns the text of a streaming answer without citations. */
export function withoutCitations(text: string): string {
  return text.replace(/(?<![ \t])[ \t]*\[[a-z0-9-]+_[0-9]{8}\]/g, '').replace(/(?<![ \t])[ \t]*\[[a-z0-9_-]*$/, '')
}
