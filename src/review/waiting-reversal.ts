import type { Staging } from '../git/staging.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { pendingForTarget } from '../kb/projection/candidate-index.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'

/** The pending candidate of the same connector that proposes the same. Within a write. */
export async function waitingReversal(
  kb: KnowledgeBase,
  staging: Staging,
  { connector, target, base, content, frontMatter, removes, metadata }: Candidate,
): Promise<Candidate | undefined> {
  const rows = pendingForTarget(kb.projection.write, { connector, target: target ?? '' })
  const records = await Promise.all(rows.map(async ({ blob }) => parseCandidate(await staging.readText(blob))))
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
