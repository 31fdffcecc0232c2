import { hash } from 'node:crypto'

const dimensions = 48

/** A vector for a text: a random projection of its words, of which those in `synonyms` have the direction of another one. */
export function project(text: string, synonyms: Readonly<Record<string, string>> = {}): number[] {
  const vector = new Array<number>(dimensions).fill(0)
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const direction = hash('sha384', synonyms[word] ?? word, 'buffer')
    for (const [index, byte] of direction.entries()) vector[index] = (vector[index] ?? 0) + byte - 128
  }
  return vector.some((component) => component !== 0) ? vector : vector.fill(1)
}
