import type { CircuitBreaker } from '../models/circuit-breaker.ts'
import { type LanguageModel, withoutKey } from '../models/language-model.ts'
import type { Answerer } from './answerer.ts'
import { fallbackAnswerer } from './fallback-answerer.ts'
import { modelAnswerer } from './model-answerer.ts'

/** Milliseconds of silence after which a language model is given up, attempts before included. */
const timeoutMs = 30_000
const maxRetries = 2

/**
 * Answers with the language model, where there is one, and with extracts where there is none or it fails. `failed` is told why,
 * without the model's key.
 */
export function createAnswerer(
  extracts: Answerer,
  languageModel: (LanguageModel & { breaker?: CircuitBreaker }) | undefined,
  failed: (message: string) => void,
): Answerer {
  if (languageModel === undefined) return extracts
  const answerer = modelAnswerer({ ...languageModel, timeoutMs, maxRetries })
  return fallbackAnswerer(answerer, extracts, ({ message }) => failed(withoutKey(languageModel, message)))
}
