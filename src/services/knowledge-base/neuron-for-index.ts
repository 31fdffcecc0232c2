import { namesOf } from '../../knowledge/links/link-target.ts'
import { writtenLinks } from '../../knowledge/links/written-link.ts'
import { type NeuronFile, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { inlineTags } from '../../markdown/inline-tags.ts'
import { neuronTitle } from '../../markdown/neuron-title.ts'
import { type ParsedLinks, type ParserPool, soonLinks } from '../../markdown/parse/parser-pool.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import type { IndexedNeuron } from '../../store/projection/neuron-index.ts'

/** What the projection keeps of a Neuron's file, and what its links are made of. Plain data, which a thread can send. */
export type PageForIndex = {
  neuron: Omit<IndexedNeuron, 'links' | 'isPartial'>
  edges: NeuronFile['fields']['edges']
  properties: NeuronFile['propertyLinks']
  /** The links of the text; else the text, where only a parser can tell them. */
  text: { links: ParsedLinks } | { shown: string }
}

/** Nothing where the file has no seqId, and so is no Neuron yet. */
export function readPageForIndex(path: string, text: string): PageForIndex | undefined {
  const file = parseNeuronFile(text)
  const { seqId, id: documentId, tags, audience, aliases, edges, candidate: candidateId } = file.fields
  if (seqId === undefined) return undefined
  const title = neuronTitle(file, path)
  const shown = shownContent(file)
  const links = soonLinks(shown)
  return {
    neuron: {
      seqId,
      documentId,
      title,
      tags,
      inlineTags: inlineTags(shown).map(({ tag }) => tag),
      audience,
      candidateId,
      names: namesOf({ seqId, path, title, aliases }),
    },
    edges,
    properties: file.propertyLinks,
    text: links === undefined ? { shown } : { links },
  }
}

export async function neuronForIndex(
  { neuron, edges, properties, text }: PageForIndex,
  parser: ParserPool,
): Promise<IndexedNeuron> {
  const { links, flag } = 'links' in text ? text.links : await parser.links(text.shown)
  return { ...neuron, links: writtenLinks({ edges, properties }, links), isPartial: flag !== undefined }
}

/** What the projection keeps of a Neuron's file; nothing where the file has no seqId. */
export async function readNeuronForIndex(
  path: string,
  text: string,
  parser: ParserPool,
): Promise<IndexedNeuron | undefined> {
  const page = readPageForIndex(path, text)
  return page && neuronForIndex(page, parser)
}
