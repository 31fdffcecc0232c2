import { instruction } from './answer-type.ts'
import type { Kind } from './question-kind.ts'
import type { Unit } from './units.ts'

/** Maximum steps or rows that follow one sentence. */
const maxFollowing = 16
/** Maximum characters quoted of a paragraph: the matching sentence often only begins the answer. */
const maxParagraph = 500

const anaphor = /^(?:it|they|he|she|this|that|these|those|there|then|otherwise|such)\b/i
/** An introduction such as `For example:`. */
const announcement = /^(?:\S+\s+){0,4}\S+:$/

/** Returns a unit with the context it needs, in no order: its paragraph, the rest of its procedure, its answer, its command. */
export function quotedFor(unit: Unit, units: readonly Unit[], kind: Kind | undefined): Unit[] {
  return [...paragraphOf(unit, units), ...belonging(unit, units), ...(kind === 'way' ? codeAfter(unit, units) : [])]
}

/** Returns the steps that a unit introduces, the rest of its procedure, its answer, or the sentence its pronoun refers to. */
function belonging(unit: Unit, units: readonly Unit[]): Unit[] {
  if (isStep(unit) || isInstruction(unit, units)) return procedure(unit, units)
  if (unit.text.endsWith(':')) return following(unit, units)
  const [before, after] = [units[unit.position - 1], units[unit.position + 1]]
  if (isQuestion(unit)) return reply(unit, units)
  if (unit.isFirst && unit.path.at(-1)?.endsWith('?')) return section(unit, units)
  const announcing =
    after?.block === unit.block && announcement.test(after.text) ? [after, ...following(after, units)] : []
  return before?.block === unit.block && isAnaphoric(unit) ? [before, ...announcing] : announcing
}

/**
 * Returns a unit's paragraph, with what its last sentence introduces. Of a long paragraph it returns the sentences around the
 * unit, later ones first.
 */
function paragraphOf(unit: Unit, units: readonly Unit[]): Unit[] {
  const quoted = [unit]
  if (unit.kind !== 'paragraph') return quoted
  let left = maxParagraph - unit.text.length
  for (const step of [1, -1]) {
    for (let at = unit.position + step; ; at += step) {
      const beside = units[at]
      if (beside?.block !== unit.block || beside.text.length > left) break
      left -= beside.text.length
      quoted.push(beside)
    }
  }
  const last = quoted.findLast(({ position }) => position > unit.position)
  return [...quoted, ...announcedBy(last, units)]
}

/** Returns the code directly after a unit's paragraph or item. */
function codeAfter(unit: Unit, units: readonly Unit[]): Unit[] {
  const next = units.find(({ position, block }) => position > unit.position && block !== unit.block)
  return next?.kind === 'code' && isUnderSame(unit, next) ? [next] : []
}

/** Returns the reply to a question in the text: a sentence or two, and what they introduce. */
function reply(question: Unit, units: readonly Unit[]): Unit[] {
  const [first, second] = units.slice(question.position + 1, question.position + 3)
  if (first === undefined || !isUnderSame(question, first) || isQuestion(first)) return []
  const sentences = second?.block === first.block && !isQuestion(second) ? [first, second] : [first]
  return [...sentences, ...announcedBy(sentences.at(-1), units)]
}

/** Returns the units after the first one under a question as a heading, up to the length of a paragraph, with what they introduce. */
function section(first: Unit, units: readonly Unit[]): Unit[] {
  const rest: Unit[] = []
  let left = maxParagraph - first.text.length
  for (const unit of units.slice(first.position + 1)) {
    if (!isUnderSame(first, unit) || unit.text.length > left) break
    left -= unit.text.length
    rest.push(unit)
  }
  return [...rest, ...announcedBy(rest.at(-1) ?? first, units)]
}

/** Returns what a unit that ends with a colon introduces. */
function announcedBy(last: Unit | undefined, units: readonly Unit[]): Unit[] {
  return last?.text.endsWith(':') ? following(last, units) : []
}

/** Returns all steps of a list, and the sentence that introduces them. */
function procedure(step: Unit, units: readonly Unit[]): Unit[] {
  const before = units
    .slice(0, step.position)
    .findLastIndex((unit) => unit.kind === 'paragraph' || !isUnderSame(step, unit))
  const lead = units[before]
  const isLed = lead?.kind === 'paragraph' && isUnderSame(step, lead) && lead.text.endsWith(':')
  const first = units[before + 1] ?? step
  return [...(isLed ? [lead] : []), first, ...following(first, units)]
}

/** Returns the items, rows and code after a unit, up to the next paragraph or heading. */
export function following(unit: Unit, units: readonly Unit[]): Unit[] {
  const rest = units.slice(unit.position + 1, unit.position + 1 + maxFollowing)
  const end = rest.findIndex((next) => next.kind === 'paragraph' || !isUnderSame(unit, next))
  return end < 0 ? rest : rest.slice(0, end)
}

function isUnderSame(a: Unit, b: Unit): boolean {
  return a.passage === b.passage && a.context === b.context
}

export function isQuestion({ text }: Unit): boolean {
  return /\?["”’)*_]*$/.test(text)
}

/** True if a unit begins with a pronoun that refers to the sentence before. */
export function isAnaphoric({ text }: Unit): boolean {
  return anaphor.test(text)
}

/** True if a unit is one of several instructions in a list without numbers. */
function isInstruction(unit: Unit, units: readonly Unit[]): boolean {
  const instructs = (one: Unit | undefined) =>
    one?.kind === 'item' && isUnderSame(unit, one) && instruction.test(one.text)
  return instructs(unit) && [units[unit.position - 1], units[unit.position + 1]].some(instructs)
}

/** True if a unit is part of a procedure. */
function isStep({ kind, marker }: Unit): boolean {
  return kind === 'code' || (kind === 'item' && /^\d/.test(marker))
}
