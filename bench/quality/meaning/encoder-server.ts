import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import type { Encoder } from './lsa.ts'

const Body = z.object({ input: z.array(z.string()) })

/** Serves an encoder as OpenAI's embeddings are served, on a free port of the loopback interface. */
export async function serveEncoder(encode: Encoder): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    const { input } = Body.parse(await json(request))
    const data = input.map((text, index) => ({ index, embedding: Array.from(encode(text)) }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}/v1`, close }
}
