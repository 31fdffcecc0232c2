import type { Staging } from '../git/staging.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { undoConnector } from '../kb/projection/candidate-queue.ts'
import { pendingRecords } from '../kb/writing/record.ts'
import { editNeuron } from '../markdown/file/neuron-file.ts'
import { type Candidate, isReversal } from '../rules/candidates/candidate.ts'
import { textsOf } from '../rules/candidates/metadata.ts'

/** Connector of the reversal of a single approval. */
export const reverseConnector = 'console'

/**
 * Returns the pending reversal that proposes the same, whether it reverts one approval or all changes of a writer. Must run within a write.
 */
export async function waitingReversal(
  kb: KnowledgeBase,
  staging: Staging,
  { target, base, content, frontMatter, removes, metadata }: Candidate,
): Promise<Candidate | undefined> {
  const path = textsOf(metadata)('path')
  for (const connector of [reverseConnector, undoConnector]) {
    const records = await pendingRecords(kb, staging, { connector, target: target ?? '' })
    const same = records.find(
      (known) =>
        isReversal(known) &&
        known.base === base &&
        known.content === content &&
        known.removes === removes &&
        (known.frontMatter === frontMatter || unsigned(known.frontMatter) === unsigned(frontMatter)) &&
        (removes || textsOf(known.metadata)('path') === path),
    )
    if (same !== undefined) return same
  }
  return undefined
}

function unsigned(frontMatter: string | null): string | null {
  return frontMatter && editNeuron(frontMatter, { candidate: undefined })
}
