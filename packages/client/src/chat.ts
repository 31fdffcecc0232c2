import { backOff, type Connection, type RequestOptions } from './connection.ts'
import { ConnectionError } from './ganglion-error.ts'
import { readMessages } from './messages.ts'
import type { Schemas } from './operation.ts'
import { isTemporary, refusalOf } from './refusals.ts'

type ChatAnswer = Schemas['ChatAnswer']

/** Event of a streamed answer. `restart`: the answer changed after a broken stream, so drop the text so far. `done`: the whole answer. */
export type ChatEvent = { type: 'delta'; text: string } | { type: 'restart' } | { type: 'done'; answer: ChatAnswer }

/** Returns the function that asks a question, given as text or as a whole request body. */
export function chatOf(connection: Connection, knowledgeBaseId?: string) {
  const bodyOf = (question: string | Schemas['ChatInput']) => ({
    ...(knowledgeBaseId !== undefined && { knowledgeBaseId }),
    ...(typeof question === 'string' ? { message: question } : question),
  })
  return Object.assign(
    (question: string | Schemas['ChatInput'], options?: RequestOptions) =>
      connection.call('post', '/api/v1/chat', { body: bodyOf(question) }, options),
    {
      /**
       * Streams an answer. If the stream breaks off, asks again and continues after the text that was already yielded. Sends no
       * `Idempotency-Key`, since the server answers a request with a key as a whole.
       */
      stream: (question: string | Schemas['ChatInput'], options?: RequestOptions) =>
        streamAnswer(connection, bodyOf(question), options),
    },
  )
}

async function* streamAnswer(
  connection: Connection,
  body: Schemas['ChatInput'],
  options?: RequestOptions,
): AsyncGenerator<ChatEvent, void> {
  let shown = ''
  for (let attempt = 0; ; attempt++) {
    let text = ''
    try {
      for await (const data of askOnce(connection, body, options)) {
        if ('answer' in data) return yield { type: 'done', answer: data }
        text += data.text
        if (shown.startsWith(text)) continue
        const isSame = text.startsWith(shown)
        if (!isSame) yield { type: 'restart' }
        yield { type: 'delta', text: isSame ? text.slice(shown.length) : text }
        shown = text
      }
      throw new ConnectionError('The stream broke off.')
    } catch (error) {
      if (!isTemporary(error) || attempt >= connection.retries) throw error
      await backOff(error, attempt, options?.signal)
    }
  }
}

async function* askOnce(
  connection: Connection,
  body: Schemas['ChatInput'],
  options?: RequestOptions,
): AsyncGenerator<{ text: string } | ChatAnswer, void> {
  const sending = { ...options, kind: 'read', accept: 'text/event-stream, application/json;q=0.5' } as const
  const { response } = await connection.run('post', '/api/v1/chat', { body }, sending)
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return yield JSON.parse(await response.text())
  for await (const { event, data } of readMessages(response.body)) {
    if (data === '') continue
    if (event === 'error') throw refusalOf(JSON.parse(data))
    yield JSON.parse(data)
  }
}
