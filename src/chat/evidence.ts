import { questionTerms } from '../search/query/question.ts'
import type { Analyser } from '../search/text/analyser.ts'
import { cueOf } from './cues.ts'
import { holds, type Unit } from './units.ts'

/** What a question asks for. */
export type Asked = {
  terms: { term: string; weight: number }[]
  /** Whether it is about anything: a greeting is not. */
  hasSubject: boolean
  /** What a sentence must show to answer it, in part, by the kind of the question: a time, a name. */
  cue: RegExp | undefined
}

/** What is said of how well a unit answers. */
export type Evidence = {
  unit: Unit
  /** 0 to 1: the part of the question that the unit holds, or what stands around it. */
  support: number
  /** Support, and what makes a good answer besides; to rank by. */
  score: number
  /** Terms of the question that it holds itself. */
  own: ReadonlySet<string>
}

/** What a term counts that stands not in the sentence but in its title or headings, beside it, or elsewhere in its passage. */
const inContext = 0.8
const inNeighbour = 0.6
const inPassage = 0.3
/** What a term of an earlier question of the conversation weighs. */
const earlierWeight = 0.5
/** English words that ask more than they say: a sentence that answers need not have them. */
const lightWords = `actually again anyone anything back exactly explain during find found get give happen happens know long made make
  may mean might much need often say says show someone something take tell until use very want way`
/** What a message begins or ends with before or after the question itself. */
const greeting =
  /^(?:(?:bye|hello|hey|hi|ok|okay|please|thank|thanks|welcome|you|there)\b[\s,.!]*)+|[\s,]+(?:bye|please|thank you|thanks)[\s.!?]*$/giu
const lightWeight = 0.3

const cueBonus = 0.12
const adjacencyBonus = 0.1
const rankBonus = 0.15
/** For the part of the question that stands in the sentence itself, and that which stands in its title and headings. */
const ownBonus = 0.3
const contextBonus = 0.2
/** For what stands on a page that the question names by its whole title. */
const titleBonus = 0.1
/** Characters of a sentence that says little by itself, e.g. `See below.` */
const short = 25
const shortPenalty = 0.15
/** For what says no more than a word beyond the question and its own title, e.g. `Name: reports` of reports. */
const echoPenalty = 0.4
/** For a question in the text, which says less than what answers it. */
const questionPenalty = 0.1

/** @param texts the question, then those before it that it leans on. */
export function askedBy(texts: readonly string[], units: readonly Unit[], analyser: Analyser, language: string): Asked {
  const isEnglish = /^en\b/i.test(language)
  const light = new Set(isEnglish ? questionTerms(lightWords, analyser).map(({ term }) => term) : [])
  const weights = new Map<string, number>()
  for (const [index, text] of texts.entries()) {
    const question = isEnglish ? text.replace(greeting, '') : text
    for (const { term, weight } of questionTerms(question, analyser)) {
      const own = weight * (index === 0 ? 1 : earlierWeight) * (light.has(term) ? lightWeight : 1)
      weights.set(term, Math.max(weights.get(term) ?? 0, own))
    }
  }
  const terms = [...weights].map(([term, weight]) => ({ term, weight: weight * rarity(term, units) }))
  const hasSubject = terms.some(({ term }) => !light.has(term))
  return { terms, hasSubject, cue: isEnglish ? cueOf(texts[0] ?? '') : undefined }
}

/** 0.5 to 1.5: how few of the units hold a term. */
function rarity(term: string, units: readonly Unit[]): number {
  const count = units.filter(({ terms }) => holds(terms, term)).length
  const idf = (n: number) => Math.log(1 + (units.length - n + 0.5) / (n + 0.5))
  return 0.5 + idf(count) / idf(0)
}

/** How well each unit answers, in their order. */
export function weigh({ terms, cue }: Asked, units: readonly Unit[]): Evidence[] {
  const all = terms.reduce((sum, { weight }) => sum + weight, 0)
  const ofPassage = new Map<Unit['passage'], string>()
  for (const { passage, terms: own } of units) ofPassage.set(passage, (ofPassage.get(passage) ?? '') + own)
  const asked = new Set(terms.map(({ term }) => term))
  return units.map((unit, index) => {
    const around = [units[index - 1], units[index + 1]].filter((other) => other?.passage === unit.passage)
    const held = ({ term }: { term: string }) => {
      if (holds(unit.terms, term)) return 1
      if (holds(unit.context, term)) return inContext
      if (around.some((other) => holds(other?.terms ?? '', term))) return inNeighbour
      return holds(ofPassage.get(unit.passage) ?? '', term) ? inPassage : 0
    }
    const share = (count: (one: { term: string }) => number) =>
      terms.reduce((sum, one) => sum + one.weight * count(one), 0) / Math.max(all, Number.MIN_VALUE)
    const support = share(held)
    const own = new Set(terms.filter(({ term }) => holds(unit.terms, term)).map(({ term }) => term))
    const adjacent = terms.filter(({ term }, at) => holds(unit.terms, `${terms[at - 1]?.term} ${term}`)).length
    const isCued = cue?.test(unit.text) ?? false
    const bonus =
      ownBonus * share(({ term }) => (holds(unit.terms, term) ? 1 : 0)) +
      contextBonus * share(({ term }) => (holds(unit.context, term) ? 1 : 0)) +
      (isCued ? cueBonus : 0) +
      (adjacencyBonus * adjacent) / Math.max(1, terms.length - 1) +
      rankBonus * unit.passage.rank +
      (isIn(unit.title, asked) ? titleBonus : 0) -
      (unit.text.length < short ? shortPenalty : 0) -
      (!isCued && isEcho(unit, asked) ? echoPenalty : 0) -
      (unit.text.endsWith('?') ? questionPenalty : 0)
    return { unit, support, score: support + (own.size > 0 || isIn(unit.title, asked) ? bonus : 0), own }
  })
}

function isIn(title: string, terms: ReadonlySet<string>): boolean {
  return title
    .trim()
    .split(' ')
    .every((term) => terms.has(term))
}

function isEcho({ terms, context }: Unit, asked: ReadonlySet<string>): boolean {
  const added = new Set(terms.trim().split(' ')).difference(asked)
  return [...added].filter((term) => !holds(context, term)).length <= 1
}
