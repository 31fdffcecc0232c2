import type { IncomingMessage, ServerResponse } from 'node:http'

/** `url` of the Ganglion server; `key`: an API key of the role `app`, which never reaches the browser; `kb`: slug or UUID. */
export type ProxyOptions = { url: string; key: string; kb: string }

/** Maximum characters of a request body: enough for the largest vote with its answer. */
const maxBody = 256 * 1024

/**
 * Returns a Fetch handler (Next, Workers, Deno, Bun) for the widget's requests to `…/chat`, `…/feedback` and `…/retrieve`. Visitors
 * choose neither the knowledge base nor the audience.
 */
export function fetchProxy({ url, key, kb }: ProxyOptions): (request: Request) => Promise<Response> {
  const base = `${url.replace(/\/+$/, '')}/api/v1`
  const ofKb = `${base}/knowledge-bases/${encodeURIComponent(kb)}`
  const audience = 'public'
  const targets = new Map<string, [target: string, asked: (sent: Record<string, unknown>) => object]>([
    ['chat', [`${base}/chat`, ({ message, sessionId }) => ({ message, sessionId, knowledgeBaseId: kb, audience })]],
    // `shouldCite` proposes an answer test, which visitors must not, and could reveal pages that only the key may see.
    ['feedback', [`${ofKb}/reader-feedback`, ({ shouldCite: _, ...sent }) => sent]],
    ['retrieve', [`${ofKb}/retrieve`, ({ query, neurons }) => ({ query, neurons, maxChars: 4000, topK: 3, audience })]],
  ])
  return async (request) => {
    const [target, asked] = targets.get(request.url.replace(/[?#].*$/, '').replace(/.*\//, '')) ?? []
    if (target === undefined || asked === undefined) return refusal(404, 'There is nothing here.')
    // A page of another origin needs a CORS preflight to send JSON, and no preflight succeeds.
    const isJson = request.headers.get('content-type')?.startsWith('application/json') === true
    if (request.method !== 'POST' || !isJson) return refusal(415, 'Send a POST with JSON.')
    try {
      const text = await textOf(request)
      if (text.length > maxBody) return refusal(413, 'The question is too long.')
      const accept = request.headers.get('accept') ?? 'application/json'
      const headers = { 'content-type': 'application/json', accept, authorization: `Bearer ${key}` }
      const body = JSON.stringify(asked(JSON.parse(text) ?? {}))
      const answer = await fetch(target, { method: 'POST', headers, body, signal: request.signal })
      if (answer.status === 401 || answer.status === 403)
        return refusal(502, 'The chat is not set up: its key is refused.')
      const passed = ['content-type', 'retry-after'].flatMap((name): [string, string][] => {
        const value = answer.headers.get(name)
        return value === null ? [] : [[name, value]]
      })
      return new Response(answer.body, { status: answer.status, headers: [...passed, ['cache-control', 'no-store']] })
    } catch (error) {
      if (error instanceof SyntaxError) return refusal(400, 'The body is no JSON.')
      return refusal(502, 'The knowledge base cannot be reached.')
    }
  }
}

/** Returns the same handler for `node:http`, Express and Fastify's `raw`. Install it before any body parser. */
export function nodeProxy(
  options: ProxyOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const answer = fetchProxy(options)
  return async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    try {
      let body = ''
      request.setEncoding('utf8')
      for await (const piece of request) if (body.length <= maxBody) body += String(piece)
      const { method = 'GET', headers } = request
      const given = { accept: headers.accept ?? '', 'content-type': headers['content-type'] ?? '' }
      // A `Request` rejects methods such as TRACE.
      const sent = method === 'POST' ? { method, body } : {}
      const asked = new Request(`http://localhost${request.url}`, { headers: given, signal: gone.signal, ...sent })
      const answered = await answer(asked)
      response.writeHead(answered.status, Object.fromEntries(answered.headers))
      for await (const piece of answered.body ?? []) response.write(piece)
    } catch {
      // The server or the visitor has disconnected, or the request is malformed. A throw here could end the whole process.
      if (!response.headersSent) response.writeHead(400)
    }
    response.end()
  }
}

/** Reads a body up to the first chunk beyond the maximum. */
async function textOf({ body }: Request): Promise<string> {
  let text = ''
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (text.length > maxBody) break
  }
  return text
}

function refusal(status: number, message: string): Response {
  return Response.json({ error: 'proxy', message }, { status })
}
