import type { AskedWord } from './asked.ts'
import { isQuestion } from './belonging.ts'
import { countsIn } from './coverage.ts'
import type { Unit } from './units.ts'

/** Stems of verbs that say what their subject is or does. */
const saying = setOf(
  'is are was were will can may must has have mean means refer stand describ let allow enabl provid repres contain take do doe handl manag show hide help defin form run make give let keep consist',
)
/** Words of headings that add nothing to what they are about: `Introduction to modules`, `What is a module?`. */
const framing = setOf('a about an introduct is of overview the to us what')
/** What stands before a verb without being who acts: stems. */
const noSubject = setOf(
  'abl and are but can easi for has have how like may must not should that the then this want was were when which will you your',
)

/** Whether a unit says what the subject of a question is: it begins with it and a verb, or is the first to be said of it. */
export function defines(subject: readonly AskedWord[], unit: Unit, next?: Unit): boolean {
  if (unit.kind === 'code' || isQuestion(unit)) return false
  if (next?.block === unit.block && /^(?:it|they)\b/i.test(next.text) && holdsAll(subject, unit.terms)) return true
  const terms = termsIn(unit.terms)
  const beginning = terms.slice(0, subject.length + 4)
  const last = beginning.findIndex((_, at) => holdsAll(subject, ` ${beginning.slice(0, at + 1).join(' ')} `))
  const begins = last >= 0
  const isSaid = terms.slice(last + 1, last + 3).some((term) => saying.has(term))
  if (begins && last < subject.length + 2 && isSaid) return true
  const [, named] = /^\W*([^:–—]{1,60}?)\W*(?::|\s[–—-])\s/.exec(unit.text) ?? []
  if (begins && named !== undefined && last === termsIn(named).length - 1) return true
  if (
    terms.some(
      (term, at) =>
        /^\d/.test(term) && holdsAll(subject, ` ${terms.slice(at + 1, at + 1 + subject.length).join(' ')} `),
    )
  )
    return true
  return unit.isFirst && holdsAll(subject, unit.heading) && isOnly(subject, unit.heading)
}

/** Whether terms have somebody before what is done, or `by` after it: `Finance approves refunds`. */
export function saysWho(act: ReadonlySet<string>, asked: ReadonlySet<string>, terms: string): boolean {
  const words = termsIn(terms)
  const acts = (word: string) => word.length > 2 && !asked.has(word) && !noSubject.has(word)
  return words.some((word, at) => {
    if (!act.has(word)) return false
    return words.slice(at + 1, at + 3).includes('by') || words.slice(Math.max(0, at - 2), at).some(acts)
  })
}

/** The question that a unit answers: the one that it is or begins with, or the heading that it stands first under. */
export function posedBy(unit: Unit): { terms: string; text: string } | undefined {
  if (isQuestion(unit)) return { terms: unit.terms, text: unit.text }
  if (unit.posed !== '') return { terms: unit.posed, text: unit.text }
  const heading = unit.path.at(-1) ?? ''
  return unit.isFirst && /\?\s*$/.test(heading) ? { terms: unit.heading, text: heading } : undefined
}

function isOnly(subject: readonly AskedWord[], heading: string): boolean {
  return termsIn(heading).every(
    (term) => framing.has(term) || countsIn(subject, ` ${term} `, '').some((count) => count > 0),
  )
}

function holdsAll(words: readonly AskedWord[], terms: string): boolean {
  return countsIn(words, terms, '').every((count) => count > 0)
}

function termsIn(text: string): string[] {
  return text.trim().split(/\s+/)
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
