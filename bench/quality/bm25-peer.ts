import { type Analyser, analyserFor } from '../../src/search/text/analyser.ts'
import { foldWord } from '../../src/search/text/spelling.ts'
import type { Ranker } from './ranker.ts'

/** Parameters of Anserini's baselines on BEIR (Kamalloo et al., "Resources for Brewing BEIR", 2024). */
const k1 = 0.9
const b = 0.4

type Posting = { document: number; frequency: number }

/** Bare BM25 over whole documents, title and text as one text, on the product's terms without stop words. */
export function bm25Peer(): Ranker {
  const analyser = analyserFor('en')
  let ids: string[] = []
  let lengths: number[] = []
  let postings = new Map<string, Posting[]>()
  return {
    name: `BM25, k1 ${k1}, b ${b}`,
    index: async (documents) => {
      ids = documents.map(({ id }) => id)
      lengths = []
      postings = new Map()
      for (const [document, { title, text }] of documents.entries()) {
        const terms = termsOf(`${title}\n${text}`, analyser)
        lengths.push(terms.length)
        for (const [term, frequency] of counted(terms)) {
          const list = postings.get(term) ?? []
          list.push({ document, frequency })
          postings.set(term, list)
        }
      }
    },
    rank: async (question, limit) => {
      const average = lengths.reduce((sum, length) => sum + length, 0) / ids.length
      const scores = new Map<number, number>()
      for (const [term, asked] of counted(termsOf(question, analyser))) {
        const list = postings.get(term) ?? []
        const idf = Math.log(1 + (ids.length - list.length + 0.5) / (list.length + 0.5))
        for (const { document, frequency } of list) {
          const norm = k1 * (1 - b + (b * (lengths[document] ?? 0)) / average)
          scores.set(document, (scores.get(document) ?? 0) + (asked * idf * frequency) / (frequency + norm))
        }
      }
      const best = [...scores].sort(([a, ofA], [b, ofB]) => ofB - ofA || a - b).slice(0, limit)
      return best.map(([document]) => ids[document] ?? '')
    },
  }
}

function termsOf(text: string, analyser: Analyser): string[] {
  return analyser
    .tokens(text)
    .filter(({ start, end }) => !analyser.isStopWord(foldWord(text.slice(start, end))))
    .map(({ term }) => term)
}

function counted(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}
