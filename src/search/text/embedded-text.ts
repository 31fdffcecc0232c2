import { hash } from 'node:crypto'
import type { Chunk } from '../../rules/neurons/chunk.ts'

/** UTF-16 units that a model is asked about at most: beyond a chunk's own length only by a very long title or headings. */
const maxLength = 4000
/** Bytes of a hash: the chance that two of 10^9 texts share one is below 10^-20. */
const hashLength = 16

/** What a model of embeddings is asked about for a chunk: its title, its headings and its text, a line each. */
export function embeddedText(title: string, { headings, text }: Pick<Chunk, 'headings' | 'text'>): string {
  const lines = [title, headings.join(' > '), text].map((line) => line.trim())
  return lines
    .filter((line) => line !== '')
    .join('\n')
    .slice(0, maxLength)
    .toWellFormed()
}

/** Names a text: 16 bytes. */
export function textHash(text: string): Uint8Array {
  return hash('sha256', text, 'buffer').subarray(0, hashLength)
}
