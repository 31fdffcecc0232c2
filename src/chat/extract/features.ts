import { counts, limits, showsType } from './answer-type.ts'
import type { Asked, AskedWord } from './asked.ts'
import { kindOf } from './question-kind.ts'
import { isAnaphoric, isQuestion } from './quoting.ts'
import { holds, type Unit } from './units.ts'

/** Score of each word of the question in a place, 0 to 1, in their order. */
type Counts = readonly number[]

/** Score of an equivalent of a word. */
const alike = 0.9
/** Margin of a page that is the only one. */
const aloneMargin = 0.5
/** Share of the question from which a question in the text asks the same. */
const samePosed = 0.6
/** Stems of verbs that state what their subject is or does. */
const saying = new Set(
  'is are was were can will must has have mean means refer stand describ let allow enabl provid repres contain do doe handl manag show hide help defin form make give keep consist'.split(
    ' ',
  ),
)

/**
 * Features of a unit as an answer. The first four are shares of the question, weighted by word: in the unit itself, and what its
 * block and lead, its heading, and its title and other headings add. From `name` on they apply to English alone.
 */
export const features = [
  'own',
  'near',
  'heading',
  'path',
  /** Score of the rarest word. */
  'rarest',
  /** Share of the question that is in no unit. */
  'absent',
  /** Share of word pairs that are consecutive as in the question. */
  'adjacent',
  /** Rank of the passage. */
  'rank',
  /** Lead of its page in rank, for units of the first page. */
  'margin',
  /** Share of the question in its heading, for the first unit below it. */
  'first',
  /** Share of the question in its heading, times the share of the heading in the question. */
  'headingFit',
  /** Share of the question in a question that the text asks and the unit answers, or in a heading with the date. */
  'posed',
  /** 1 if a name is missing. */
  'name',
  /** 1 if a number is asked for and present. */
  'number',
  /** 1 if what is asked for otherwise, e.g. a place, is missing. */
  'untyped',
  /** 1 if the number counts the things asked for. */
  'counted',
  /** Share of the question if it defines a thing, where a definition is asked for. */
  'defines',
  /** Share of the question if it denies or restricts something, where yes or no is asked for. */
  'limits',
] as const
export type Features = Record<(typeof features)[number], number>
/** Weight of each feature in the log-odds that a unit answers. */
export type Weights = Readonly<Partial<Features>> & { readonly bias: number }

/** Returns the features of each unit, in their order; undefined for one without the number or person asked for. */
export function featuresOf(asked: Asked, units: readonly Unit[]): (Features | undefined)[] {
  const { words, pairs, kind, noun } = asked
  const share = (counts: Counts) => shareOf(words, counts)
  // Code counts by its comments.
  const own = units.map((unit) =>
    countsIn(words, unit.kind === 'code' ? unit.comments : unit.terms, unit.kind === 'code' ? '' : unit.text),
  )
  const blocks = new Map<number, Counts>()
  for (const [index, { block, kind, terms, text }] of units.entries())
    blocks.set(block, most(blocks.get(block), kind === 'code' ? countsIn(words, terms, text) : own[index]))
  const absent =
    1 -
    share(
      [...blocks.values()].reduce(
        (all, counts) => most(counts, all),
        words.map(() => 0),
      ),
    )
  const terms = new Set(words.flatMap((word) => word.terms))
  const rarest = words.reduce((best, { weight }, at) => (weight > (words[best]?.weight ?? 0) ? at : best), 0)
  const first = units[0]?.passage
  const second = units.find(({ passage }) => passage.seqId !== first?.seqId)?.passage
  const margin = second === undefined ? aloneMargin : (first?.rank ?? 0) - second.rank
  const paths = new Map<string, { heading: Counts; context: Counts }>()
  return units.map((unit, index) => {
    const posed = posedBy(unit)
    const isAlike = posed !== undefined && (kind === undefined || kindOf(posed.text) === kind)
    const inPosed = isAlike ? share(countsIn(words, posed.terms, '')) : 0
    const isTyped = inPosed >= samePosed || showsWanted(asked, unit, units)
    if (strict.has(kind) && !isTyped) return undefined
    const key = unit.path.join('\n')
    const isDated = isDatedByHeading(asked, unit)
    const ofPath = paths.get(key) ?? {
      heading: countsIn(words, unit.heading, unit.path.at(-1) ?? ''),
      context: countsIn(words, unit.context, key),
    }
    paths.set(key, ofPath)
    const isLed = isAnaphoric(unit) && units[index - 1]?.block === unit.block
    const inOwn = most(own[index], isLed ? own[index - 1] : [])
    const inNear = most(most(inOwn, blocks.get(unit.block)), unit.lead && own[unit.lead.position])
    const inHeading = most(inNear, ofPath.heading)
    const inPath = most(inHeading, ofPath.context)
    const headingShare = share(ofPath.heading)
    return {
      own: share(inOwn),
      near: share(inNear) - share(inOwn),
      heading: share(inHeading) - share(inNear),
      path: share(inPath) - share(inHeading),
      rarest: Math.max(inOwn[rarest] ?? 0, 0.6 * (inPath[rarest] ?? 0)),
      absent,
      adjacent:
        pairs.filter((pair) => holds(unit.kind === 'code' ? unit.comments : unit.terms, pair)).length /
        Math.max(1, pairs.length),
      rank: unit.passage.rank,
      margin: unit.passage.seqId === first?.seqId ? margin : 0,
      first: unit.isFirst ? headingShare : 0,
      headingFit: headingShare * partAsked(unit.heading, terms),
      posed: isDated ? headingShare : inPosed,
      name: Number(words.some(({ isName }, at) => isName && (inPath[at] ?? 0) === 0)),
      number: Number(numeric.has(kind)),
      untyped: Number(loose.has(kind) && !isTyped),
      counted: Number(kind === 'quantity' && noun !== '' && counts(noun, unit.text)),
      defines: asksWhatIs(asked) && defines(words, unit) ? share(inNear) : 0,
      limits: kind === 'yes or no' && limits(unit.text) ? share(inNear) : 0,
    }
  })
}

