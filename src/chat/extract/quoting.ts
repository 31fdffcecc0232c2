import { instruction } from './answer-type.ts'
import type { Kind } from './question-kind.ts'
import type { Unit } from './units.ts'

/** Steps or rows that follow one sentence. */
const maxFollowing = 16
/** Characters that are quoted of a paragraph: the sentence that answers often only begins to. */
const maxParagraph = 500

const anaphor = /^(?:it|they|he|she|this|that|these|those|there|then|otherwise|such)\b/i
/** `For example:` */
const announcement = /^(?:\S+\s+){0,4}\S+:$/

/** A unit with what it is not understood without, in no order: its paragraph, the rest of its procedure, its answer, its command. */
export function quotedFor(unit: Unit, units: readonly Unit[], kind: Kind | undefined): Unit[] {
  return [...paragraphOf(unit, units), ...belonging(unit, units), ...(kind === 'way' ? codeAfter(unit, units) : [])]
}

/** Steps that a unit announces, the rest of its procedure, its answer, what its pronoun stands for. */
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

/** A unit's paragraph, with what its last sentence announces; of a long one the sentences around it, first those that follow. */
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

/** The code that comes right after a unit's paragraph or item. */
function codeAfter(unit: Unit, units: readonly Unit[]): Unit[] {
  const next = units.find(({ position, block }) => position > unit.position && block !== unit.block)
  return next?.kind === 'code' && isUnderSame(unit, next) ? [next] : []
}

/** What follows a question that the text asks itself: a sentence or two, and what they announce. */
function reply(question: Unit, units: readonly Unit[]): Unit[] {
  const [first, second] = units.slice(question.position + 1, question.position + 3)
  if (first === undefined || !isUnderSame(question, first) || isQuestion(first)) return []
  const sentences = second?.block === first.block && !isQuestion(second) ? [first, second] : [first]
  return [...sentences, ...announcedBy(sentences.at(-1), units)]
}

/** What follows the first unit under a question as a heading, as far as a paragraph goes, with what its end announces. */
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

/** What follows a unit that ends with a colon. */
function announcedBy(last: Unit | undefined, units: readonly Unit[]): Unit[] {
  return last?.text.endsWith(':') ? following(last, units) : []
}

/** All steps of the list that one is in, and the sentence that announces them. */
function procedure(step: Unit, units: readonly Unit[]): Unit[] {
  const before = units
    .slice(0, step.position)
    .findLastIndex((unit) => unit.kind === 'paragraph' || !isUnderSame(step, unit))
  const lead = units[before]
  const isLed = lead?.kind === 'paragraph' && isUnderSame(step, lead) && lead.text.endsWith(':')
  const first = units[before + 1] ?? step
  return [...(isLed ? [lead] : []), first, ...following(first, units)]
}

/** The items, rows and code that come after a unit, up to the next paragraph or heading. */
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

/** Whether a unit begins with a pronoun, for what stands in the sentence before it. */
export function isAnaphoric({ text }: Unit): boolean {
  return anaphor.test(text)
}

/** Whether a unit is one of several instructions in a list without numbers. */
function isInstruction(unit: Unit, units: readonly Unit[]): boolean {
  const instructs = (one: Unit | undefined) =>
    one?.kind === 'item' && isUnderSame(unit, one) && instruction.test(one.text)
  return instructs(unit) && [units[unit.position - 1], units[unit.position + 1]].some(instructs)
}

/** Whether a unit is a part of a procedure. */
function isStep({ kind, marker }: Unit): boolean {
  return kind === 'code' || (kind === 'item' && /^\d/.test(marker))
}
