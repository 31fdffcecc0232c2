import { ValidationError } from '../../contract/errors.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import type { Candidate } from '../../rules/candidates/candidate.ts'
import { parseMetadata, readMetadata } from '../../rules/candidates/metadata.ts'

/** Returns the tags that a candidate's Neuron would get: from the proposed page, else from the metadata. */
export function tagsOfCandidate({ frontMatter, metadata }: Pick<Candidate, 'frontMatter' | 'metadata'>): string[] {
  if (frontMatter !== null) return parseNeuronFile(frontMatter).fields.tags
  try {
    return readMetadata(parseMetadata(metadata).data).tags
  } catch (error) {
    // Another program wrote the record to the queue.
    if (error instanceof ValidationError) return []
    throw error
  }
}
