import type { Answerer } from '../chat/answerer.ts'
import { extractAnswerer } from '../chat/extract-answerer.ts'
import { fallbackAnswerer } from '../chat/fallback-answerer.ts'
import { modelAnswerer } from '../chat/model-answerer.ts'
import type { CircuitBreaker } from '../models/circuit-breaker.ts'
import { type LanguageModel, withoutKey } from '../models/language-model.ts'

/** Milliseconds of silence after which a language model is given up, attempts before included. */
const timeoutMs = 30_000
const maxRetries = 2

/**
 * Answers with the language model, where there is one, and with extracts where there is none or it fails. `failed` is told why,
 * without the model's key.
 */
export function createAnswerer(
  languageModel: (LanguageModel & { breaker?: CircuitBreaker }) | undefined,
  failed: (message: string) => void,
): Answerer {
  if (languageModel === undefined) return extractAnswerer
  const answerer = modelAnswerer({ ...languageModel, timeoutMs, maxRetries })
  return fallbackAnswerer(answerer, extractAnswerer, ({ message }) => failed(withoutKey(languageModel, message)))
}
