import type { Answer, Question } from '../answerer.ts'
import { extractName, refuse } from '../refused-answer.ts'

/** Pieces that joined are the answer, and what they cite; none where nothing holds enough of the question. */
export type Extract = { pieces: string[]; cited: string[] }

/** Says an extract; refuses where it holds nothing. */
export async function* answerFrom(
  { pieces, cited }: Extract,
  { language }: Pick<Question, 'language'>,
): AsyncGenerator<string, Answer> {
  if (pieces.length === 0) return yield* refuse(language)
  yield* pieces
  return { text: pieces.join(''), cited, answeredBy: extractName }
}
