import { hasNewDate, hasNewName, hasShapeOf } from './answer-shape.ts'
import type { Asked, AskedWord } from './asked.ts'
import { belonging, following, isQuestion, isStep } from './belonging.ts'
import { counts } from './counting.ts'
import { type Counts, type Coverage, countsIn, coverageOf, worth } from './coverage.ts'
import { denies, limits } from './polarity.ts'
import { kindOf } from './question-kind.ts'
import { defines, posedBy, saysWho } from './statement.ts'
import { holds, type Unit } from './units.ts'

/** What is said of how well a unit answers. */
export type Evidence = {
  unit: Unit
  /** 0 to 1: the part of the question that the unit holds, or what stands around it. */
  support: number
  /** 0 to 1: the part of the question that its innermost heading holds. */
  heading: number
  /** Support, and what makes a good answer besides; to rank by. */
  score: number
  /** Words of the question that it holds itself. */
  own: ReadonlySet<AskedWord>
  /** Whether it answers what is asked for: names are there, and what the kind of the question wants. */
  isAnswer: boolean
  /** Whether it denies, where what is not so is asked for. */
  agrees: boolean
  /** Whether the date that is asked for stands in its heading alone. */
  isDatedByHeading: boolean
}

/** What holds less of the question is never an answer, and is not looked at more closely. */
const minSupport = 0.5
/** A name counts as there where it stands no farther away than this. */
const minName = worth.neighbour
/** So does the thing that is asked for; on a page that is about so much of the question, it may stand anywhere in the passage. */
const minFocus = worth.block
const minContext = 0.5
/** What somebody does stands in the sentence that says who does it, or above it; so do the things that are counted. */
const minClose = 0.72
/** What the kind of thing that is asked for counts where a name of one stands instead: `English` for `which languages`. */
const byName = 0.7
const namedKinds =
  /\b(?:languages?|cit(?:y|ies)|countr(?:y|ies)|compan(?:y|ies)|organi[sz]ations?|vendors?|person|people)$/i

