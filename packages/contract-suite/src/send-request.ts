import { setTimeout as delay } from 'node:timers/promises'
import type { ScenarioStep } from './case-format.ts'
import { EventReader, eventsOf } from './event-reader.ts'

export type Target = {
  /** Address of the server, without a trailing slash. */
  url: string
  /** Bearer tokens by the names that steps use in `as`. */
  keys: Readonly<Partial<Record<ScenarioStep['as'], string | undefined>>>
  /** Timeout of a request, in milliseconds. */
  timeout: number
}

export type Reply = { status: number; headers: Record<string, string>; text: string; value: unknown }
type Sent = Pick<ScenarioStep, 'send' | 'as' | 'headers' | 'json' | 'text' | 'form'>

const maxRetries = 3

/** Sends the request of a step. After a 429 it is retried as `Retry-After` says, unless the step expects a 429. */
export async function sendRequest(target: Target, step: Sent, expects429 = false): Promise<Reply> {
  for (let retry = 0; ; retry += 1) {
    const response = await ask(target, step, AbortSignal.timeout(target.timeout))
    const text = await response.text()
    const headers = Object.fromEntries(response.headers)
    if (response.status === 429 && !expects429 && headers['retry-after'] !== undefined && retry < maxRetries) {
      await delay(Number(headers['retry-after']) * 1000)
      continue
    }
    return { status: response.status, headers, text, value: parsedBody(headers['content-type'] ?? '', text) }
  }
}

/** Opens a stream of events. Resolves once the response headers are received. */
export async function openStream(target: Target, step: Sent): Promise<{ reply: Reply; events: EventReader }> {
  const events = new EventReader()
  const response = await ask(target, step, events.signal)
  const headers = Object.fromEntries(response.headers)
  if (response.ok && response.body !== null) events.read(response.body)
  const text = response.ok ? '' : await response.text()
  return { reply: { status: response.status, headers, text, value: parsedBody('application/json', text) }, events }
}

function ask({ url, keys }: Target, step: Sent, signal: AbortSignal): Promise<Response> {
  const [method = '', path = ''] = (step.send ?? '').split(' ')
  const token = step.as === 'invalid' ? 'gng_not-a-key' : keys[step.as]
  const { body, type } = bodyOf(step)
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(type !== undefined && { 'content-type': type }),
    ...step.headers,
  }
  return fetch(url + path, { method, headers, signal, redirect: 'manual', ...(body !== undefined && { body }) })
}

function bodyOf({ json, text, form }: Sent): { body?: string | FormData; type?: string } {
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' }
  if (text !== undefined) return { body: text, type: 'application/octet-stream' }
  if (form === undefined) return {}
  const body = new FormData()
  for (const [name, part] of Object.entries(form)) {
    if (typeof part === 'string') body.set(name, part)
    else body.set(name, new Blob([part.text ?? '', new Uint8Array(part.size ?? 0)]), part.name)
  }
  return { body }
}

function parsedBody(type: string, text: string): unknown {
  if (type.startsWith('text/event-stream')) return eventsOf(text)
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
