import { withoutKey } from '../models/language-model.ts'
import { wholeAnswer } from './answer-question.ts'
import { type Answer, type Answerer, ModelError, type Question } from './answerer.ts'
import { type ModelOptions, modelAnswerer } from './model-answerer.ts'

const maxRetries = 2

/**
 * Creates an answerer that uses the language model if there is one, and extracts if there is none or it fails. `failed` receives
 * the reason, without the model's key.
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

const noAnswer = 'The language model did not answer; this is an extract.'
const brokeOff = 'The language model broke off.'
const brokeOffExtract = 'The language model broke off; an extract follows what it wrote.'

/**
 * Asks the model, and answers with an extract if it fails. The text of a model that fails midway stays, followed by the extract.
 * @param failed receives every failure: an operator must learn of a wrong key
 */
export function fallbackAnswerer(model: Answerer, extract: Answerer, failed: (error: ModelError) => void): Answerer {
  return {
    searchWords: (...asked) => model.searchWords?.(...asked) ?? Promise.resolve(undefined),
    async *answer(question, signal) {
      try {
        return yield* model.answer(question, signal)
      } catch (error) {
        if (!(error instanceof ModelError)) throw error
        failed(error)
        if (error.said === '') return { ...(yield* extract.answer(question, signal)), notice: noAnswer }
        return yield* goOn(error, extract, question, signal)
      }
    },
  }
}

async function* goOn(
  { model, said, cited }: ModelError,
  extract: Answerer,
  question: Question,
  signal: AbortSignal,
): AsyncGenerator<string, Answer> {
  const added = await wholeAnswer(extract.answer(question, signal))
  const notice = added.cited.length === 0 ? brokeOff : brokeOffExtract
  const fence = openFence(said)
  const rest = `${fence === '' ? '' : `\n${fence}`}\n\n*${notice}*${added.cited.length === 0 ? '' : `\n\n${added.text}`}`
  yield rest
  return { text: said + rest, cited: [...new Set([...cited, ...added.cited])], answeredBy: model, notice }
}

/** Returns the code fence that a text leaves open, or an empty text. */
function openFence(text: string): string {
  const fences = text.match(/^(?:`{3,}|~{3,})/gm) ?? []
  return fences.length % 2 === 0 ? '' : (fences.at(-1) ?? '')
}
