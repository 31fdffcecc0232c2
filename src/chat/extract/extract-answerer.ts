import { analyserFor } from '../../search/text/analyser.ts'
import { safeQuote } from '../answer-filter.ts'
import type { Answerer, Question } from '../answerer.ts'
import { withoutCitations } from '../citations.ts'
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
  const { units, near = [] } = supporting(question)
  const pieces = compose(units)
  const cited = [...new Set(units.slice(0, pieces.length).map(({ passage }) => passage.seqId))]
  return { pieces, cited, shown: shownPassage(near) }
}

/** 0 to 1. */
function confidenceIn({ score, heading, unit }: Evidence): number {
  const { bias, ...weights } = confidence
  const sum = weights.score * score + weights.rank * unit.passage.rank + weights.heading * heading
  return 1 / (1 + Math.exp(-(bias + sum)))
}

/** A passage of a page, named by its title, that is no answer: without a citation. */
function shownPassage(units: readonly Unit[]): string {
  const [title = ''] = units[0]?.path ?? []
  const said = withoutCitations(compose(units).join(''))
  return said === '' ? '' : `**${safeQuote(title)}**\n\n${said}`.replace(/^/gm, '> ')
}

/** Answers with an extract. Needs no model and no network; the same question and passages give the same answer. */
export const extractAnswerer: Answerer = {
  async *answer(question, signal) {
    signal.throwIfAborted()
    return yield* answerFrom(extract(question), question)
  },
}

/** The units that answer, or those that might and leave it open. */
type Supporting = { units: Unit[]; near?: Unit[] }

function supporting(question: Question): Supporting {
  const { message, history, passages, language } = question
  const analyser = analyserFor(language)
  const units = answerUnits(passages.slice(0, maxPassages), analyser, language)
  const texts = questionContext(message, history, analyser)
  const own = texts.length > 1 && isWholeQuestion(message) ? answering([message], units, question) : undefined
  return own !== undefined && own.units.length > 0 ? own : answering(texts, units, question)
}

/** @param texts the question, then those before it that it leans on. */
function answering(texts: readonly string[], units: readonly Unit[], { language, synonyms }: Question): Supporting {
  const asked = askedBy(texts, units, analyserFor(language), { language, synonyms })
  if (!asked.hasSubject) return { units: [] }
  const likely = weigh(asked, units)
    .filter((one) => one.isAnswer && (asked.kind === undefined ? one.support >= minSupportByUnit[one.unit.kind] : true))
    .sort((a, b) => b.score - a.score)
  const answers = likely.filter(({ agrees }) => agrees)
  const isSure = (best: Evidence | undefined) =>
    best !== undefined && (asked.kind === undefined || confidenceIn(best) >= minConfidence)
  if (isSure(answers[0])) return { units: selectSentences(answers, units, asked.kind) }
  return { units: [], near: isSure(likely[0]) ? selectSentences(likely.slice(0, 1), units) : [] }
}
