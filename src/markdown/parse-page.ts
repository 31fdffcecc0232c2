import type { Chunk } from '../knowledge/chunk.ts'
import type { WikiLink } from '../knowledge/neuron.ts'
import { scanBlocks } from './block-scan.ts'
import { extractChunks, treeChunks } from './chunks.ts'
import { type LinkPlace, linkPlaces } from './link-places.ts'
import { scanLinks } from './link-scan.ts'
import { extractLinks, treeLinks } from './links.ts'
import { parseMarkdown } from './parse-markdown.ts'

/** A content, and what is to be found in it. */
export type PageRequest = { content: string; wants: 'links' | 'chunks' | 'both' | 'places' }

/** What is not wanted is empty, and `places` absent. */
export type PageParts = { links: WikiLink[]; chunks: Chunk[]; places?: LinkPlace[] }

/** Parses what must be parsed, once where both need the whole. Not safe on hostile text, see `parseMarkdown`. */
export function parsePage({ content, wants }: PageRequest): PageParts {
  if (wants === 'places') return { links: [], chunks: [], places: linkPlaces(content) }
  if (wants === 'links') return { links: extractLinks(content), chunks: [] }
  if (wants === 'chunks') return { links: [], chunks: extractChunks(content) }
  if (scanLinks(content) ?? scanBlocks(content)) {
    return { links: extractLinks(content), chunks: extractChunks(content) }
  }
  const tree = parseMarkdown(content)
  return { links: treeLinks(tree), chunks: treeChunks(tree, content) }
}
