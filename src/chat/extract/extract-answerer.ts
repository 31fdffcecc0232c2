import { analyserFor } from '../../search/text/analyser.ts'
import type { Answerer, Question } from '../answerer.ts'
import { askedBy } from './asked.ts'
import { compose } from './compose.ts'
import { type Evidence, weigh } from './evidence.ts'
import { isWholeQuestion, questionContext } from './question-context.ts'
import { answerFrom, type Extract } from './say-extract.ts'
import { selectSentences } from './select-sentences.ts'
import { answerUnits, type Unit } from './units.ts'

/** Passages that are read: the answer is not in those that rank below. */
const maxPassages = 10
/**
 * How likely evidence for an English question is right: a logistic regression (Platt, Probabilistic Outputs for Support Vector
 * Machines, 1999) on its score, the rank of its passage, and the part of the question that its heading holds, fitted to seven
 * development sets of `bench/answers`. `docs/benchmarks.md` has the figures on others, and says what else was tried.
 */
const confidence = { bias: -8.6, score: 4.8, rank: 3.3, heading: 1.9 }
/** Below this, a wrong answer is too likely. */
const minConfidence = 0.68
/**
 * So much of a question in another language, where nothing is known of what it wants. Items and rows need more: those beside them
 * seldom go on with the same thing, and long lists hold any few words by chance.
 */
const minSupportByUnit = { paragraph: 0.52, code: 0.52, item: 0.7, row: 0.7 }

/** The sentences of the passages that hold most of the question, each with its citation. */
export function extract(question: Question): Extract {
  const units = supporting(question)
  const pieces = compose(units)
  return { pieces, cited: [...new Set(units.slice(0, pieces.length).map(({ passage }) => passage.seqId))] }
}

/** 0 to 1. */
function confidenceIn({ score, heading, unit }: Evidence): number {
  const { bias, ...weights } = confidence
  const sum = weights.score * score + weights.rank * unit.passage.rank + weights.heading * heading
  return 1 / (1 + Math.exp(-(bias + sum)))
}

/** Answers with an extract. Needs no model and no network; the same question and passages give the same answer. */
export const extractAnswerer: Answerer = {
  async *answer(question, signal) {
    signal.throwIfAborted()
    return yield* answerFrom(extract(question), question)
  },
}

function supporting(question: Question): Unit[] {
  const { message, history, passages, language } = question
  const analyser = analyserFor(language)
  const units = answerUnits(passages.slice(0, maxPassages), analyser, language)
  const texts = questionContext(message, history, analyser)
  const own = texts.length > 1 && isWholeQuestion(message) ? answering([message], units, question) : []
  return own.length > 0 ? own : answering(texts, units, question)
}

/** @param texts the question, then those before it that it leans on. */
function answering(texts: readonly string[], units: readonly Unit[], { language, synonyms }: Question): Unit[] {
  const asked = askedBy(texts, units, analyserFor(language), { language, synonyms })
  if (!asked.hasSubject) return []
  const answers = weigh(asked, units)
    .filter(({ isAnswer }) => isAnswer)
    .sort((a, b) => b.score - a.score)
  const [best] = answers
  if (asked.kind !== undefined)
    return best && confidenceIn(best) >= minConfidence ? selectSentences(answers, units) : []
  return selectSentences(
    answers.filter(({ unit, support }) => support >= minSupportByUnit[unit.kind]),
    units,
  )
}
