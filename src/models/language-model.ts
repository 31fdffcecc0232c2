import type { ClientOptions, OpenAI } from 'openai'
import { type ObservedWork, observed } from '../system/work.ts'

/** A language model behind the API of OpenAI, which most servers of models speak. */
export type LanguageModel = {
  /** E.g. `http://127.0.0.1:11434/v1`. */
  url: string
  model: string
  apiKey: string | undefined
}

/** What a model is asked for. */
export type ModelUse = 'chat' | 'compile' | 'embeddings' | 'transcription'

/** Lets a request to a model be seen, by metrics and traces. */
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

/** What an operator says of a language model; what is left out is left to its server. */
export type ModelLimits = {
  /** Tokens that it reads and writes in one request. */
  contextTokens?: number | undefined
  /** Tokens of an answer. */
  maxAnswerTokens?: number | undefined
  /** 0 to 2. */
  temperature?: number | undefined
}

/** A client of it, which takes nothing from the environment. The package is loaded here: it is large, and many never ask a model. */
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
    // What the environment holds for other programs is not for this endpoint.
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    logLevel: 'off',
    ...(apiKey === undefined ? { defaultHeaders: { Authorization: null } } : {}),
  })
}

/** What was said of a model without its key, which some servers repeat in their errors. */
export function withoutKey(model: LanguageModel | undefined, text: string): string {
  return model?.apiKey === undefined ? text : text.replaceAll(model.apiKey, '…')
}
