import { hash } from 'node:crypto'
import { type Encoder, randomFrom } from './lsa.ts'

/** A model that knows nothing: a random direction for each text. */
export function randomEncoder(dimensions: number): Encoder {
  return (text) => {
    const random = randomFrom(hash('sha256', text, 'buffer').readInt32LE())
    return Float32Array.from({ length: dimensions }, random)
  }
}

/** A model of which so much, 0 to 1, is noise. */
export function noisyEncoder(encoder: Encoder, noise: number): Encoder {
  return (text) => {
    const vector = unit(encoder(text))
    const other = unit(randomEncoder(vector.length)(text))
    return vector.map((component, index) => (1 - noise) * component + noise * (other[index] ?? 0))
  }
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector) || 1
  return vector.map((component) => component / length)
}
