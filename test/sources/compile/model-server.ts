import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { listening } from '../../support/listening.ts'

const Body = z.looseObject({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
})

export type Request = { headers: IncomingHttpHeaders; body: z.infer<typeof Body>; user: string }

/** Answers one request. */
export type Reply = (response: ServerResponse, request: Request) => void

/** A server on 127.0.0.1 that speaks OpenAI's chat completions. */
export async function modelServer(reply: Reply): Promise<{ url: string; requests: Request[] }> {
  const requests: Request[] = []
  const server = createServer(async (incoming, response) => {
    const body = Body.parse(await json(incoming))
    const request = { headers: incoming.headers, body, user: body.messages.at(-1)?.content ?? '' }
    requests.push(request)
    reply(response, request)
  })
  return { url: `${await listening(server)}/v1`, requests }
}

/** Answers with a chat completion. */
export function says(response: ServerResponse, content: unknown, message: object = {}): void {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const choice = { index: 0, message: { role: 'assistant', content: text, ...message }, finish_reason: 'stop' }
  response.setHeader('content-type', 'application/json')
  response.end(
    JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 0, model: 'fake', choices: [choice] }),
  )
}

export function fails(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' })
  response.end(JSON.stringify({ error: { message: `status ${status}` } }))
}

/** The number of the first line that holds a text, as a citation; of none where no line does. */
export function linesOf({ user }: Request, text: string): { from: number; to: number } {
  const line = user.split('\n').find((shown) => /^\d+\| /.test(shown) && shown.includes(text))
  const number = Number(line?.split('|', 1)[0] ?? 0)
  return { from: number, to: number }
}
