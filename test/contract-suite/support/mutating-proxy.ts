import { once } from 'node:events'
import {
  request as ask,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { buffer } from 'node:stream/consumers'
import { z } from 'zod'

const Replacement = z.tuple([z.string(), z.string()])
const Change = {
  /** JSON fields by their path; `*` is every item of a list. */
  set: z.record(z.string(), z.unknown()).optional(),
  drop: z.array(z.string()).optional(),
  headers: z.record(z.string(), z.string().nullable()).optional(),
  /** In the text. */
  replace: Replacement.optional(),
}
export const Mutation = z.strictObject({
  at: z.string(),
  /** Which of the matches is changed: 1 is the first, -1 each but the first. */
  nth: z.int().optional(),
  status: z.int().optional(),
  ...Change,
  request: z.strictObject({ ...Change, path: Replacement.optional() }).optional(),
})
export type Mutation = z.output<typeof Mutation>

/** A proxy before a server that breaks one rule at a time. */
export async function startMutatingProxy(target: string) {
  let mutation: Mutation | undefined
  let matches = 0
  /** Resolves to the mutation if it changes this request. */
  const changing = (line: string) => {
    if (mutation === undefined || !new RegExp(mutation.at).test(line)) return undefined
    matches += 1
    const isMeant = mutation.nth === undefined || mutation.nth === matches || (mutation.nth === -1 && matches > 1)
    return isMeant ? mutation : undefined
  }
  const server = createServer((request, response) => {
    pass(target, request, response, changing(`${request.method} ${request.url}`)).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    /** From now on, breaks this rule. */
    breakRule: (next: Mutation | undefined) => {
      mutation = next
      matches = 0
    },
    /** How often the present mutation has matched. */
    matches: () => matches,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function pass(target: string, request: IncomingMessage, response: ServerResponse, mutation?: Mutation) {
  const { request: change } = mutation ?? {}
  const path =
    change?.path === undefined ? request.url : request.url?.replace(new RegExp(change.path[0]), change.path[1])
  const { host: _, ...headers } = withHeaders(request.headers, change?.headers)
  const body = change === undefined ? undefined : changed(await buffer(request), change)
  const length = body === undefined || body.length === 0 ? {} : { 'content-length': body.length }
  const asked = ask(`${target}${path}`, { method: request.method, headers: { ...headers, ...length } })
  if (body === undefined) request.pipe(asked)
  else asked.end(body)
  response.once('close', () => asked.destroy())
  const [answer]: IncomingMessage[] = await once(asked, 'response')
  // A server may answer before it has read everything, and close.
  asked.on('error', () => request.resume())
  if (answer === undefined) return
  const status = mutation?.status ?? answer.statusCode ?? 500
  const answered = withHeaders(answer.headers, mutation?.headers)
  if (mutation === undefined || status === 304) {
    response.writeHead(status, answered)
    answer.pipe(response)
  } else if (String(answer.headers['content-type']).startsWith('text/event-stream')) {
    response.writeHead(status, answered).flushHeaders()
    for await (const chunk of answer) response.write(changed(chunk, mutation))
    response.end()
  } else {
    const text = changed(await buffer(answer), mutation)
    const { 'content-length': __, 'transfer-encoding': ___, ...kept } = answered
    response.writeHead(status, kept).end(status === 204 ? undefined : text)
  }
}

function withHeaders(headers: IncomingHttpHeaders, change: Readonly<Record<string, string | null>> = {}) {
  // Bodies are changed as text, and a connection here is none there.
  const all: [string, string | string[] | null | undefined][] = Object.entries({ ...headers, ...change })
  return Object.fromEntries(
    all
      .flatMap(([name, value]) => (value ? [[name, value] as const] : []))
      .filter(([name]) => name !== 'accept-encoding' && name !== 'connection'),
  )
}

function changed(body: Buffer, { set = {}, drop = [], replace }: Pick<Mutation, 'set' | 'drop' | 'replace'>): Buffer {
  const fields: [string, unknown][] = [
    ...Object.entries(set),
    ...drop.map((path): [string, unknown] => [path, undefined]),
  ]
  let text = body.toString()
  if (fields.length > 0) {
    const value: unknown = JSON.parse(text)
    for (const [path, next] of fields) setAt(value, path.split('.'), next)
    text = JSON.stringify(value)
  }
  return Buffer.from(replace === undefined ? text : text.replaceAll(new RegExp(replace[0], 'g'), replace[1]))
}

function setAt(value: unknown, [name = '', ...rest]: string[], next: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const key of name === '*' ? Object.keys(value) : [name]) {
    if (rest.length > 0) setAt(Reflect.get(value, key), rest, next)
    else Reflect.set(value, key, next)
  }
}
