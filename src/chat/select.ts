import type { Evidence } from './evidence.ts'
import type { Unit } from './units.ts'

/** Sentences that are chosen for what they hold; what belongs to them comes on top. */
const maxChosen = 4
/** A further one scores at least this part of the best one's score. */
const minPartOfBest = 0.8
/** Near-duplicates share this part of their terms. */
const maxSimilarity = 0.6
/** Steps or rows that follow one sentence. */
const maxFollowing = 12

const anaphor = /^(?:it|they|he|she|this|that|these|those|there|then|otherwise|such)\b/i

/**
 * The units to quote, in the order of passages and places: the best ones that do not repeat each other (maximal marginal
 * relevance, Carbonell and Goldstein 1998, with a hard limit), and what they do not read well without. None where no
 * unit has the support that its kind takes.
 */
export function select(evidence: readonly Evidence[], minSupport: Readonly<Record<Unit['kind'], number>>): Unit[] {
  const units = evidence.map(({ unit }) => unit)
  const supported = evidence.filter(
    ({ support, unit }) =>
      support >= minSupport[unit.kind] && !(unit.text.endsWith(':') && following(unit, units).length === 0),
  )
  const candidates = supported.toSorted((a, b) => b.score - a.score)
  const chosen: Evidence[] = []
  for (const candidate of candidates) {
    if (chosen.length === maxChosen || candidate.score < minPartOfBest * (candidates[0]?.score ?? 0)) break
    if (chosen.every((other) => adds(candidate, other))) chosen.push(candidate)
  }
  const quoted = new Set(chosen.flatMap(({ unit }) => [unit, ...belonging(unit, units)]))
  const order = [...new Set(chosen.map(({ unit }) => unit.passage))]
  return [...quoted].sort((a, b) => order.indexOf(a.passage) - order.indexOf(b.passage) || a.position - b.position)
}

/** Whether a unit says what one that was chosen before does not; beside a row or an item, that is a term of the question. */
function adds({ unit, own }: Evidence, chosen: Evidence): boolean {
  const isSibling = unit.passage === chosen.unit.passage && unit.kind !== 'paragraph' && unit.kind === chosen.unit.kind
  if (isSibling && own.size < chosen.own.size && own.isSubsetOf(chosen.own)) return false
  return similarity(unit.terms, chosen.unit.terms) <= maxSimilarity
}

/** Jaccard's: the part of the terms of both that are in both. */
function similarity(a: string, b: string): number {
  const [ofA, ofB] = [new Set(a.trim().split(' ')), new Set(b.trim().split(' '))]
  return ofA.intersection(ofB).size / ofA.union(ofB).size
}

/** What a unit is not understood without: steps that it announces, the rest of its procedure, its answer, what its pronoun stands for. */
function belonging(unit: Unit, units: readonly Unit[]): Unit[] {
  if (isStep(unit)) return procedure(unit, units)
  if (unit.text.endsWith(':')) return following(unit, units)
  const [before, after] = [units[unit.position - 1], units[unit.position + 1]]
  if (unit.text.endsWith('?')) return after?.block === unit.block ? [after, ...belonging(after, units)] : []
  return before?.block === unit.block && anaphor.test(unit.text) ? [before] : []
}

/** All steps of the list that one is in, and the sentence that announces them. */
function procedure(step: Unit, units: readonly Unit[]): Unit[] {
  let first = step
  for (;;) {
    const before = units[first.position - 1]
    if (before?.passage !== step.passage) break
    if (before.kind === 'paragraph')
      return [...(before.text.endsWith(':') ? [before] : []), first, ...following(first, units)]
    first = before
  }
  return [first, ...following(first, units)]
}

/** The items, rows and code that come after a unit, up to the next paragraph. */
function following(unit: Unit, units: readonly Unit[]): Unit[] {
  const rest = units.slice(unit.position + 1, unit.position + 1 + maxFollowing)
  const end = rest.findIndex(({ passage, kind }) => passage !== unit.passage || kind === 'paragraph')
  return end < 0 ? rest : rest.slice(0, end)
}

function isStep({ kind, marker }: Unit): boolean {
  return kind === 'code' || (kind === 'item' && /^\d/.test(marker))
}
