import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type WireRequest = { method?: string; path: string; headers?: Readonly<Record<string, string>>; body?: unknown }
export type WireAnswer = { status: number; headers: string; body: string; milliseconds: number }

/**
 * Sends requests over connections that are kept, one at a time on each, and gives their answers in order. It reads no more of HTTP/1.1
 * than Content-Length, so that it takes little of the machine that the measured server needs.
 */
export async function load(
  url: string,
  requests: readonly WireRequest[],
  { connections }: { connections: number },
): Promise<WireAnswer[]> {
  const { hostname, port, host } = new URL(url)
  const answers: WireAnswer[] = []
  let next = 0
  const worker = async () => {
    const socket = connect(Number(port), hostname).setNoDelay()
    await once(socket, 'connect')
    for (let at = next++; at < requests.length; at = next++) {
      const request = requests[at]
      if (request !== undefined) answers[at] = await exchange(socket, host, request)
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: connections }, worker))
  return answers
}

function exchange(socket: Socket, host: string, request: WireRequest): Promise<WireAnswer> {
  const begin = performance.now()
  socket.write(encode(host, request))
  return new Promise((resolve, reject) => {
    const received: Buffer[] = []
    const onData = (part: Buffer) => {
      received.push(part)
      const answer = decode(Buffer.concat(received), request.method === 'HEAD')
      if (answer === undefined) return
      detach()
      resolve({ ...answer, milliseconds: performance.now() - begin })
    }
    const onEnd = () => {
      detach()
      reject(new Error(`${request.path}: the server closed the connection`))
    }
    const detach = () => socket.off('data', onData).off('close', onEnd)
    socket.on('data', onData).on('close', onEnd)
  })
}

function encode(host: string, { method = 'GET', path, headers = {}, body }: WireRequest): string {
  const payload = body === undefined ? '' : JSON.stringify(body)
  const all = {
    host,
    ...headers,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${payload}`
}

/** Undefined while a part of the answer is missing. */
function decode(bytes: Buffer, isHead: boolean): Omit<WireAnswer, 'milliseconds'> | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const headers = bytes.toString('latin1', 0, end)
  const status = Number(headers.slice(9, 12))
  const length = isHead || status === 304 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(headers)?.[1] ?? 0)
  const body = bytes.subarray(end + 4)
  return body.length < length ? undefined : { status, headers, body: body.toString('utf8') }
}
