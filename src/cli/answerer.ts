import type { Answerer } from '../chat/answerer.ts'
import { extractAnswerer } from '../chat/extract-answerer.ts'
import { fallbackAnswerer } from '../chat/fallback-answerer.ts'
import { modelAnswerer } from '../chat/model-answerer.ts'
import type { LanguageModel } from './environment.ts'

/** Milliseconds of silence after which a language model is given up. */
const timeoutMs = 30_000
const maxRetries = 2

/**
 * Answers with the language model, where there is one, and with extracts where there is none or it fails. `failed` is told why,
 * without the model's key, which some servers repeat in their errors.
 */
export function createAnswerer(languageModel: LanguageModel | undefined, failed: (message: string) => void): Answerer {
  if (languageModel === undefined) return extractAnswerer
  const { url, model, apiKey } = languageModel
  const answerer = modelAnswerer({ url, model, timeoutMs, maxRetries, ...(apiKey === undefined ? {} : { apiKey }) })
  return fallbackAnswerer(answerer, extractAnswerer, ({ message }) =>
    failed(apiKey === undefined ? message : message.replaceAll(apiKey, '…')),
  )
}
