import type { Answer, Answerer, Question } from './answerer.ts'
import { ModelError } from './model-error.ts'

const noAnswer = 'The language model did not answer; this is an extract.'
const brokeOff = 'The language model broke off.'
const brokeOffExtract = 'The language model broke off; an extract follows what it wrote.'

/**
 * Asks the model, and answers with an extract where it fails. What the model had said by then stays, with the extract behind it.
 *
 * @param failed is told of every failure: an operator must learn of a wrong key.
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
  const added = await wholeOf(extract.answer(question, signal))
  const notice = added.cited.length === 0 ? brokeOff : brokeOffExtract
  const fence = openFence(said)
  const rest = `${fence === '' ? '' : `\n${fence}`}\n\n*${notice}*${added.cited.length === 0 ? '' : `\n\n${added.text}`}`
  yield rest
  return { text: said + rest, cited: [...new Set([...cited, ...added.cited])], answeredBy: model, notice }
}

/** The fence of code that a text leaves open; empty where it leaves none. */
function openFence(text: string): string {
  const fences = text.match(/^(?:`{3,}|~{3,})/gm) ?? []
  return fences.length % 2 === 0 ? '' : (fences.at(-1) ?? '')
}

async function wholeOf(answer: AsyncGenerator<string, Answer>): Promise<Answer> {
  for (;;) {
    const { done, value } = await answer.next()
    if (done) return value
  }
}
