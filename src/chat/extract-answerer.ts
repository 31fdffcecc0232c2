import { analyserFor } from '../search/text/analyser.ts'
import type { Answer, Answerer, Question } from './answerer.ts'
import { compose } from './compose.ts'
import { askedBy, weigh } from './evidence.ts'
import { questionContext } from './question-context.ts'
import { extractName, refuse } from './refusal.ts'
import { select } from './select.ts'
import { type Unit, unitsOf } from './units.ts'

/** Passages that are read: the answer is not in those that rank below. */
const maxPassages = 20
/**
 * So much of the question must be in a sentence or around it, weighed by how few of the sentences hold each term. Items and
 * rows need more: those beside them seldom go on with the same thing, and long lists hold any few words by chance.
 */
const minSupport = { paragraph: 0.52, code: 0.52, item: 0.7, row: 0.7 }

/** Pieces that joined are the answer, and what they cite; none where nothing holds enough of the question. */
export type Extract = { pieces: string[]; cited: string[] }

/** The sentences of the passages that hold most of the question, each with its citation. */
export function extract(question: Question): Extract {
  const units = supporting(question)
  const pieces = compose(units)
  return { pieces, cited: [...new Set(units.slice(0, pieces.length).map(({ passage }) => passage.seqId))] }
}

/** Says an extract; refuses where it holds nothing. */
export async function* answerFrom(
  { pieces, cited }: Extract,
  { language }: Pick<Question, 'language'>,
): AsyncGenerator<string, Answer> {
  if (pieces.length === 0) return yield* refuse(language)
  yield* pieces
  return { text: pieces.join(''), cited, answeredBy: extractName }
}

/** Answers with an extract. Needs no model and no network; the same question and passages give the same answer. */
export const extractAnswerer: Answerer = {
  async *answer(question, signal) {
    signal.throwIfAborted()
    return yield* answerFrom(extract(question), question)
  },
}

function supporting({ message, history, passages, language }: Question): Unit[] {
  const analyser = analyserFor(language)
  const units = unitsOf(passages.slice(0, maxPassages), analyser, language)
  const asked = askedBy(questionContext(message, history, analyser), units, analyser, language)
  if (!asked.hasSubject) return []
  return select(weigh(asked, units), minSupport)
}
