import { createHash } from 'node:crypto'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { neuronTitle } from '../../markdown/neuron-title.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import { ingestConnector } from '../../rules/candidates/candidate.ts'
import { namesOf } from '../../rules/links/link-target.ts'
import { writtenLinks } from '../../rules/links/written-link.ts'
import { withoutOrigin } from '../../rules/neurons/origin-line.ts'
import type { IndexedNeuron } from '../projection/neuron-index.ts'

/** Returns the fields of a Neuron's file that the projection stores; undefined for a file without a seqId, which is no Neuron yet. */
export async function readNeuronForIndex(
  path: string,
  text: string,
  parser: ParserPool,
): Promise<IndexedNeuron | undefined> {
  const file = parseNeuronFile(text)
  const { seqId, id: documentId, tags, audience, aliases, edges, candidate: candidateId, ...fields } = file.fields
  const { connector, sources, verified, owner } = fields
  if (seqId === undefined) return undefined
  const title = neuronTitle(file, path)
  const shown = shownContent(file)
  const [{ links, flag }, inlineTags] = await Promise.all([parser.links(shown), parser.tags(shown)])
  return {
    seqId,
    documentId,
    title,
    tags,
    inlineTags: inlineTags.map(({ tag }) => tag),
    audience,
    ...{ candidateId, verified, owner },
    sources: sources.flatMap(({ id }) => id ?? []),
    isIngested: connector === ingestConnector,
    said: sources.length === 0 ? undefined : digestOf(title, file.content),
    names: namesOf({ seqId, path, title, aliases }),
    links: writtenLinks({ edges, properties: file.propertyLinks }, links),
    isPartial: flag !== undefined,
  }
}

/** Returns a digest that ignores white space and the position in the Source. */
function digestOf(title: string, content: string): string {
  const said = `${title}\n${withoutOrigin(content.trimEnd()).replace(/\s+/g, ' ')}`
  return createHash('sha256').update(said).digest('base64')
}
