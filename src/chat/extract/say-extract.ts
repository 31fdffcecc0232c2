import type { Answer, Question } from '../answerer.ts'
import { extractName, refuse } from '../refused-answer.ts'

/**
 * Pieces that joined are the answer, and what they cite; none where nothing holds enough of the question. `shown` is then the
 * passage that comes nearest, if words alone cannot tell whether it answers.
 */
export type Extract = { pieces: string[]; cited: string[]; shown?: string }

/** Says an extract; refuses where it holds nothing. */
export async function* answerFrom(
  { pieces, cited, shown }: Extract,
  { language }: Pick<Question, 'language'>,
): AsyncGenerator<string, Answer> {
  if (pieces.length === 0) return yield* refuse(language, shown)
  yield* pieces
  return { text: pieces.join(''), cited, answeredBy: extractName }
}
