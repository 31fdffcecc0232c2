import type { Chunk } from '../../rules/neurons/chunk.ts'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { findChunks } from '../chunks/chunks.ts'
import { type InlineTag, inlineTags } from '../inline-tags.ts'
import { findLinks, type LinkPlace, linkPlaces, maxLinks } from '../links/links.ts'
import { hasComplexPart } from '../parse/parse-parts.ts'
import { type BudgetTask, noteStart } from './budget-pool.ts'
import { type IndexedNeuron, readIndexedNeuron } from './indexed-neuron.ts'

/** Content to parse, and the parts to extract from it. */
export type PageRequest =
  | { content: string; wants: 'links' | 'chunks' | 'places' | 'tags' }
  | { content: string; wants: 'neuron'; path: string }

/** Extracted parts of a page. Parts that were not requested are empty or absent. `isPartial`: a part was too complex to parse. */
export type PageParts = {
  links: WikiLink[]
  chunks: Chunk[]
  places?: LinkPlace[]
  tags?: InlineTag[]
  neuron?: IndexedNeuron | undefined
  isPartial: boolean
}

export function parseInThread({ request, started }: BudgetTask<readonly PageRequest[]>): PageParts[] {
  noteStart(started)
  return request.map(parsePage)
}

/** Parses a page where necessary. Unsafe for hostile text: see `parseMarkdown`. */
export function parsePage(request: PageRequest): PageParts {
  const { content, wants } = request
  const nothing = { links: [], chunks: [], isPartial: false }
  if (wants === 'links') {
    const { links, isPartial } = findLinks(content)
    return { ...nothing, links, isPartial: isPartial || hasComplexPart(content) }
  }
  if (wants === 'chunks') return { ...nothing, ...findChunks(content) }
  if (wants === 'neuron') return { ...nothing, neuron: parseNeuron(request.path, content) }
  if (wants === 'tags') return { ...nothing, tags: inlineTags(content) }
  const places = linkPlaces(content)
  return { ...nothing, ...(places === undefined ? {} : { places }) }
}

function parseNeuron(path: string, text: string): IndexedNeuron | undefined {
  const read = readIndexedNeuron(path, text)
  if (read === undefined) return undefined
  const { links, isPartial } = parsePage({ content: read.shown, wants: 'links' })
  const found = { links: links.slice(0, maxLinks), isPartial: isPartial || links.length > maxLinks }
  return read.withText({ ...found, tags: inlineTags(read.shown) })
}
