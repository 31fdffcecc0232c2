import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from './listening.ts'

/** Bytes after which a request, or its response, is broken off. */
export type Cut = { request?: number; response?: number } | undefined

/** Passes requests on, but for those that `cut` breaks off. @returns its URL */
export function flakyProxy(target: string, cut: (request: IncomingMessage) => Cut): Promise<string> {
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    const { host: _, ...headers } = incoming.headers
    const limits = cut(incoming)
    const breakOff = () => {
      forwarded.destroy()
      incoming.socket.destroy()
    }
    const forwarded = httpRequest(`${target}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      if (limits?.response === undefined) answer.pipe(response)
      else passSome(answer, limits.response, (part) => response.write(part), breakOff)
      answer.on('error', breakOff)
    })
    forwarded.on('error', breakOff)
    response.on('close', () => forwarded.destroy())
    if (limits?.request === undefined) incoming.pipe(forwarded)
    else passSome(incoming, limits.request, (part) => forwarded.write(part), breakOff)
  })
  return listening(server)
}

function passSome(from: IncomingMessage, bytes: number, write: (part: Buffer) => void, breakOff: () => void): void {
  let left = bytes
  from.on('data', (chunk: Buffer) => {
    if (left > 0) write(chunk.subarray(0, left))
    left -= chunk.length
    // What was written is on its way by then.
    if (left <= 0) setTimeout(breakOff, 50)
  })
  // A shorter message is broken off before it is known to be whole.
  from.on('end', () => left > 0 && setTimeout(breakOff, 50))
}
