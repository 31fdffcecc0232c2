import type { IncomingHttpHeaders } from 'node:http'
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { acceptsJson } from '../request/accept.ts'
import { addPrompts } from './prompts.ts'
import { addResources } from './resources.ts'
import type { Exchange } from './tool.ts'
import { addTools, instructions } from './tools.ts'

type Message = { headers: IncomingHttpHeaders; body: unknown }

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
  const unchanging = { listChanged: false }
  const options = { instructions, capabilities: { tools: unchanging, resources: unchanging, prompts: unchanging } }
  const server = new McpServer({ name: 'ganglion', title: 'Ganglion', version: 'v1' }, options)
  addTools(server, exchange)
  addResources(server, exchange)
  addPrompts(server, exchange)
  return server
}

/**
 * Builds the request for the transport, which reads only the protocol's headers from it; the message is a separate argument. It requires
 * clients to accept event streams, which clients in use do not declare, and hardly any answer is one.
 */
function webRequest({ headers }: Omit<Message, 'body'>): Request {
  const ofProtocol = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    const isOfProtocol = name === 'content-type' || name.startsWith('mcp-')
    return isOfProtocol && value !== undefined ? [[name, String(value)]] : []
  })
  const takesJson = acceptsJson(headers.accept)
  ofProtocol.push(['accept', takesJson ? 'application/json, text/event-stream' : String(headers.accept)])
  return new Request('http://localhost/mcp', { method: 'POST', headers: ofProtocol })
}
