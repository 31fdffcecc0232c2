import { EventSourceParserStream } from 'eventsource-parser/stream'

export type ReceivedEvent = { event: string; data: unknown }

/** Reads an answer's events as they come, as a browser does. */
export async function* readEvents({ body }: Response): AsyncGenerator<ReceivedEvent> {
  if (body === null) return
  for await (const { event = '', data } of body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }))) {
    yield { event, data: JSON.parse(data) }
  }
}

/** All of them, once the answer has ended. */
export async function allEvents(events: AsyncIterable<ReceivedEvent>): Promise<ReceivedEvent[]> {
  const all: ReceivedEvent[] = []
  for await (const event of events) all.push(event)
  return all
}
