import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { listening } from '../../support/listening.ts'

const Body = z.object({ model: z.string(), input: z.array(z.string()).min(1), encoding_format: z.literal('float') })

/** How the server answers a request for the vectors of some texts. */
export type EmbeddingsReply = (texts: readonly string[], response: ServerResponse) => void

export type FakeEmbeddings = {
  /** Of the API, with `/v1`. */
  url: string
  requests: { headers: IncomingHttpHeaders; body: z.infer<typeof Body> }[]
  /** How it answers from now on. */
  reply: EmbeddingsReply
}

/** A server on 127.0.0.1 that speaks OpenAI's embeddings. */
export async function fakeEmbeddings(reply: EmbeddingsReply): Promise<FakeEmbeddings> {
  const requests: FakeEmbeddings['requests'] = []
  const server = createServer(async (request, response) => {
    const body = Body.parse(await json(request))
    requests.push({ headers: request.headers, body })
    if (request.url === '/v1/embeddings') fake.reply(body.input, response)
    else response.writeHead(404).end()
  })
  const fake: FakeEmbeddings = { url: `${await listening(server)}/v1`, requests, reply }
  return fake
}

/** Answers with a vector for each text. */
export function vectorsBy(vectorOf: (text: string) => readonly unknown[]): EmbeddingsReply {
  return (texts, response) =>
    answers({ data: texts.map((text, index) => ({ index, embedding: vectorOf(text) })) })(texts, response)
}

/** Answers with just this, in JSON. */
export function answers(body: unknown): EmbeddingsReply {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

export function refuses(status: number, message = `status ${status}`): EmbeddingsReply {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' })
    response.end(JSON.stringify({ error: { message } }))
  }
}

/** Takes the request and never answers. */
export const silentEmbeddings: EmbeddingsReply = () => {}
