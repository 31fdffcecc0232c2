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
  /** Replacement in the text. */
  replace: Replacement.optional(),
  /** Damages the list at a path: drops its first item, reverses it, or gives its items the ids of others or ids that nothing has. */
  list: z.strictObject({ path: z.string(), damage: z.enum(['drop', 'reverse', 'swap', 'invent']) }).optional(),
}
export const listDamages = Change.list.unwrap().shape.damage.options
export type ListDamage = (typeof listDamages)[number]
export const Mutation = z.strictObject({
  at: z.string(),
  /** Number of the match to change: 1 is the first, -1 each but the first. */
  nth: z.int().optional(),
  status: z.int().optional(),
  ...Change,
  request: z.strictObject({ ...Change, path: Replacement.optional() }).optional(),
})
export type Mutation = z.output<typeof Mutation>

/** A proxy before a server that breaks one rule at a time. */
export async function startMutatingProxy(target: string, onAnswer?: (line: string, body: unknown) => void) {
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
    const line = `${request.method} ${request.url}`
    const watch = onAnswer === undefined ? undefined : (body: unknown) => onAnswer(line, body)
    pass(target, request, response, changing(line), watch).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    /** Starts to break this rule. */
    breakRule: (next: Mutation | undefined) => {
      mutation = next
      matches = 0
    },
    /** Returns how often the present mutation has matched. */
    matches: () => matches,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function pass(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  mutation?: Mutation,
  onAnswer?: (body: unknown) => void,
) {
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
  if (onAnswer !== undefined && String(answer.headers['content-type']).startsWith('application/json')) {
    const body = await buffer(answer)
    onAnswer(JSON.parse(body.toString()))
    response.writeHead(status, answered).end(body)
  } else if (mutation === undefined || status === 304) {
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

function changed(body: Buffer, { set = {}, drop = [], replace, list }: Omit<Mutation, 'at'>): Buffer {
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
  if (list !== undefined) {
    const value: unknown = JSON.parse(text)
    const items = list.path.split('.').reduce(fieldOf, value)
    if (Array.isArray(items)) setAt(value, list.path.split('.'), damaged(items, list.damage))
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

const fieldOf = (value: unknown, name: string): unknown => Object(value)[name]
const isId = (name: string) => /^(?:id|seqId|target|\w+Id)$/.test(name)

/** Returns a list with a damage, which may be none: one item has no order, and what has no ids keeps them. */
export function damaged(items: readonly unknown[], damage: ListDamage): unknown[] {
  if (damage === 'drop') return items.slice(1)
  if (damage === 'reverse') return items.toReversed()
  return items.map((item, at) => withIds(item, damage === 'swap' ? items.at(at - 1) : undefined))
}

/** Returns a value with the ids of another of its shape. Without another, they are invented. */
function withIds(value: unknown, other: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, field]) => {
    if (!isId(name) || typeof field !== 'string') return [name, withIds(field, fieldOf(other, name))]
    return [name, other === undefined ? inventId(field) : (fieldOf(other, name) ?? field)]
  })
  return Array.isArray(value) ? entries.map(([, field]) => field) : Object.fromEntries(entries)
}

/** Returns an id of the same shape that the server has given to nothing. */
function inventId(id: string): string {
  return id.replace(/\d{8}$/, '99999998').replace(/^[0-9a-f]{8}(?=-[0-9a-f]{4}-)/, '00000000')
}
