import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { commitAt } from '../../kb/projection/main-changes.ts'
import { type UnrecordedRow, unrecorded } from '../../kb/projection/version-queries.ts'
import { signatureOf } from '../../kb/refs/commit-message.ts'
import { gitCandidate, madeAgain, pageParts } from '../../kb/writing/git-candidate.ts'
import { type LostHistory, readLostHistory } from '../../kb/writing/lost-history.ts'
import { proposalMessage } from '../../kb/writing/push-main.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { neuronTitle } from '../../markdown/neuron-title.ts'
import type { Actor, Candidate } from '../../rules/candidates/candidate.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'

/** Number of records in one commit of the queue. */
const chunkRecords = 250

/**
 * Recreates queue records that a restore lost, for approvals that came back to main without the server: one for each version of a Neuron in
 * the server's own commits. Other references to missing candidates stay as they are.
 * @param after position on main up to which everything was checked
 * @throws {GitError}
 */
export async function recordLost(kb: KnowledgeBase, after: number, by: Actor, now: () => Date): Promise<void> {
  const floor = kb.projection.seqFloor()
  if (floor === 0) return
  let lost: LostHistory | undefined
  for (let rows = unrecorded(kb.projection.read, after, chunkRecords); rows.length > 0; ) {
    lost ??= await historySince(kb, rows[0]?.position ?? 0)
    const proven = rows.filter((row) => isProven(row, floor, lost))
    if (proven.length > 0) await record(kb, proven, by, now())
    rows = unrecorded(kb.projection.read, rows.at(-1)?.position ?? 0, chunkRecords)
  }
}

/** Returns what the server's own commits on main assigned, from a position on. */
async function historySince(kb: KnowledgeBase, position: number): Promise<LostHistory | undefined> {
  const from = commitAt(kb.projection.read, position - 1)
  const { main: to } = kb.projection.heads(kb.projection.read)
  return from === undefined || to === undefined ? undefined : readLostHistory(kb, { from, to }, kb)
}

function isProven({ candidateId, seqId, blob }: UnrecordedRow, floor: number, lost: LostHistory | undefined): boolean {
  if ((parseSeqId(seqId)?.number ?? Number.POSITIVE_INFINITY) > floor) return false
  return blob === undefined ? lost?.removals.get(seqId) === candidateId : lost?.pages.get(candidateId)?.seqId === seqId
}

function record(kb: KnowledgeBase, rows: readonly UnrecordedRow[], by: Actor, at: Date): Promise<void> {
  return kb.write(async (staging) => {
    const missing = rows.filter(({ candidateId }) => findCandidate(kb.projection.write, candidateId) === undefined)
    const candidates = await Promise.all(missing.map((row) => recordOf(kb, row, by, at)))
    if (candidates.length === 0) return
    const author = signatureOf(by, at)
    await kb.commitToQueue(staging, { candidates, message: proposalMessage({ candidates }), author, at })
  })
}

async function recordOf(kb: KnowledgeBase, row: UnrecordedRow, actor: Actor, at: Date): Promise<Candidate> {
  const { candidateId: id, path, blob } = row
  const readText = (oid: string) => kb.repository.readTextOnce(oid)
  const before = row.before === undefined ? undefined : await pageBefore(row.before, path, readText)
  const text = blob === undefined ? null : await readText(blob)
  const neuron = { seqId: before === undefined ? undefined : row.seqId, before, path, blob, text }
  const parts = await pageParts(neuron, readText)
  const origin = { door: 'main', by: actor.id } as const
  return gitCandidate(kb.identity.id, neuron, { id, parts, origin, reason: madeAgain, actor, at })
}

async function pageBefore(blob: string, path: string, readText: (oid: string) => Promise<string>) {
  const file = parseNeuronFile(await readText(blob))
  return { documentId: file.fields.id ?? null, path, blob, title: neuronTitle(file, path) }
}