/** Returns the log-odds that a unit answers. */
export function scoreOf(known: Features, { bias, ...weights }: Weights): number {
  return features.reduce((sum, name) => sum + known[name] * (weights[name] ?? 0), bias)
}

/** Kinds of questions whose answers need a text of their form, and those whose answers usually have it. */
const numeric = new Set<Asked['kind']>(['when', 'duration', 'quantity'])
const strict = new Set<Asked['kind']>([...numeric, 'who'])
const loose = new Set<Asked['kind']>(['place', 'reason', 'choice'])

function showsWanted(asked: Asked, unit: Unit, units: readonly Unit[]): boolean {
  const { kind, text } = asked
  if (kind === undefined) return false
  if (kind === 'way' && (unit.kind === 'code' || (unit.kind === 'item' && /^\d/.test(unit.marker)))) return true
  const next = units[unit.position + 1]
  const said = [
    unit.text,
    next?.block === unit.block ? next.text : '',
    isDatedByHeading(asked, unit) ? unit.path.at(-1) : '',
  ]
  return showsType(kind, said.join('\n'), text)
}

/** True if the date asked for is only in the heading, for the first unit below it. */
export function isDatedByHeading({ kind, text }: Pick<Asked, 'kind' | 'text'>, unit: Unit): boolean {
  return (
    kind === 'when' &&
    unit.isFirst &&
    !showsType(kind, unit.text, text) &&
    showsType(kind, unit.path.at(-1) ?? '', text)
  )
}

function asksWhatIs({ kind, text }: Asked): boolean {
  return kind === 'definition' || /^\W*what(?:['’]s| is| are)\b/i.test(text)
}

/** True if a unit defines its subject: it begins with the words asked for and a verb, or a colon. */
function defines(words: readonly AskedWord[], { kind, text, terms }: Unit): boolean {
  const subject = words.filter(({ isLight }) => !isLight)
  if (kind === 'code' || subject.length === 0) return false
  const said = terms.trim().split(' ')
  const last = said
    .slice(0, subject.length + 3)
    .findIndex((_, at) => countsIn(subject, ` ${said.slice(0, at + 1).join(' ')} `, '').every((count) => count > 0))
  if (last < 0) return false
  const [, named = ''] = /^\W*([^:–—]{1,60}?)\W*(?::|\s[–—-])\s/.exec(text) ?? []
  return said.slice(last + 1, last + 3).some((term) => saying.has(term)) || named.split(/\s+/).length === last + 1
}

/** Returns the question that a unit answers: one that it is or begins with, or the heading directly above it. */
function posedBy(unit: Unit): { terms: string; text: string } | undefined {
  if (isQuestion(unit)) return unit
  if (unit.posed !== '') return { terms: unit.posed, text: unit.text }
  const text = unit.path.at(-1) ?? ''
  return unit.isFirst && /\?\s*$/.test(text) ? { terms: unit.heading, text } : undefined
}

/** Scores each word in terms, or in the text for words to be matched literally. */
function countsIn(words: readonly AskedWord[], terms: string, text: string): Counts {
  return words.map(({ terms: own, others, isName, exact }) => {
    if (exact !== undefined) return Number(exact.test(text))
    if (own.some((term) => holds(terms, term))) return 1
    return !isName && others.some((other) => holds(terms, other)) ? alike : 0
  })
}

function most(a: Counts | undefined, b: Counts = []): Counts {
  return a === undefined ? b : a.map((count, at) => Math.max(count, b[at] ?? 0))
}

/** Returns the share of a question that scores make up, by the weights of its words. */
function shareOf(words: readonly AskedWord[], counts: Counts): number {
  let [held, all] = [0, Number.MIN_VALUE]
  for (const [at, { weight }] of words.entries()) {
    all += weight
    held += weight * (counts[at] ?? 0)
  }
  return held / all
}

/** Returns the share of a heading's terms that are in the question. */
function partAsked(title: string, asked: ReadonlySet<string>): number {
  const terms = title.trim().split(' ')
  return terms.filter((term) => asked.has(term)).length / terms.length
}

/** Fitted by `npm run bench answers-fit`. */
export const english: Weights = {
  bias: -8.07,
  own: 5.74,
  near: 2.19,
  heading: 3.93,
  path: 3.69,
  rarest: 0.62,
  absent: -1.63,
  adjacent: 2.41,
  rank: 2.35,
  margin: 2.15,
  first: 1.13,
  headingFit: 3.66,
  posed: 4.25,
  name: -1.59,
  number: 0.45,
  untyped: -1.29,
  counted: 0.76,
  defines: 4,
  limits: 2.44,
}

/** Weights for questions in other languages: fitted to the same English questions, without the features of English alone. */
export const anyLanguage: Weights = {
  bias: -8.68,
  own: 5.99,
  near: 2.78,
  heading: 3.57,
  path: 2.35,
  rarest: 0.43,
  absent: -1.94,
  adjacent: 2.66,
  rank: 2.76,
  margin: 2.38,
  first: 0.98,
  headingFit: 3.48,
  posed: 3.5,
}
