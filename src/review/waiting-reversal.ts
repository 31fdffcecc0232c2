import type { Staging } from '../git/staging.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { pendingRecords } from '../kb/writing/record.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'

/** The pending candidate of the same connector that proposes the same. Within a write. */
export async function waitingReversal(
  kb: KnowledgeBase,
  staging: Staging,
  { connector, target, base, content, frontMatter, removes, metadata }: Candidate,
): Promise<Candidate | undefined> {
  const records = await pendingRecords(kb, staging, { connector, target: target ?? '' })
  return records.find(
    (known) =>
      known.base === base &&
      known.content === content &&
      known.frontMatter === frontMatter &&
      known.removes === removes &&
      // Its path, above all.
      known.metadata === metadata,
  )
}
