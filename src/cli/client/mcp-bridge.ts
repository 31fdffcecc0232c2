import { PassThrough, type Readable, type Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createParser } from 'eventsource-parser'
import { z } from 'zod'
import { parseJson } from '../../contract/json.ts'
import type { ApiServer } from './api-server.ts'

type Message = Parameters<StdioServerTransport['send']>[0]

/** Schema of the parts of a message that are repeated in the protocol's headers. */
const Sent = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z
    .looseObject({
      name: z.string().optional(),
      uri: z.string().optional(),
      requestId: z.union([z.string(), z.number()]).optional(),
      _meta: z.looseObject({ 'io.modelcontextprotocol/protocolVersion': z.string().optional() }).optional(),
    })
    .optional(),
})
type Sent = z.output<typeof Sent>
const Initialized = z.object({ result: z.object({ protocolVersion: z.string() }) })
const Refusal = z.object({ message: z.string() })

/** JSON-RPC error code for errors that the server defines. */
const serverError = -32_000

/** Passes messages of an MCP client between stdio and a server, until the client closes its input and has received all responses. */
export async function bridgeMcp(server: ApiServer, stdin: Readable, stdout: Writable): Promise<void> {
  const input = new PassThrough()
  const transport = new StdioServerTransport(input, stdout)
  const running = new Map<string | number, AbortController>()
  const pending = new Set<Promise<void>>()
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve
  })
  let version: string | undefined
  transport.onmessage = (message) => {
    const work = carry(message).finally(() => pending.delete(work))
    pending.add(work)
  }
  stdin.pipe(input, { end: false })
  stdin.once('end', async () => {
    do {
      await Promise.all(pending)
      await setImmediate()
    } while (pending.size > 0)
    input.end()
  })
  await transport.start()
  await closed

  async function carry(message: Message): Promise<void> {
    const { id, method, params } = Sent.parse(message)
    if (method === 'notifications/cancelled') return running.get(params?.requestId ?? '')?.abort()
    const cancel = new AbortController()
    if (id !== undefined) running.set(id, cancel)
    try {
      for (const answer of await post(server, message, headersOf({ method, params }, version), cancel.signal)) {
        if (method === 'initialize') version = Initialized.safeParse(answer).data?.result.protocolVersion
        await transport.send(answer)
      }
    } catch (error) {
      if (id === undefined || cancel.signal.aborted) return
      const reason = error instanceof Error ? error.message : String(error)
      await transport.send({ jsonrpc: '2.0', id, error: { code: serverError, message: reason } })
    } finally {
      if (id !== undefined) running.delete(id)
    }
  }
}

/** Posts a message and returns the responses. Does not follow redirects, which would send the key to another server. */
async function post(
  { url, key }: ApiServer,
  message: Message,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Message[]> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: '*/*', ...headers },
    body: JSON.stringify(message),
    redirect: 'manual',
    signal,
  }).catch((cause: unknown) => {
    throw new Error(`${url} cannot be reached.`, { cause })
  })
  const text = await response.text()
  if (response.status === 202) return []
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const bodies: string[] = isStream ? [] : [text]
  if (isStream) createParser({ onEvent: ({ data }) => bodies.push(data) }).feed(text)
  return bodies.map((body) => {
    const answer = parseJson(body)
    if (isMessage(answer)) return answer
    throw new Error(
      Refusal.safeParse(answer).data?.message ?? `${url} answered ${response.status}, not as Ganglion does.`,
    )
  })
}

function isMessage(answer: unknown): answer is Message {
  return z.looseObject({ jsonrpc: z.literal('2.0') }).safeParse(answer).success
}

function headersOf(
  { method = '', params }: Pick<Sent, 'method' | 'params'>,
  version: string | undefined,
): Record<string, string> {
  const newest = params?._meta?.['io.modelcontextprotocol/protocolVersion']
  if (newest === undefined) return version === undefined ? {} : { 'mcp-protocol-version': version }
  const name = params?.name ?? params?.uri
  return {
    ...{ 'mcp-protocol-version': newest, 'mcp-method': method },
    ...(name !== undefined && {
      'mcp-name': isPlain(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`,
    }),
  }
}

function isPlain(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}
