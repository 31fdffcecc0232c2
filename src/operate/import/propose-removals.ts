import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { type BroughtNeuron, candidatesOfOrigin, pendingRemovals } from '../../kb/projection/candidate-index.ts'
import { titleOf } from '../../kb/projection/neuron-queries.ts'
import { commitMessage } from '../../kb/refs/commit-message.ts'
import { commitToQueue } from '../../kb/writing/commits.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import type { Actor, Candidate } from '../../rules/candidates/candidate.ts'
import { importConnector, newCandidate } from './import-plan.ts'

/** Fingerprint of a removal, in place of a note's hash. */
const noFile = 'removed'

/**
 * Proposes to delete Neurons whose notes are no longer in their folder: one pending candidate each. None if one is pending already, or a
 * curator has dismissed it since the last import of the note.
 * @returns their number
 */
export function proposeRemovals(
  kb: KnowledgeBase,
  vanished: readonly BroughtNeuron[],
  { actor, at }: { actor: Actor; at: Date },
): Promise<number> {
  return kb.write(async (staging) => {
    const candidates: Candidate[] = []
    for (const { origin, seqId, blob } of vanished) {
      if (isDecided(kb, origin, seqId)) continue
      const title = titleOf(kb.projection.write, seqId)
      if (title === undefined) continue
      const { content } = parseNeuronFile(await staging.readText(blob))
      const metadata = JSON.stringify({ connector: importConnector, filename: origin, fingerprint: noFile })
      const removal = { title, content, metadata, target: seqId, base: blob, removes: true }
      candidates.push(newCandidate(kb, removal, { actor, at, reason: 'its file is no longer in the folder' }))
    }
    const message = commitMessage(`Propose to remove ${candidates.length} Neurons`, { Connector: importConnector })
    await commitToQueue(kb, staging, candidates, { by: actor, at, message })
    return candidates.length
  })
}

/** True if a removal is pending, or was dismissed and the note has not been imported since. */
function isDecided({ projection: { write: sql } }: KnowledgeBase, origin: string, seqId: string): boolean {
  if (pendingRemovals(sql, seqId).length > 0) return true
  const past = candidatesOfOrigin(sql, importConnector, origin)
  const latest = past.find(({ approval }) => approval !== undefined)
  const isRefused = ({ removes, status, createdAt }: (typeof past)[number]) =>
    removes && status === 'dismissed' && createdAt >= (latest?.createdAt ?? '')
  return past.some(isRefused)
}
