import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fetchProxy } from '@ganglion/widget/proxy'

const { GANGLION_URL: url = 'http://127.0.0.1:4870', GANGLION_KEY: key = '', GANGLION_KB: kb = 'demo' } = process.env

/** The route of the proxy, as Next.js and Workers have them: a Request comes in, a Response goes out. */
export const POST = fetchProxy({ url, key, kb })

/** @param {string} type @param {string} file */
const send = async (type, file) => new Response(await readFile(new URL(file)), { headers: { 'content-type': type } })

/** @param {Request} request */
async function answer(request) {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/api/chat-proxy/')) return POST(request)
  if (pathname === '/') return send('text/html', import.meta.resolve('./page.html'))
  if (pathname === '/ganglion-chat.js') return send('text/javascript', import.meta.resolve('@ganglion/widget'))
  return new Response('There is nothing here.', { status: 404 })
}

/**
 * Builds a Request from an incoming message, as a framework does. @param {import('node:http').IncomingMessage} incoming @param
 * {AbortSignal} signal
 */
function requestOf(incoming, signal) {
  const { method = 'GET', headers, url: path = '/' } = incoming
  const passed = { accept: headers.accept ?? '*/*', 'content-type': headers['content-type'] ?? '' }
  /** @type {RequestInit} */
  const body = method === 'POST' ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}
  return new Request(`http://localhost${path}`, { method, headers: passed, signal, ...body })
}

/** @param {import('node:http').IncomingMessage} incoming @param {import('node:http').ServerResponse} outgoing */
async function respond(incoming, outgoing) {
  // A visitor who leaves ends the answer.
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const response = await answer(requestOf(incoming, gone.signal))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  await pipeline(response.body ?? [], outgoing)
}

const server = createServer((incoming, outgoing) => {
  respond(incoming, outgoing).catch(() => outgoing.destroy())
})

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${Object(server.address()).port}`)
})
