import { analyserFor } from '../search/analyser.ts'
import type { Answerer, Question } from './answerer.ts'
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

/**
 * Answers with the sentences of the passages that hold most of the question, each with its citation, and refuses where none
 * holds enough of it. Needs no model and no network; the same question and passages give the same answer.
 */
export const extractAnswerer: Answerer = {
  async *answer(question, signal) {
    signal.throwIfAborted()
    const units = supporting(question)
    if (units.length === 0) return yield* refuse(question.language)
    const pieces = compose(units)
    yield* pieces
    const cited = [...new Set(units.slice(0, pieces.length).map(({ passage }) => passage.seqId))]
    return { text: pieces.join(''), cited, answeredBy: extractName }
  },
}

function supporting({ message, history, passages, language }: Question): Unit[] {
  const analyser = analyserFor(language)
  const units = unitsOf(passages.slice(0, maxPassages), analyser, language)
  const asked = askedBy(questionContext(message, history, analyser), units, analyser, language)
  if (!asked.hasSubject) return []
  return select(weigh(asked, units), minSupport)
}
