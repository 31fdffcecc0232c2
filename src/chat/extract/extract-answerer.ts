import { analyserFor } from '../../search/text/analyser.ts'
import { safeQuote } from '../answer-filter.ts'
import type { Answerer, Question } from '../answerer.ts'
import { withoutCitations } from '../citations.ts'
import { type Asked, askedBy } from './asked.ts'
import { compose } from './compose.ts'
import { featuresOf, scoreOf } from './features.ts'
import { denies } from './polarity.ts'
import { isWholeQuestion, questionContext } from './question-context.ts'
import { following } from './quoting.ts'
import { answerFrom, type Extract } from './say-extract.ts'
import { selectUnits } from './select-units.ts'
import { answerUnits, type Unit } from './units.ts'
import { anyLanguage, english } from './weights.ts'

/** Passages that are read: the answer is not in those that rank below. */
export const maxPassages = 10
/** Below this, a wrong answer is too likely. */
export const minScore = { english: 0.5, anyLanguage: 1 }

/** The sentences of the passages that hold most of the question, each with its citation. */
export function extract(question: Question): Extract {
  const { units, near = [] } = supporting(question)
  const pieces = compose(units)
  const cited = [...new Set(units.slice(0, pieces.length).map(({ passage }) => passage.seqId))]
  return { pieces, cited, shown: shownPassage(near) }
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
  const { message, history, language } = question
  const analyser = analyserFor(language)
  const passages = question.passages.slice(0, maxPassages)
  const texts = questionContext(message, history, analyser)
  if (texts.length > 1 && isWholeQuestion(message)) {
    // They were found, and ranked, for the questions before it, too.
    const unranked = passages.map((passage) => ({ ...passage, rank: 1 }))
    const own = answering([message], answerUnits(unranked, analyser, language), question)
    if (own.units.length > 0) return own
  }
  return answering(texts, answerUnits(passages, analyser, language), question)
}

/** @param texts the question, then those before it that it leans on. */
function answering(texts: readonly string[], units: readonly Unit[], { language, synonyms }: Question): Supporting {
  const asked = askedBy(texts, units, analyserFor(language), { language, synonyms })
  if (asked.words.every(({ isLight }) => isLight)) return { units: [] }
  const [weights, least] = asked.kind === undefined ? [anyLanguage, minScore.anyLanguage] : [english, minScore.english]
  const scored = featuresOf(asked, units)
    .flatMap((features, at) => {
      const unit = units[at]
      if (unit === undefined || features === undefined || announcesNothing(unit, units)) return []
      return { unit, score: scoreOf(features, weights) }
    })
    .sort((a, b) => b.score - a.score)
  const answers = scored.filter(({ unit }) => agrees(asked, unit))
  const isSure = ([best]: typeof scored) => best !== undefined && best.score >= least
  if (isSure(answers)) return { units: selectUnits(answers, units, asked) }
  return { units: [], near: isSure(scored) ? selectUnits(scored.slice(0, 1), units, asked) : [] }
}

/** Whether a unit denies where the question asks for what is not so. `Why can't I …?` asks for what is. */
function agrees({ kind, text }: Asked, unit: Unit): boolean {
  if (kind === undefined || kind === 'yes or no' || kind === 'reason' || kind === 'way' || !denies(text)) return true
  return denies([unit.text, unit.lead?.text ?? '', unit.path.at(-1) ?? ''].join('\n'))
}

function announcesNothing(unit: Unit, units: readonly Unit[]): boolean {
  return unit.text.endsWith(':') && following(unit, units).length === 0
}
