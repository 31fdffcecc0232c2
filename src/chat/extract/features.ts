import { counts, showsType } from './answer-type.ts'
import type { Asked, AskedWord } from './asked.ts'
import { limits } from './polarity.ts'
import { kindOf } from './question-kind.ts'
import { isAnaphoric, isQuestion } from './quoting.ts'
import { holds, type Unit } from './units.ts'

/** What each word of the question counts in a place, 0 to 1, in their order. */
type Counts = readonly number[]

/** What a word counts, in parts of itself, that stands for one of the question. */
const alike = 0.9
/** How far a page leads that is the only one. */
const aloneMargin = 0.5
/** A question in the text that has so much of what is asked asks the same. */
const samePosed = 0.6
/** Stems of verbs that say what their subject is or does. */
const saying = new Set(
  'is are was were can will must has have mean means refer stand describ let allow enabl provid repres contain do doe handl manag show hide help defin form make give keep consist'.split(
    ' ',
  ),
)

/**
 * What is known of how well a unit answers. The first four say how much of the question, by the weights of its words, stands in the
 * unit itself, and what more in its block with its lead, in its heading, in its title and other headings. From `name` on they are
 * of English alone.
 */
export const features = [
  'own',
  'near',
  'heading',
  'path',
  /** Where the rarest word stands. */
  'rarest',
  /** How much of the question stands in nothing that was found. */
  'absent',
  /** How many words follow each other as they do in the question. */
  'adjacent',
  /** Of the passage. */
  'rank',
  /** How far its page leads, of units of the first page. */
  'margin',
  /** How much of the question its heading has, of the first unit below it. */
  'first',
  /** How much of the question its heading has, times how much of the heading the question has. */
  'headingFit',
  /** How much of the question stands in one that the text asks itself and the unit answers, or in a heading with the date. */
  'posed',
  /** A name is missing. */
  'name',
  /** A number is asked for, and it has one. */
  'number',
  /** It has not what is asked for otherwise, e.g. a place. */
  'untyped',
  /** The number is one of the things that are asked for. */
  'counted',
  /** It says what a thing is, where that is asked. */
  'defines',
  /** It says that something is not so, or not always, where a yes or no is asked for. */
  'limits',
] as const
export type Features = Record<(typeof features)[number], number>
/** What each feature adds to the log-odds that a unit answers. */
export type Weights = Readonly<Partial<Features>> & { readonly bias: number }

/** The features of each unit, in their order; undefined of one without the number or somebody, as it is asked for. */
export function featuresOf(asked: Asked, units: readonly Unit[]): (Features | undefined)[] {
  const { words, pairs, kind, noun } = asked
  const share = (counts: Counts) => shareOf(words, counts)
  // What stands in code is said by what is written beside it.
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

/** Log-odds. */
export function scoreOf(known: Features, { bias, ...weights }: Weights): number {
  return features.reduce((sum, name) => sum + known[name] * (weights[name] ?? 0), bias)
}

/** Kinds that only a text of their form answers, and those that it answers more often. */
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

/** Whether the date that is asked for stands in the heading alone of the first unit below it. */
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

/** Whether a unit says what its subject is: it begins with what is asked for and a verb, or a colon. */
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

/** The question that a unit answers: the one that it is or begins with, or the heading that it stands first under. */
function posedBy(unit: Unit): { terms: string; text: string } | undefined {
  if (isQuestion(unit)) return unit
  if (unit.posed !== '') return { terms: unit.posed, text: unit.text }
  const text = unit.path.at(-1) ?? ''
  return unit.isFirst && /\?\s*$/.test(text) ? { terms: unit.heading, text } : undefined
}

/** What each word counts in terms; where a word is to be found as it is written, in the text. */
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

/** The part of a question, by the weights of its words, that counts make up. */
function shareOf(words: readonly AskedWord[], counts: Counts): number {
  let [held, all] = [0, Number.MIN_VALUE]
  for (const [at, { weight }] of words.entries()) {
    all += weight
    held += weight * (counts[at] ?? 0)
  }
  return held / all
}

/** The part of a title's or a heading's terms that the question has. */
function partAsked(title: string, asked: ReadonlySet<string>): number {
  const terms = title.trim().split(' ')
  return terms.filter((term) => asked.has(term)).length / terms.length
}
