import type { Evidence } from './evidence.ts'

/**
 * Weights of a logistic regression (Platt, Probabilistic Outputs for Support Vector Machines, 1999) that says how likely the best
 * evidence is right. It was fitted to 312 questions on seven manuals, of which 102 have no answer; `docs/benchmarks.md` has its
 * figures on manuals that it was not fitted to.
 */
const weights = {
  bias: -8.6,
  /** What the evidence was ranked by. */
  score: 4.8,
  /** Of its passage, among those that were found for the question: 1 for the first. */
  rank: 3.3,
  /** The part of the question that its heading holds. */
  heading: 1.9,
}
/** Below this an answer is rather wrong or made up, which costs more than to say nothing. */
const minConfidence = 0.68

/** Whether evidence is good enough to answer an English question with. */
export function isSure(evidence: Evidence): boolean {
  return confidenceIn(evidence) >= minConfidence
}

/** 0 to 1: how likely evidence is the right answer. */
export function confidenceIn({ score, heading, unit }: Pick<Evidence, 'score' | 'heading' | 'unit'>): number {
  const sum = weights.bias + weights.score * score + weights.rank * unit.passage.rank + weights.heading * heading
  return 1 / (1 + Math.exp(-sum))
}