/** For what has what the kind of the question wants. */
const shapeBonus = 0.12
const adjacencyBonus = 0.1
const rankBonus = 0.15
/** For the verb of the question with its preposition: `written in` of `Which language is it written in?`. */
const endingBonus = 0.25
/** For what says that it is not so, or not always, of a question whether it is. */
const limitBonus = 0.2
/** For the part of the question that stands in the sentence itself, and that which stands in its title and headings. */
const ownBonus = 0.3
const contextBonus = 0.2
/** For a sentence that begins with what is asked of `what is`, and a verb. */
const asksWhatIs = /^\W*what(?:['’]s| is| are)\b/i
const statementBonus = 0.3
/** For what stands on a page that the question names by its whole title, and under a heading that says what it asks. */
const titleBonus = 0.1
const headingBonus = 0.25
/** On top, for the first of what stands there. */
const firstBonus = 0.3
const minHeading = 0.7
/** For what answers a question that the text asks itself in much the same words, and how much of the question those are. */
const posedBonus = 0.3
const minPosed = 0.6
/** Characters of a sentence that says little by itself, e.g. `See below.` */
const short = 25
const shortPenalty = 0.15
/** For what says no more than a word beyond the question and its own title, e.g. `Name: reports` of reports. */
const echoPenalty = 0.4
/** For a question in the text, which says less than what answers it. */
const questionPenalty = 0.1

/** How well each unit answers, in their order. */
export function weigh(asked: Asked, units: readonly Unit[]): Evidence[] {
  const terms = new Set(asked.words.flatMap((word) => word.terms))
  const coverages = coverageOf(asked.words, units)
  return units.map((unit, index) => evidenceOf(asked, terms, unit, units, coverages[index]))
}

function evidenceOf(
  asked: Asked,
  terms: ReadonlySet<string>,
  unit: Unit,
  units: readonly Unit[],
  { own, heading, context, best }: Coverage = { own: [], heading: [], context: [], best: [] },
): Evidence {
  const { words, kind } = asked
  const share = (counts: Counts) => shareOf(words, counts)
  for (const [at, word] of words.entries()) {
    if (isNamedKind(asked, word) && (best[at] ?? 0) < byName && hasNewName(unit.text, asked.known)) best[at] = byName
  }
  const support = share(best)
  const held = new Set(words.filter((_, at) => (own[at] ?? 0) > 0))
  if (support < minSupport)
    return {
      unit,
      support,
      heading: 0,
      score: support,
      own: held,
      isAnswer: false,
      agrees: true,
      isDatedByHeading: false,
    }
  const quoted = [unit, ...belonging(unit, units)]
  const posed = posedBy(unit)
  const isPosed =
    posed !== undefined &&
    (kind === undefined || kindOf(posed.text) === kind) &&
    !(isQuestion(unit) && quoted.length === 1) &&
    share(countsIn(words, posed.terms, '')) >= minPosed
  const isProcedure = kind === 'way' && quoted.some(isStep)
  const isDatedByHeading =
    kind === 'when' &&
    unit.isFirst &&
    !hasNewDate(unit.text, asked.text) &&
    hasNewDate(unit.path.at(-1) ?? '', asked.text)
  const hasShape =
    kind === undefined || isProcedure || isPosed || isDatedByHeading || showsWhatIsAsked(asked, terms, unit, quoted)
  const [inHeading, inContext] = [share(heading), share(context)]
  const bonus =
    ownBonus * share(own) +
    contextBonus * inContext +
    (inHeading >= minHeading ? headingBonus * inHeading + (unit.isFirst ? firstBonus : 0) : 0) +
    (isPosed ? posedBonus : 0) +
    (hasShape && kind !== undefined ? shapeBonus : 0) +
    (adjacencyBonus * adjacent(words, unit)) / Math.max(1, words.length - 1) +
    rankBonus * unit.passage.rank +
    (asked.ending?.test(unit.text) ? endingBonus : 0) +
    (kind === 'yes or no' && limits(unit.text) ? limitBonus : 0) +
    (isIn(unit.title, terms) ? titleBonus : 0) +
    (kind === 'other' && asksWhatIs.test(asked.text) && defines(words, unit) ? statementBonus : 0) -
    (unit.text.length < short && unit.kind === 'paragraph' ? shortPenalty : 0) -
    (isEcho(unit, terms) ? echoPenalty : 0) -
    (isQuestion(unit) && !isPosed ? questionPenalty : 0)
  const leastOfFocus = inContext >= minContext ? worth.passage : kind === 'quantity' ? minClose : minFocus
  const isThere = words.every((word, at) => {
    const least = Math.max(
      word.isName ? minName : 0,
      isFocus(asked, word) ? leastOfFocus : 0,
      isAct(asked, word) ? minClose : 0,
    )
    return (best[at] ?? 0) >= least
  })
  return {
    unit,
    support,
    heading: inHeading,
    score: support + (held.size > 0 || inHeading > 0.5 ? bonus : 0),
    own: held,
    isAnswer:
      hasShape &&
      isThere &&
      !announcesNothing(unit, units) &&
      (kind !== 'definition' || defines(words, unit, units[unit.position + 1])),
    agrees: agrees(asked, unit),
    isDatedByHeading,
  }
}

/** Whether a unit denies where the question asks for what is not so. `Why can't I …?` asks for what is. */
function agrees({ kind, text }: Asked, unit: Unit): boolean {
  if (kind === undefined || kind === 'yes or no' || kind === 'reason' || kind === 'way' || !denies(text)) return true
  return denies([unit.text, unit.lead?.text ?? '', unit.path.at(-1) ?? ''].join('\n'))
}

function announcesNothing(unit: Unit, units: readonly Unit[]): boolean {
  return unit.text.endsWith(':') && following(unit, units).length === 0
}

/** Whether a unit, with what is quoted beside it, has what the kind of the question wants. */
function showsWhatIsAsked(
  { kind, text, known, act, focusText }: Asked,
  terms: ReadonlySet<string>,
  unit: Unit,
  quoted: readonly Unit[],
): boolean {
  if (kind === undefined) return true
  if (kind === 'quantity' && !counts(focusText, unit.text)) return false
  if (kind === 'who' && saysWho(act, terms, unit.terms)) return true
  if (kind === 'quantity') return hasShapeOf(kind, unit.text, text)
  // What a pronoun stands for says nothing of it.
  const own = quoted.filter(({ position }) => position >= unit.position)
  return hasShapeOf(kind, own.map((one) => one.text).join('\n'), kind === 'who' ? known : text)
}

/** Whether a word is the thing that is asked for, or the number of. */
function isFocus({ kind, focus }: Asked, { terms: [term = ''] }: AskedWord): boolean {
  return (kind === 'choice' || kind === 'quantity') && focus.includes(term)
}

/** Whether a word is what somebody does, of a question who does it. */
function isAct({ kind, act }: Asked, { terms: [term = ''] }: AskedWord): boolean {
  return kind === 'who' && act.has(term)
}

function isNamedKind(asked: Asked, word: AskedWord): boolean {
  return isFocus(asked, word) && word.terms[0] === asked.focus.at(-1) && namedKinds.test(asked.focusText)
}

/** The part of a question, by the weights of its words, that counts make up. */
function shareOf(words: readonly AskedWord[], counts: Counts): number {
  let [held, all] = [0, Number.MIN_VALUE]
  for (const [at, { weight }] of words.entries()) {
    all += weight
    held += weight * (counts[at] ?? 0)
  }
  return held / all
}

/** How many words of the question stand in a unit right after the one that they follow in the question. */
function adjacent(words: readonly AskedWord[], unit: Unit): number {
  return words.filter(({ terms: [term] }, at) => holds(unit.terms, `${words[at - 1]?.terms[0]} ${term}`)).length
}

function isIn(title: string, terms: ReadonlySet<string>): boolean {
  return title
    .trim()
    .split(' ')
    .every((term) => terms.has(term))
}

function isEcho({ kind, terms, context }: Unit, asked: ReadonlySet<string>): boolean {
  if (kind === 'code') return false
  const added = new Set(terms.trim().split(' ')).difference(asked)
  return [...added].filter((term) => !holds(context, term)).length <= 1
}
