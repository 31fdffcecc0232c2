import { analyserFor } from '../../search/text/analyser.ts'
import { safeQuote } from '../answer-filter.ts'
import type { Answerer, Question } from '../answerer.ts'
import { withoutCitations } from '../citations.ts'
import { answerFrom, type Extract } from '../refused-answer.ts'
import { denies } from './answer-type.ts'
import { type Asked, askedBy } from './asked.ts'
import { compose } from './compose.ts'
import { anyLanguage, english, featuresOf, scoreOf } from './features.ts'
import { isWholeQuestion, questionContext } from './question-context.ts'
import { following } from './quoting.ts'
import { selectUnits } from './select-units.ts'
import { quotableUnits, type Unit } from './units.ts'

/** Maximum passages to read: lower ranks do not contain the answer. */
export const maxPassages = 10
/** Minimum score: below it, a wrong answer is too likely. */
export const minScore = { english: 0.5, anyLanguage: 1 }

/** Extracts the sentences of the passages with most of the question, each with its citation. */
export function extract(question: Question): Extract {
  const { units, near = [] } = supporting(question)
  const pieces = compose(units)
  const cited = [...new Set(units.slice(0, pieces.length).map(({ passage }) => passage.seqId))]
  return { pieces, cited, shown: shownPassage(near) }
}

/** Quotes a passage that is no answer, with the title of its page and without a citation. */
function shownPassage(units: readonly Unit[]): string {
  const [title = ''] = units[0]?.path ?? []
  const said = withoutCitations(compose(units).join(''))
  return said === '' ? '' : `**${safeQuote(title)}**\n\n${said}`.replace(/^/gm, '> ')
}

/** Answers with an extract, without a model or network. The same question and passages give the same answer. */
export const extractAnswerer: Answerer = {
  async *answer(question, signal) {
    signal.throwIfAborted()
    return yield* answerFrom(extract(question), question)
  },
}

/** Units that answer, or `near` ones that may answer. */
type Supporting = { units: Unit[]; near?: Unit[] }

function supporting(question: Question): Supporting {
  const { message, history, language } = question
  const analyser = analyserFor(language)
  const passages = question.passages.slice(0, maxPassages)
  const texts = questionContext(message, history, analyser)
  if (texts.length > 1 && isWholeQuestion(message)) {
    // Ranks are ignored, because the passages were also ranked for the earlier questions.
    const unranked = passages.map((passage) => ({ ...passage, rank: 1 }))
    const own = answering([message], quotableUnits(unranked, analyser, language), question)
    if (own.units.length > 0) return own
  }
  return answering(texts, quotableUnits(passages, analyser, language), question)
}

/** Selects the units that answer. @param texts the question, then the earlier ones that it refers to */
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

/** True unless the question asks for a denial and the unit has none. `Why can't I …?` is no such question. */
function agrees({ kind, text }: Asked, unit: Unit): boolean {
  if (kind === undefined || kind === 'yes or no' || kind === 'reason' || kind === 'way' || !denies(text)) return true
  return denies([unit.text, unit.lead?.text ?? '', unit.path.at(-1) ?? ''].join('\n'))
}

function announcesNothing(unit: Unit, units: readonly Unit[]): boolean {
  return unit.text.endsWith(':') && following(unit, units).length === 0
}
