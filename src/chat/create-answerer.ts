import { withoutKey } from '../models/language-model.ts'
import type { Answerer } from './answerer.ts'
import { fallbackAnswerer } from './fallback-answerer.ts'
import { type ModelOptions, modelAnswerer } from './model-answerer.ts'

const maxRetries = 2

/**
 * Answers with the language model, where there is one, and with extracts where there is none or it fails. `failed` is told why,
 * without the model's key.
 */
export function createAnswerer(
  extracts: Answerer,
  languageModel: Omit<ModelOptions, 'maxRetries'> | undefined,
  failed: (message: string) => void,
): Answerer {
  if (languageModel === undefined) return extracts
  const answerer = modelAnswerer({ ...languageModel, maxRetries })
  return fallbackAnswerer(answerer, extracts, ({ message }) => failed(withoutKey(languageModel, message)))
}
