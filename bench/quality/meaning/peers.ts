import { findChunks } from '../../../src/markdown/chunks/chunks.ts'
import { embeddedText } from '../../../src/search/index/page-terms.ts'
import type { Embed } from '../product-ranker.ts'
import type { Ranker } from '../ranker.ts'

/** Usual constant that is added to a rank before its reciprocal is taken. */
const rrfConstant = 60

/** Documents by the cosine of their nearest chunk, in full precision: meaning without words. */
export function meaningPeer(embed: Embed): Ranker {
  const vectors: { id: string; vector: Float32Array }[] = []
  return {
    name: 'meaning alone',
    index: async (documents) => {
      vectors.length = 0
      for (const { id, title, text } of documents) {
        const found = await embed(findChunks(text).chunks.map((chunk) => embeddedText(title, chunk)))
        vectors.push(...found.flatMap((vector) => (vector ? [{ id, vector: unit(vector) }] : [])))
      }
    },
    rank: async (question, limit) => {
      const [found = new Float32Array()] = await embed([question])
      const query = unit(found)
      const scored = vectors.map(({ id, vector }) => ({ id, score: product(vector, query) }))
      return [...new Set(scored.sort((a, b) => b.score - a.score).map(({ id }) => id))].slice(0, limit)
    },
  }
}

/** Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) of two rankers that were given the documents. */
export function rrfPeer(one: Ranker, other: Ranker): Ranker {
  return {
    name: 'reciprocal rank fusion',
    index: async () => {},
    rank: async (question, limit) => {
      const scores = new Map<string, number>()
      for (const ranking of [await one.rank(question, limit), await other.rank(question, limit)]) {
        for (const [at, id] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (rrfConstant + at + 1))
      }
      return [...scores]
        .sort(([, a], [, b]) => b - a)
        .map(([id]) => id)
        .slice(0, limit)
    },
  }
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return vector.map((component) => component / length)
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0)
  return sum
}
