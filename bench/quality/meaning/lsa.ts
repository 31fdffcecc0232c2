import { analyserFor } from '../../../src/search/text/analyser.ts'

/** Turns a text into a vector. */
export type Encoder = (text: string) => Float32Array

type Sparse = { terms: Uint32Array; weights: Float64Array }

/** Rounds of subspace iteration, and directions more than are kept: both for exactness. */
const rounds = 3
const spare = 8

/**
 * Latent semantic analysis of a collection (Deerwester et al., "Indexing by Latent Semantic Analysis", 1990): texts as log-entropy
 * weights of their terms, in the directions in which the collection's texts differ most, found by a randomised singular value
 * decomposition (Halko, Martinsson and Tropp, 2011). The same texts give the same vectors.
 */
export function lsaEncoder(texts: readonly string[], dimensions: number): Encoder {
  const analyser = analyserFor('en')
  const termsOf = (text: string) => analyser.tokens(text).map(({ term }) => term)
  const ids = new Map<string, number>()
  const counted = texts.map((text) => {
    const counts = new Map<number, number>()
    for (const term of termsOf(text)) {
      const id = ids.get(term) ?? ids.size
      ids.set(term, id)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    return counts
  })
  const entropy = entropies(counted, ids.size)
  const weigh = (counts: ReadonlyMap<number, number>): Sparse => ({
    terms: Uint32Array.from(counts.keys()),
    weights: Float64Array.from(counts, ([id, count]) => Math.log1p(count) * (entropy[id] ?? 0)),
  })
  const rows = counted.map(weigh).map(normalised)
  const basis = rightBasis(rows, ids.size, Math.min(dimensions, rows.length, ids.size))
  return (text) => {
    const counts = new Map<number, number>()
    for (const term of termsOf(text)) {
      const id = ids.get(term)
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    const vector = Float32Array.from(times(weigh(counts), basis))
    // A text without any known term has no direction; a vector must have one.
    if (vector.every((component) => component === 0)) vector.fill(1e-6)
    return vector
  }
}

/** 1 for a term in one text only, towards 0 for one that is everywhere alike. */
function entropies(counted: readonly ReadonlyMap<number, number>[], termCount: number): Float64Array {
  const totals = new Float64Array(termCount)
  for (const counts of counted) for (const [id, count] of counts) totals[id] = (totals[id] ?? 0) + count
  const entropy = new Float64Array(termCount).fill(1)
  const scale = Math.log(Math.max(2, counted.length))
  for (const counts of counted) {
    for (const [id, count] of counts) {
      const part = count / (totals[id] ?? 1)
      entropy[id] = (entropy[id] ?? 1) + (part * Math.log(part)) / scale
    }
  }
  return entropy
}

function normalised({ terms, weights }: Sparse): Sparse {
  const length = Math.hypot(...weights) || 1
  return { terms, weights: weights.map((weight) => weight / length) }
}

/** An orthonormal basis of the strongest directions of the terms: a list of vectors, each as long as there are terms. */
function rightBasis(rows: readonly Sparse[], termCount: number, dimensions: number): Float64Array[] {
  const random = randomFrom(1)
  let basis = Array.from({ length: dimensions + spare }, () => Float64Array.from({ length: termCount }, random))
  for (let round = 0; round <= rounds; round++) {
    orthonormalise(basis)
    // AᵀA times the basis, row by row.
    const next = basis.map(() => new Float64Array(termCount))
    for (const row of rows) {
      const products = times(row, basis)
      for (const [index, direction] of next.entries()) {
        const product = products[index] ?? 0
        for (let at = 0; at < row.terms.length; at++) {
          const term = row.terms[at] ?? 0
          direction[term] = (direction[term] ?? 0) + product * (row.weights[at] ?? 0)
        }
      }
    }
    basis = next
  }
  orthonormalise(basis)
  return basis.slice(0, dimensions)
}

function times({ terms, weights }: Sparse, basis: readonly Float64Array[]): Float64Array {
  return Float64Array.from(basis, (direction) => {
    let sum = 0
    for (let at = 0; at < terms.length; at++) sum += (direction[terms[at] ?? 0] ?? 0) * (weights[at] ?? 0)
    return sum
  })
}

/** Gram and Schmidt, in place. */
function orthonormalise(basis: readonly Float64Array[]): void {
  for (const [index, vector] of basis.entries()) {
    for (const other of basis.slice(0, index)) {
      let product = 0
      for (let at = 0; at < vector.length; at++) product += (vector[at] ?? 0) * (other[at] ?? 0)
      for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) - product * (other[at] ?? 0)
    }
    let squares = 0
    for (const component of vector) squares += component * component
    const length = Math.sqrt(squares) || 1
    for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length
  }
}

/** Numbers of -1 to 1 by mulberry32, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * 2 - 1
  }
}
