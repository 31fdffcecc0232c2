/**
 * Normalised discounted cumulative gain at `depth`, as trec_eval's `ndcg_cut` and thereby BEIR have it: a document's grade is its
 * gain, divided by log2(rank + 1) (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002).
 * 0 to 1; 0 where nothing is relevant.
 */
export function ndcg(ranking: readonly string[], grades: ReadonlyMap<string, number>, depth: number): number {
  const gains = ranking.slice(0, depth).map((id) => grades.get(id) ?? 0)
  const ideal = [...grades.values()].sort((a, b) => b - a).slice(0, depth)
  const best = discountedGain(ideal)
  return best === 0 ? 0 : discountedGain(gains) / best
}

/** The part of the relevant documents, of any grade, that is among the first `depth`. 0 to 1; 0 where nothing is relevant. */
export function recall(ranking: readonly string[], grades: ReadonlyMap<string, number>, depth: number): number {
  const relevant = [...grades].filter(([, grade]) => grade > 0).map(([id]) => id)
  if (relevant.length === 0) return 0
  const found = new Set(ranking.slice(0, depth))
  return relevant.filter((id) => found.has(id)).length / relevant.length
}

function discountedGain(gains: readonly number[]): number {
  return gains.reduce((sum, gain, index) => sum + Math.max(0, gain) / Math.log2(index + 2), 0)
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
