import type { Answerer } from '../../../src/chat/answerer.ts'
import extractPassages from '../../../src/chat/extract/extract-passages.ts'
import { answerFrom } from '../../../src/chat/refused-answer.ts'

/** Answers with an extract, without a thread. */
export const extractAnswerer: Answerer = {
  async *answer(question, signal) {
    signal.throwIfAborted()
    return yield* answerFrom(extractPassages(question), question)
  },
}
