import { hash } from 'node:crypto'
import type { Chunk } from '../../rules/neurons/chunk.ts'

/** Maximum UTF-16 units of an embedded text. Only a very long title or headings exceed it. */
const maxLength = 4000
/** Bytes of a hash: the chance that two of 10^9 texts collide is below 10^-20. */
const hashLength = 16

/** Returns the text that is embedded for a chunk: title, headings and text, one per line. */
export function embeddedText(title: string, { headings, text }: Pick<Chunk, 'headings' | 'text'>): string {
  const lines = [title, headings.join(' > '), text].map((line) => line.trim())
  return lines
    .filter((line) => line !== '')
    .join('\n')
    .slice(0, maxLength)
    .toWellFormed()
}

/** Returns a hash of 16 bytes. */
export function textHash(text: string): Uint8Array {
  return hash('sha256', text, 'buffer').subarray(0, hashLength)
}
