import { Webhook } from 'standardwebhooks'
import { PrivateAddress, publicLookup, type Resolve, requirePublic, resolveHost } from './public-address.ts'

/** Message to a receiver. All fields but the id are its body. The id stays the same when it is sent again. */
export type PostedMessage = { id: string; [field: string]: unknown }

export type PostOptions = {
  now: Date
  /** True to also send to addresses outside of the public internet. */
  allowPrivate: boolean
  resolve?: Resolve
  /** Timeout in milliseconds. */
  timeout?: number
  signal?: AbortSignal
}

/** Response of a receiver. Without one, `status` is undefined and `note` explains why, for people. */
export type Receipt = { status: number | undefined; note: string | undefined }

/** Sends a signed message. Does not follow redirects, and does not read the response body. The receipt contains no secret. */
export async function postMessage(
  { url, secrets }: { url: string; secrets: readonly string[] },
  message: PostedMessage,
  options: PostOptions,
): Promise<Receipt> {
  try {
    const status = await send(new URL(url), secrets, message, options)
    const isTaken = status >= 200 && status < 300
    return { status, note: isTaken ? undefined : `The receiver answered ${status}.` }
  } catch (error) {
    return { status: undefined, note: noteOf(error) }
  }
}

async function send(
  url: URL,
  secrets: readonly string[],
  { id, ...body }: PostedMessage,
  { now, allowPrivate, resolve = resolveHost, timeout = 15_000, signal }: PostOptions,
): Promise<number> {
  if (!allowPrivate) requirePublic(url)
  const payload = JSON.stringify(body)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(payload),
    'user-agent': 'Ganglion',
    'webhook-id': id,
    'webhook-timestamp': Math.floor(now.getTime() / 1000),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, payload)).join(' '),
  }
  const ends = [AbortSignal.timeout(timeout), ...(signal === undefined ? [] : [signal])]
  // Not imported, see `reasons` in `http/transport.ts`.
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const { promise, resolve: answer, reject } = Promise.withResolvers<number>()
  const sent = request(
    url,
    {
      ...{ method: 'POST', headers, agent: false, signal: AbortSignal.any(ends) },
      ...(allowPrivate ? {} : { lookup: publicLookup(resolve) }),
    },
    (response) => {
      answer(response.statusCode ?? 0)
      response.destroy()
    },
  )
  sent.on('error', reject).end(payload)
  return promise
}

function noteOf(error: unknown): string {
  if (error instanceof PrivateAddress) return error.message
  if (error instanceof Error && error.name === 'AbortError') return 'The receiver did not answer in time.'
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'the connection failed'
  return `The receiver cannot be reached: ${code}.`
}
