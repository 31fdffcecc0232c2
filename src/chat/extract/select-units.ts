import type { Asked } from './asked.ts'
import { isDatedByHeading } from './features.ts'
import { limits } from './polarity.ts'
import { quotedFor } from './quoting.ts'
import { headingOf, type Unit } from './units.ts'

/** A unit and how well it answers: log-odds. */
export type ScoredUnit = { unit: Unit; score: number }

/** Units that are chosen; what belongs to them comes on top. */
const maxChosen = 4
/** A further one scores at most this much less than the best. */
const maxGap = 2.5
/** No further one is quoted after so many characters. */
const enough = 1200
/** Near-duplicates share this part of their terms. */
const maxSimilarity = 0.6

/**
 * The units to quote, in the order of passages and places: the best ones that do not repeat each other (maximal marginal relevance,
 * Carbonell and Goldstein 1998, with a hard limit), and what they do not read well without. What says that something is not so, or
 * not always, comes first where that is asked.
 * @param answers best first. @param units all units, by position.
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

/** By passage, the best first, and place. */
function inOrder(chosen: readonly Unit[], quoted: ReadonlySet<Unit>): Unit[] {
  const order = [...new Set(chosen.map(({ passage }) => passage))]
  return [...quoted].sort((a, b) => order.indexOf(a.passage) - order.indexOf(b.passage) || a.position - b.position)
}

/** Jaccard's: the part of the terms of both that are in both. */
function similarity(a: string, b: string): number {
  const [ofA, ofB] = [new Set(a.trim().split(' ')), new Set(b.trim().split(' '))]
  return ofA.intersection(ofB).size / ofA.union(ofB).size
}
