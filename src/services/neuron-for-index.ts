import { namesOf } from '../knowledge/link-target.ts'
import { writtenLinks } from '../knowledge/written-link.ts'
import { inlineTags } from '../markdown/inline-tags.ts'
import { parseNeuronFile } from '../markdown/neuron-file.ts'
import type { ParserPool } from '../markdown/parser-pool.ts'
import { shownContent } from '../markdown/shown-content.ts'
import type { IndexedNeuron } from '../store/neuron-index.ts'

/** What the projection keeps of a Neuron's file; nothing where the file has no seqId, and so is no Neuron yet. */
export async function readNeuronForIndex(
  path: string,
  text: string,
  parser: ParserPool,
): Promise<IndexedNeuron | undefined> {
  const file = parseNeuronFile(text)
  const { fields } = file
  const { seqId, id: documentId, tags, audience, aliases, edges, candidate: candidateId } = fields
  if (seqId === undefined) return undefined
  const title = fields.title ?? fileTitle(path)
  const shown = shownContent(file)
  const { links } = await parser.links(shown)
  const found = inlineTags(shown).map(({ tag }) => tag)
  const names = namesOf({ seqId, path, title, aliases })
  return {
    seqId,
    documentId,
    title,
    tags,
    inlineTags: found,
    audience,
    candidateId,
    names,
    links: writtenLinks(edges, links),
  }
}

/** A title for a file that gives none: its name. */
export function fileTitle(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, '')
}
