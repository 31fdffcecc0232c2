import { instruction } from './answer-shape.ts'
import type { Unit } from './units.ts'

/** Steps or rows that follow one sentence. */
const maxFollowing = 16
/** Characters that are quoted of a paragraph: the sentence that answers often only begins to. */
const maxParagraph = 500

const anaphor = /^(?:it|they|he|she|this|that|these|those|there|then|otherwise|such)\b/i

/** `For example:` */
const announcement = /^(?:\S+\s+){0,4}\S+:$/

/** What a unit is not understood without: steps that it announces, the rest of its procedure, its answer, what its pronoun stands for. */
export function belonging(unit: Unit, units: readonly Unit[]): Unit[] {
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
export function paragraphOf(unit: Unit, units: readonly Unit[]): Unit[] {
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
export function codeAfter(unit: Unit, units: readonly Unit[]): Unit[] {
  const next = units.find(({ position, block }) => position > unit.position && block !== unit.block)
  return next?.kind === 'code' && next.passage === unit.passage && next.context === unit.context ? [next] : []
}

/** What follows a question that the text asks itself: a sentence or two, and what they announce. */
function reply(question: Unit, units: readonly Unit[]): Unit[] {
  const [first, second] = units.slice(question.position + 1, question.position + 3)
  if (first?.context !== question.context || first.passage !== question.passage || isQuestion(first)) return []
  const sentences = second?.block === first.block && !isQuestion(second) ? [first, second] : [first]
  return [...sentences, ...announcedBy(sentences.at(-1), units)]
}

/** What follows the first unit under a question as a heading, as far as a paragraph goes, with what its end announces. */
function section(first: Unit, units: readonly Unit[]): Unit[] {
  const rest: Unit[] = []
  let left = maxParagraph - first.text.length
  for (let at = first.position + 1; ; at++) {
    const unit = units[at]
    if (unit?.passage !== first.passage || unit.context !== first.context || unit.text.length > left) break
    left -= unit.text.length
    rest.push(unit)
  }
  return [...rest, ...announcedBy(rest.at(-1) ?? first, units)]
}

/** What follows a unit that ends with a colon. */
function announcedBy(last: Unit | undefined, units: readonly Unit[]): Unit[] {
  return last?.text.endsWith(':') ? following(last, units) : []
}

export function isQuestion({ text }: Unit): boolean {
  return /\?["”’)*_]*$/.test(text)
}

/** All steps of the list that one is in, and the sentence that announces them. */
function procedure(step: Unit, units: readonly Unit[]): Unit[] {
  let first = step
  for (;;) {
    const before = units[first.position - 1]
    if (before?.passage !== step.passage || before.context !== step.context) break
    if (before.kind === 'paragraph')
      return [...(before.text.endsWith(':') ? [before] : []), first, ...following(first, units)]
    first = before
  }
  return [first, ...following(first, units)]
}

/** The items, rows and code that come after a unit, up to the next paragraph or heading. */
export function following(unit: Unit, units: readonly Unit[]): Unit[] {
  const rest = units.slice(unit.position + 1, unit.position + 1 + maxFollowing)
  const end = rest.findIndex(
    ({ passage, kind, context }) => passage !== unit.passage || kind === 'paragraph' || context !== unit.context,
  )
  return end < 0 ? rest : rest.slice(0, end)
}

/** Whether a unit begins with a pronoun, for what stands in the sentence before it. */
export function isAnaphoric({ text }: Unit): boolean {
  return anaphor.test(text)
}

/** Whether a unit is one of several instructions in a list without numbers. */
function isInstruction(unit: Unit, units: readonly Unit[]): boolean {
  const instructs = (one: Unit | undefined) =>
    one?.kind === 'item' && one.passage === unit.passage && one.context === unit.context && instruction.test(one.text)
  return instructs(unit) && [units[unit.position - 1], units[unit.position + 1]].some(instructs)
}

/** Whether a unit is a part of a procedure. */
export function isStep({ kind, marker }: Unit): boolean {
  return kind === 'code' || (kind === 'item' && /^\d/.test(marker))
}
