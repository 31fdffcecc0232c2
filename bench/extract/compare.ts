import { wordsOf } from '../quality/words.ts'

export type Agreement = {
  /** Share of the reference's words that the text has, each as often as it stands there. */
  recall: number
  /** Share of the text's words that the reference has. */
  precision: number
  /** NaN where no pair of words stands once in both. */
  order: number
}

/**
 * Returns how much of a reference a text has, and in what order. Order: the share of the pairs of neighbouring words, each occurring once
 * in both, that the longest common subsequence keeps. It is the longest increasing subsequence of their positions (Schensted 1961), O(n log
 * n).
 */
export function compareTexts(text: string, reference: string): Agreement {
  const [words, expected] = [normalWords(text), normalWords(reference)]
  const common = commonSize(words, expected)
  const placeOf = singlePairs(words)
  const places = [...singlePairs(expected).keys()].flatMap((pair) => placeOf.get(pair) ?? [])
  return {
    recall: common / expected.length,
    precision: common / words.length,
    order: longestIncrease(places) / places.length,
  }
}

function normalWords(text: string): string[] {
  return wordsOf(text.normalize('NFKC').toLowerCase())
}

function commonSize(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>()
  for (const word of a) counts.set(word, (counts.get(word) ?? 0) + 1)
  let common = 0
  for (const word of b) {
    const left = counts.get(word) ?? 0
    if (left > 0) common++
    counts.set(word, left - 1)
  }
  return common
}

/** Places of the pairs that stand once. */
function singlePairs(words: readonly string[]): Map<string, number> {
  const places = new Map<string, number>()
  const repeated = new Set<string>()
  for (let at = 1; at < words.length; at++) {
    const pair = `${words[at - 1]} ${words[at]}`
    if (places.has(pair)) repeated.add(pair)
    places.set(pair, at)
  }
  for (const pair of repeated) places.delete(pair)
  return places
}

function longestIncrease(places: readonly number[]): number {
  /** The least place at which an increase of each length ends. */
  const ends: number[] = []
  for (const place of places) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < place) low = middle + 1
      else high = middle
    }
    ends[low] = place
  }
  return ends.length
}
