import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { listening } from '../../support/listening.ts'

const Body = z.object({
  model: z.string(),
  stream: z.boolean(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  tools: z.unknown().optional(),
  temperature: z.number().optional(),
  max_tokens: z.number().optional(),
  max_completion_tokens: z.number().optional(),
})

/** Answers one request. */
export type Reply = (response: ServerResponse) => void | Promise<void>

export type FakeModel = {
  /** URL of the API, with `/v1`. */
  url: string
  requests: { headers: IncomingHttpHeaders; body: z.infer<typeof Body> }[]
  /** Resolves with the next request that the client closes before its answer has ended. */
  closed(): Promise<void>
}

/** A server on 127.0.0.1 that speaks OpenAI's chat completions: a reply for each request, the last one for all further ones. */
export async function fakeModel(...replies: Reply[]): Promise<FakeModel> {
  const requests: FakeModel['requests'] = []
  const waiting: (() => void)[] = []
  const server = createServer(async (request, response) => {
    const reply = replies[Math.min(requests.length, replies.length - 1)]
    response.on('close', () => {
      if (!response.writableFinished) for (const resolve of waiting.splice(0)) resolve()
    })
    requests.push({ headers: request.headers, body: Body.parse(await json(request)) })
    if (request.url === '/v1/chat/completions') await reply?.(response)
    else response.writeHead(404).end()
  })
  return {
    url: `${await listening(server)}/v1`,
    requests,
    closed: () => new Promise((resolve) => waiting.push(resolve)),
  }
}

/** A whole answer, piece by piece. */
export function says(...pieces: string[]): Reply {
  return (response) => {
    begin(response)
    for (const content of pieces) send(response, chunk(content))
    send(response, { ...chunk(''), choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    response.end('data: [DONE]\n\n')
  }
}

/** The beginning of an answer, then nothing: the connection stays open. */
export function saysAndWaits(...pieces: string[]): Reply {
  return (response) => {
    begin(response)
    for (const content of pieces) send(response, chunk(content))
  }
}

/** The same piece again and again, without an end. */
export function saysForever(piece: string, everyMs: number): Reply {
  return (response) => {
    begin(response)
    const timer = setInterval(() => send(response, chunk(piece)), everyMs)
    response.on('close', () => clearInterval(timer))
  }
}

/** The beginning of an answer, then the connection breaks. */
export function saysAndBreaks(...pieces: string[]): Reply {
  return (response) => {
    begin(response)
    for (const content of pieces) send(response, chunk(content))
    setImmediate(() => response.destroy())
  }
}

/** An answer of `text/event-stream`, as it is. */
export function streams(body: string): Reply {
  return (response) => {
    begin(response)
    response.end(body)
  }
}

/** A whole answer in JSON, as of a server that does not stream. */
export function saysWhole(completion: unknown): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(completion))
  }
}

export function fails(status: number, message = `status ${status}`): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' })
    response.end(JSON.stringify({ error: { message } }))
  }
}

/** The request is taken and never answered. */
export const silent: Reply = () => {}

/** One event of a streamed chat completion. */
export function chunk(content: string): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'fake',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  }
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
}

function send(response: ServerResponse, event: object): void {
  response.write(`data: ${JSON.stringify(event)}\n\n`)
}
