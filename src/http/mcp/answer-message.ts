import type { IncomingHttpHeaders } from 'node:http'
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Exchange } from './tool.ts'
import { addTools, instructions } from './tools.ts'

type Message = { path: string; headers: IncomingHttpHeaders; body: unknown }

export async function answerMessage(exchange: Exchange, { body: parsedBody, ...message }: Message): Promise<Response> {
  const request = webRequest(message)
  if (!(await isLegacyRequest(request, parsedBody))) {
    const onerror = (error: Error) => exchange.request.log.info({ err: error }, 'mcp')
    return createMcpHandler(() => createServer(exchange), { legacy: 'reject', onerror }).fetch(request, { parsedBody })
  }
  const server = createServer(exchange)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody })
  } finally {
    await server.close()
  }
}

function createServer(exchange: Exchange): McpServer {
  const options = { instructions, capabilities: { tools: { listChanged: false } } }
  const server = new McpServer({ name: 'ganglion', title: 'Ganglion', version: 'v1' }, options)
  addTools(server, exchange)
  return server
}

/** The transport reads only the headers of the protocol from the request; the message is an argument of its own. */
function webRequest({ path, headers }: Omit<Message, 'body'>): Request {
  const ofProtocol = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    const isOfProtocol = name === 'accept' || name === 'content-type' || name.startsWith('mcp-')
    return isOfProtocol && value !== undefined ? [[name, String(value)]] : []
  })
  return new Request(`http://localhost${path}`, { method: 'POST', headers: ofProtocol })
}
