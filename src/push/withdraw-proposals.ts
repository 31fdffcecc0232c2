import { readRange } from '../git/history/history.ts'
import type { PushRange } from '../git/pushed-objects.ts'
import type { Staging } from '../git/staging.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { type OriginRow, pendingBelow } from '../kb/projection/candidate-index.ts'
import { connectorOf, gitFingerprint, gitOriginPrefix, type Origin } from '../kb/writing/git-candidate.ts'
import { withDecision } from '../kb/writing/record.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import type { Actor, Candidate } from '../rules/candidates/candidate.ts'

/** Earlier proposals of the same pusher and topic that the push does not contain. */
export type LeftProposals = {
  /** Records of the proposals that the push withdraws, dismissed. */
  withdrawn: Candidate[]
  /** Proposals from another branch, which stay pending. */
  waiting: OriginRow[]
}

/**
 * Returns the pages in all commits of a push, as fingerprints of `fingerprintOf`; empty if the pusher has no pending proposals. @throws
 * {GitError}
 */
export async function pagesOnTheWay(kb: KnowledgeBase, range: PushRange, origin: Origin): Promise<Set<string>> {
  const pages = new Set<string>()
  if (pendingBelow(kb.projection.read, connectorOf(origin), gitOriginPrefix(origin)).length === 0) return pages
  for await (const { changes } of readRange(kb.repository, range)) {
    for (const { path, after: blob } of changes) pages.add(gitFingerprint({ path, blob }))
  }
  return pages
}

/**
 * Separates earlier proposals that a push withdraws from those that came from another branch. With a topic, a push replaces
 * everything under that topic. Without one, a page is withdrawn if the push contains the commit that proposed it. Must run within
 * a write.
 * @throws {GanglionError} `record_full`
 */
export async function leftProposals(
  kb: KnowledgeBase,
  staging: Staging,
  push: { origin: Origin; onTheWay: ReadonlySet<string>; held: ReadonlySet<string>; proposer: Actor; at: Date },
): Promise<LeftProposals> {
  const { origin, onTheWay, held, proposer, at } = push
  const left: LeftProposals = { withdrawn: [], waiting: [] }
  for (const row of pendingBelow(kb.projection.write, connectorOf(origin), gitOriginPrefix(origin))) {
    if (held.has(row.id)) continue
    const isTakenOut = (origin.topic ?? '') !== '' || onTheWay.has(row.fingerprint)
    if (!isTakenOut) left.waiting.push(row)
    else {
      const record = parseCandidate(await staging.readText(row.blob))
      const reason = `Withdrawn by ${proposer.name}: a later push took it out.`
      left.withdrawn.push(withDecision(record, { action: 'dismiss', at: at.toISOString(), by: proposer, reason }))
    }
  }
  return left
}
