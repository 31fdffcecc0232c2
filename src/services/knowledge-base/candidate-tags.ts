import { ValidationError } from '../../contract/errors.ts'
import type { Candidate } from '../../knowledge/candidate.ts'
import { parseMetadata, readMetadata } from '../../knowledge/metadata.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'

/** The tags that a candidate's Neuron would get: of the page that it proposes, else of its metadata. */
export function tagsOfCandidate({ frontMatter, metadata }: Pick<Candidate, 'frontMatter' | 'metadata'>): string[] {
  if (frontMatter !== null) return parseNeuronFile(frontMatter).fields.tags
  try {
    return readMetadata(parseMetadata(metadata).data).tags
  } catch (error) {
    // A record that other programs wrote to the queue.
    if (error instanceof ValidationError) return []
    throw error
  }
}
