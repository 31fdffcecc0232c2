import { findChunks } from '../../src/markdown/chunks/chunks.ts'
import { findLinks, maxLinks } from '../../src/markdown/links/links.ts'
import type { Chunk } from '../../src/rules/neurons/chunk.ts'
import type { WikiLink } from '../../src/rules/neurons/neuron.ts'

/** Returns the first 20,000 links of a content. */
export function extractLinks(content: string): WikiLink[] {
  return findLinks(content).links.slice(0, maxLinks)
}

export function extractChunks(content: string): Chunk[] {
  return findChunks(content).chunks
}
