import type { ClientOptions, OpenAI } from 'openai'

/** A language model behind the API of OpenAI, which most servers of models speak. */
export type LanguageModel = {
  /** E.g. `http://127.0.0.1:11434/v1`. */
  url: string
  model: string
  apiKey: string | undefined
}

/** A client of it, which takes nothing from the environment. The package is loaded here: it is large, and many never ask a model. */
export async function clientOf(
  { url, apiKey }: LanguageModel,
  options: Pick<ClientOptions, 'timeout' | 'maxRetries' | 'fetch'>,
): Promise<OpenAI> {
  const { OpenAI } = await import('openai')
  return new OpenAI({
    ...options,
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
