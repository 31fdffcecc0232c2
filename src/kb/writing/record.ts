import { GanglionError } from '../../contract/errors.ts'
import type { Staging } from '../../git/staging.ts'
import { parseCandidate, roomInRecord } from '../../markdown/file/candidate-file.ts'
import type { Candidate, Decision } from '../../rules/candidates/candidate.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { pendingForTarget } from '../projection/candidate-index.ts'
import { commitMessage, signatureOf } from '../refs/commit-message.ts'

const maxComments = 200
/** Bytes of a record that comments leave to the decisions after them. */
const keptForDecisions = 64 * 1024

export async function recordCandidate(
  kb: KnowledgeBase,
  staging: Staging,
  candidate: Candidate,
  verb: 'Propose' | 'Dismiss' | 'Reopen' | 'Comment on' | 'Revise' | 'Ask for changes of' | 'Assign',
): Promise<void> {
  const { id, kind, connector, title, createdBy, createdAt } = candidate
  const { by, at } = candidate.decisions.at(-1) ?? { by: createdBy, at: createdAt }
  await kb.commitToQueue(staging, {
    candidates: [candidate],
    message: commitMessage(`${verb} "${title}"`, { Candidate: id, Kind: kind, Connector: connector }),
    author: signatureOf(by, new Date(at)),
    at: new Date(at),
  })
}

/** The pending candidates of a connector for a Neuron. Within a write. */
export async function pendingRecords(
  kb: KnowledgeBase,
  staging: Staging,
  of: Parameters<typeof pendingForTarget>[1],
): Promise<Candidate[]> {
  const rows = pendingForTarget(kb.projection.write, of)
  return Promise.all(rows.map(async ({ blob }) => parseCandidate(await staging.readText(blob))))
}

export function withDecision(candidate: Candidate, decision: Decision): Candidate {
  const decisions = [...candidate.decisions, decision]
  const isComment = decision.action === 'comment'
  const comments = decisions.filter(({ action }) => action === 'comment').length
  const room = roomInRecord({ ...candidate, decisions }) - (isComment ? keptForDecisions : 0)
  if (room < 0 || (isComment && comments > maxComments)) throw new GanglionError('record_full')
  return { ...candidate, decisions }
}
