import type { TextKey } from './chat-texts.ts'

const citedFields = ['documentId', 'path', 'filename', 'seqId', 'title', 'url'] as const
/** Cited page. The fields depend on the server. */
export type Cited = Readonly<Partial<Record<(typeof citedFields)[number], string | undefined>>>

export type Answered = {
  answer: string
  sessionId?: string | undefined
  turnId?: string | undefined
  citations: readonly Cited[]
  notice?: string | undefined
}

/** Failure of a request, explained by a text of the widget or by the server's message. */
export class ChatProblem extends Error {
  readonly key: TextKey
  readonly said: string | undefined
  readonly seconds: number

  constructor(key: TextKey, { said, seconds = 0 }: { said?: string | undefined; seconds?: number } = {}) {
    super(said ?? key)
    this.key = key
    this.said = said
    this.seconds = seconds
  }
}

type Sending = { signal?: AbortSignal; accept?: string }

const keyByCode: Readonly<Record<string, TextKey>> = { site_disabled: 'disabled', foreign_origin: 'foreign' }
/** Maximum `Retry-After` in seconds that counts as a short wait. A longer one means that the limit of the day is used up. */
const longestWait = 900

/** Client of the server at `api`: the page's own proxy, or a site of Ganglion, which issues each visitor a token. */
export class ChatService {
  readonly #api: string
  readonly #visitor: { token: string | undefined }

  constructor(api: string, visitor: { token: string | undefined }) {
    this.#api = api.replace(/\/+$/, '')
    this.#visitor = visitor
  }

  /** Asks a question. Calls `onText` with the whole answer so far whenever more of it arrives. @throws {ChatProblem} */
  async ask(
    question: { message: string; sessionId: string | undefined },
    signal: AbortSignal,
    onText: (text: string) => void,
  ): Promise<Answered> {
    const accept = 'text/event-stream, application/json;q=0.9'
    const response = await this.#post('chat', question, { signal, accept })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const body = isStream ? await lastOf(response, onText) : await response.json()
    return answeredOf(body)
  }

  /** Sends a vote. @throws {ChatProblem} */
  async vote(vote: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#post('feedback', vote)
  }

  /** Returns the passages of a cited page that match a question, in Markdown; none if the server returns none. */
  async passages(query: string, seqId: string): Promise<string[]> {
    const asked = { query, neurons: [seqId], maxChars: 4000, topK: 3 }
    const answer: unknown = await this.#post('retrieve', asked).then((response) => response.json())
    return listOf(fieldOf(answer, 'chunks')).flatMap((chunk) => {
      const content = fieldOf(chunk, 'content')
      return fieldOf(chunk, 'seqId') === seqId && typeof content === 'string' ? [content] : []
    })
  }

  async #post(path: string, body: unknown, sending: Sending = {}): Promise<Response> {
    // A site always requires a token. Fetching it first saves a request, and an error in the browser's console.
    if (this.#visitor.token === undefined && /\/widget\/v1\/sites\/[^/]+$/.test(this.#api)) await this.#renew(sending)
    let response = await this.#send(path, body, sending)
    if (response.status === 401 && (await this.#renew(sending))) response = await this.#send(path, body, sending)
    if (!response.ok) throw await problemOf(response)
    return response
  }

  async #send(path: string, body: unknown, { signal, accept = 'application/json' }: Sending): Promise<Response> {
    const { token } = this.#visitor
    const headers = { 'content-type': 'application/json', accept }
    try {
      return await fetch(`${this.#api}/${path}`, {
        method: 'POST',
        headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
        signal: signal ?? null,
      })
    } catch (error) {
      if (signal?.aborted) throw error
      throw new ChatProblem(navigator.onLine ? 'unreachable' : 'offline')
    }
  }

  async #renew(sending: Sending): Promise<boolean> {
    const response = await this.#send('token', {}, { ...sending, accept: 'application/json' })
    if (response.status === 404 || response.status === 405) return false
    if (!response.ok) throw await problemOf(response)
    const token = fieldOf(await response.json(), 'token')
    if (typeof token !== 'string') return false
    this.#visitor.token = token
    return true
  }
}

/** Reads a stream of server-sent events (HTML standard, section 9.2) and returns the data of its final event. */
async function lastOf(response: Response, onText: (text: string) => void): Promise<unknown> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let [text, rest] = ['', '']
  for (;;) {
    const step = await reader?.read().catch((error: unknown) => {
      throw error instanceof TypeError ? new ChatProblem('cut') : error
    })
    if (step === undefined || step.done) throw new ChatProblem('cut')
    const blocks = (rest + step.value).split(/\r?\n\r?\n/)
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lineOf = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1] ?? ''
      const [kind, data] = [lineOf('event'), lineOf('data')]
      const body: unknown = data === '' ? undefined : JSON.parse(data)
      if (kind === 'done') return body
      if (kind === 'error') throw problemIn(500, body, '')
      if (kind !== 'delta') continue
      text += stringOf(fieldOf(body, 'text')) ?? ''
      onText(text)
    }
  }
}

function answeredOf(body: unknown): Answered {
  const answer = fieldOf(body, 'answer')
  if (typeof answer !== 'string') throw new ChatProblem('failed')
  const textOf = (name: string) => stringOf(fieldOf(body, name))
  return {
    ...{ answer, sessionId: textOf('sessionId'), turnId: textOf('turnId'), notice: textOf('notice') },
    citations: listOf(fieldOf(body, 'citations')).map((cited) =>
      Object.fromEntries(citedFields.map((name) => [name, stringOf(fieldOf(cited, name))])),
    ),
  }
}

async function problemOf(response: Response): Promise<ChatProblem> {
  const body: unknown = await response.json().catch(() => undefined)
  return problemIn(response.status, body, response.headers.get('retry-after') ?? '')
}

function problemIn(status: number, body: unknown, retryAfter: string): ChatProblem {
  const key = keyByCode[String(fieldOf(body, 'error'))]
  if (key !== undefined) return new ChatProblem(key)
  const seconds = Number(retryAfter) || 60
  if (status === 429) return new ChatProblem(seconds > longestWait ? 'limited-today' : 'limited', { seconds })
  const said = fieldOf(body, 'message')
  return new ChatProblem('failed', { said: status < 500 && typeof said === 'string' ? said.slice(0, 300) : undefined })
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
