import { belonging, codeAfter, paragraphOf } from './belonging.ts'
import type { Evidence } from './evidence.ts'
import { limits } from './polarity.ts'
import type { Kind } from './question-kind.ts'
import { headingOf, type Unit } from './units.ts'

/** Sentences that are chosen for what they hold; what belongs to them comes on top. */
const maxChosen = 3
/** A further one scores at least this part of the best one's score. */
const minPartOfBest = 0.9
/** Near-duplicates share this part of their terms. */
const maxSimilarity = 0.6

/**
 * The units to quote of the best evidence, in the order of passages and places: the best ones that do not repeat each other
 * (maximal marginal relevance, Carbonell and Goldstein 1998, with a hard limit), and what they do not read well without.
 * What says that something is not so, or not always, comes first where that is asked; a way to do something comes with its command.
 * @param answers best first. @param units all units, by position.
 */
export function selectSentences(answers: readonly Evidence[], units: readonly Unit[], kind?: Kind): Unit[] {
  const chosen: Evidence[] = []
  for (const candidate of answers) {
    if (chosen.length === maxChosen || candidate.score < minPartOfBest * (answers[0]?.score ?? 0)) break
    if (chosen.every((other) => adds(candidate, other))) chosen.push(candidate)
  }
  const limiting = kind === 'yes or no' ? chosen.filter(({ unit }) => limits(unit.text)) : []
  const quote = (some: readonly Evidence[]) => new Set(some.flatMap((one) => quotedFor(one, units, kind)))
  const first = quote(limiting)
  return [...inOrder(limiting, first), ...inOrder(chosen, quote(chosen).difference(first))]
}

/** By passage, the best first, and place. */
function inOrder(chosen: readonly Evidence[], quoted: ReadonlySet<Unit>): Unit[] {
  const order = [...new Set(chosen.map(({ unit }) => unit.passage))]
  return [...quoted].sort((a, b) => order.indexOf(a.passage) - order.indexOf(b.passage) || a.position - b.position)
}

/** A unit with what it is not understood without; where only its heading has the date that is asked for, with that. */
function quotedFor({ unit, isDatedByHeading }: Evidence, units: readonly Unit[], kind: Kind | undefined): Unit[] {
  const code = kind === 'way' ? codeAfter(unit, units) : []
  const quoted = [...paragraphOf(unit, units), ...belonging(unit, units), ...code]
  return isDatedByHeading ? [headingOf(unit), ...quoted] : quoted
}

/** Whether a unit says what one that was chosen before does not; beside a row or an item, that is a word of the question. */
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
