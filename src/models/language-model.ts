import type { ClientOptions, OpenAI } from 'openai'
import { type ObservedWork, observed } from '../system/work.ts'

/** Language model with the API of OpenAI, which most model servers support. */
export type LanguageModel = {
  /** Base URL, e.g. `http://127.0.0.1:11434/v1`. */
  url: string
  model: string
  apiKey: string | undefined
}

/** Purpose of a request to a model. */
export type ModelUse = 'chat' | 'compile' | 'embeddings' | 'transcription'

/** Observes requests to a model, for metrics and traces. */
export function observedRequest(use: ModelUse, model: string, send: () => Promise<Response>): Promise<Response> {
  const attributes: Record<string, string | number> = { 'gen_ai.request.model': model }
  const work: ObservedWork = { kind: 'model', name: use, use, attributes }
  return observed(work, async () => {
    const response = await send()
    attributes['http.response.status_code'] = response.status
    work.hasFailed = !response.ok
    return response
  })
}

/** Limits set by the operator; the server of the model decides the others. */
export type ModelLimits = {
  /** Maximum tokens of one request and its answer together. */
  contextTokens?: number | undefined
  /** Maximum tokens of an answer. */
  maxAnswerTokens?: number | undefined
  /** Temperature of answers, 0 to 2. */
  temperature?: number | undefined
}

/** Creates a client, which takes nothing from the environment. Loads the package only here: it is large, and many servers never use a model. */
export async function clientOf(
  { url, model, apiKey }: LanguageModel,
  { use, fetch: send = fetch, ...options }: Pick<ClientOptions, 'timeout' | 'maxRetries' | 'fetch'> & { use: ModelUse },
): Promise<OpenAI> {
  const { OpenAI } = await import('openai')
  return new OpenAI({
    ...options,
    fetch: (input, init) => observedRequest(use, model, () => send(input, init)),
    baseURL: url,
    apiKey: apiKey ?? 'none',
    // Ignores variables that the environment sets for other programs.
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    logLevel: 'off',
    ...(apiKey === undefined ? { defaultHeaders: { Authorization: null } } : {}),
  })
}

/** Removes the model's key from a message: some servers repeat it in their errors. */
export function withoutKey(model: LanguageModel | undefined, text: string): string {
  return model?.apiKey === undefined ? text : text.replaceAll(model.apiKey, '…')
}

/**
 * Returns a `fetch` for the client of a model. Its time limit covers the body, and it reads at most `maxBytes`: the client's own
 * time limit ends when the answer begins. A longer body fails with `tooLong`.
 */
export function boundedFetch({
  timeoutMs,
  maxBytes,
  tooLong,
}: {
  timeoutMs: number
  maxBytes: number
  tooLong: () => Error
}): NonNullable<ClientOptions['fetch']> {
  return async (input, init) => {
    const limit = AbortSignal.timeout(timeoutMs)
    const signal = init?.signal ? AbortSignal.any([init.signal, limit]) : limit
    const response = await fetch(input, { ...init, signal })
    if (response.body === null) return response
    let size = 0
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.length
        if (size > maxBytes) controller.error(tooLong())
        else controller.enqueue(chunk)
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(counted), { status, statusText, headers })
  }
}
