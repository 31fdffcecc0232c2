import { hash } from 'node:crypto'
import { ingestConnector } from '../../rules/candidates/candidate.ts'
import { type NeuronName, namesOf } from '../../rules/links/link-target.ts'
import { type WrittenLink, writtenLinks } from '../../rules/links/written-link.ts'
import type { Verified, WikiLink } from '../../rules/neurons/neuron.ts'
import { withoutOrigin } from '../../rules/neurons/sentence-origins.ts'
import { parseNeuronFile, shownContent } from '../file/neuron-file.ts'
import type { InlineTag } from '../inline-tags.ts'
import { neuronTitle } from '../neuron-title.ts'

/** Fields of a Neuron's file that tables store. */
export type IndexedNeuron = {
  seqId: string
  documentId: string | undefined
  title: string
  /** Tags of the front matter. */
  tags: string[]
  /** Tags of the text, which count only if `kb.yaml` says so. */
  inlineTags: string[]
  audience: string[] | undefined
  candidateId: string | undefined
  verified: Verified | undefined
  owner: string | undefined
  /** Ids of the Sources that the page names. */
  sources: string[]
  /** True if ingest made this version. */
  isIngested: boolean
  /** Digest of the text, if the page names Sources. */
  said: string | undefined
  names: NeuronName[]
  links: WrittenLink[]
  /** True if a part of its text was too complex to parse, or links are left out. */
  isPartial: boolean
}

/** Parts found in the text of a page. `isPartial`: a part was too complex to parse, or links are left out. */
type FoundInText = { links: readonly WikiLink[]; tags: readonly InlineTag[]; isPartial: boolean }

/**
 * Reads a Neuron's file; undefined for a file without a seqId, which is no Neuron yet.
 * @returns its text as shown, and a function that adds what is found in that
 */
export function readIndexedNeuron(
  path: string,
  text: string,
): { shown: string; withText: (found: FoundInText) => IndexedNeuron } | undefined {
  const file = parseNeuronFile(text)
  const { seqId, id: documentId, tags, audience, aliases, edges, candidate: candidateId, ...fields } = file.fields
  const { connector, sources, verified, owner } = fields
  if (seqId === undefined) return undefined
  const title = neuronTitle(file, path)
  const withText = (found: FoundInText): IndexedNeuron => ({
    seqId,
    documentId,
    title,
    tags,
    inlineTags: found.tags.map(({ tag }) => tag),
    audience,
    ...{ candidateId, verified, owner },
    sources: sources.flatMap(({ id }) => id ?? []),
    isIngested: connector === ingestConnector,
    said: sources.length === 0 ? undefined : digestOf(title, file.content),
    names: namesOf({ seqId, path, title, aliases }),
    links: writtenLinks({ edges, properties: file.propertyLinks }, found.links),
    isPartial: found.isPartial,
  })
  return { shown: shownContent(file), withText }
}

/** Returns a digest of a page's title and text that ignores white space and the position in the Source. */
function digestOf(title: string, content: string): string {
  // Leaves single spaces as they are: replacing each takes most of the time.
  const said = `${title}\n${withoutOrigin(content.trimEnd()).replace(/\s{2,}|[^\S ]/g, ' ')}`
  return hash('sha256', said, 'base64')
}
