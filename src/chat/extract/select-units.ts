import { limits } from './answer-type.ts'
import type { Asked } from './asked.ts'
import { isDatedByHeading } from './features.ts'
import { quotedFor } from './quoting.ts'
import { headingOf, type Unit } from './units.ts'

/** A unit and its score, as log-odds. */
export type ScoredUnit = { unit: Unit; score: number }

/** Maximum units, not counting their context. */
const maxChosen = 4
/** Maximum difference of a further unit's score from the best. */
const maxGap = 2.5
/** Characters after which no further unit is quoted. */
const enough = 1200
/** Share of common terms from which units are duplicates. */
const maxSimilarity = 0.6

/**
 * Selects the units to quote, in the order of passages and positions: the best ones that do not repeat each other (maximal
 * marginal relevance, Carbonell and Goldstein 1998, with a hard limit), and their context. Denials and restrictions come first
 * where yes or no is asked for.
 * @param answers best first
 * @param units all units, by position
 */
export function selectUnits(
  answers: readonly ScoredUnit[],
  units: readonly Unit[],
  asked: Pick<Asked, 'kind' | 'text'>,
): Unit[] {
  const { kind } = asked
  const chosen: Unit[] = []
  const quoted = new Set<Unit>()
  for (const { unit, score } of answers) {
    const length = [...quoted].reduce((sum, { text }) => sum + text.length, 0)
    if (chosen.length === maxChosen || score < (answers[0]?.score ?? 0) - maxGap || length > enough) break
    if (quoted.has(unit) || chosen.some((other) => similarity(unit.terms, other.terms) > maxSimilarity)) continue
    chosen.push(unit)
    if (isDatedByHeading(asked, unit)) quoted.add(headingOf(unit))
    for (const one of quotedFor(unit, units, kind)) quoted.add(one)
  }
  const limiting = kind === 'yes or no' ? chosen.filter(({ text }) => limits(text)) : []
  const first = new Set(limiting.flatMap((unit) => quotedFor(unit, units, kind)))
  return [...inOrder(limiting, first), ...inOrder(chosen, quoted.difference(first))]
}

/** Sorts by passage, best first, then by position. */
function inOrder(chosen: readonly Unit[], quoted: ReadonlySet<Unit>): Unit[] {
  const order = [...new Set(chosen.map(({ passage }) => passage))]
  return [...quoted].sort((a, b) => order.indexOf(a.passage) - order.indexOf(b.passage) || a.position - b.position)
}

/** Returns the Jaccard similarity of two sets of terms. */
function similarity(a: string, b: string): number {
  const [ofA, ofB] = [new Set(a.trim().split(' ')), new Set(b.trim().split(' '))]
  return ofA.intersection(ofB).size / ofA.union(ofB).size
}
