import { GanglionError } from '../contract/errors.ts'
import type { Staging } from '../git/staging.ts'
import { type Context, emitAct } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate } from '../kb/projection/candidate-index.ts'
import { undoConnector } from '../kb/projection/candidate-queue.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { versionAt, versionBefore } from '../kb/projection/version-queries.ts'
import { pendingRecords, recordCandidate } from '../kb/writing/commits.ts'
import { fileLayout } from '../markdown/file/front-matter.ts'
import { editNeuron, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { neuronTitle } from '../markdown/neuron-title.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import type { Actor, Candidate } from '../rules/candidates/candidate.ts'
import { candidateIdFor } from '../rules/candidates/candidate-id.ts'
import { textsOf } from '../rules/candidates/metadata.ts'

const changedSince = 'The Neuron was changed since: removing it takes those changes as well.'

/**
 * Proposes to revert an approved candidate: a candidate of its own, since main's history is never rewritten. It removes a new Neuron,
 * restores a removed one, or merges the previous version into the present Neuron. A repeated request returns the pending one.
 * @returns the id of the candidate
 * @throws {GanglionError} `not_found`, `not_approved`, `target_not_found` if the Neuron is gone, `queue_full`
 */
export async function proposeReverse(ctx: Context, caller: Caller, candidateId: string): Promise<string> {
  const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
  const actor = actorOf(caller)
  const { id, isNew } = await kb.write(async (staging) => {
    const reverse = await reverseOf(kb, staging, candidateId, { actor, at: ctx.now() })
    const waiting = await waitingReversal(kb, staging, reverse)
    if (waiting !== undefined) return { id: waiting.id, isNew: false }
    await recordCandidate(kb, staging, reverse, 'Propose')
    return { id: reverse.id, isNew: true }
  })
  if (isNew) emitAct(ctx, 'submit', { status: 'pending' })
  return id
}

async function reverseOf(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  { actor, at }: { actor: Actor; at: Date },
): Promise<Candidate> {
  const { write: sql } = kb.projection
  const row = findCandidate(sql, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  if (row.approval === undefined) throw new GanglionError('not_approved')
  const { seqId, commit } = row.approval
  const done = versionAt(sql, seqId, commit)
  const before = done && versionBefore(sql, seqId, done.version)
  const target = findNeuron(sql, seqId)
  // Nothing to revert if the Neuron was removed, or restored, in another way.
  if (done !== undefined && done.commit !== commit)
    throw new GanglionError('target_not_found', 'Its approval changed nothing.')
  if (done === undefined || (target === undefined) !== (done.blob === null)) throw new GanglionError('target_not_found')
  const record: Omit<Candidate, 'title' | 'content' | 'frontMatter' | 'metadata' | 'removes' | 'base' | 'verdict'> = {
    id: candidateIdFor(kb.identity.id, { msecs: at.getTime() }),
    kind: 'user-correction',
    confidence: null,
    impactEstimate: null,
    connector: reverseConnector,
    target: seqId,
    reverts: true,
    createdAt: at.toISOString(),
    createdBy: actor,
    decisions: [],
  }
  const verdict = (warnings: string[]) => ({
    approve: false,
    zone: null,
    reason: `takes back "${row.title}"`,
    warnings,
  })
  if (typeof before?.blob === 'string') {
    const text = await staging.readText(before.blob)
    const page = parseNeuronFile(text)
    return {
      ...record,
      title: neuronTitle(page, before.path),
      content: page.content,
      frontMatter: text.slice(0, fileLayout(text).bodyStart),
      metadata: JSON.stringify({ connector: reverseConnector, path: before.path }),
      removes: false,
      base: done.blob,
      verdict: verdict([]),
    }
  }
  if (target === undefined) throw new GanglionError('target_not_found')
  return {
    ...record,
    title: target.title,
    content: parseNeuronFile(await staging.readText(target.blob)).content,
    frontMatter: null,
    metadata: null,
    removes: true,
    base: target.blob,
    verdict: verdict(target.blob === done.blob ? [] : [changedSince]),
  }
}

/** Connector of the reversal of a single approval. */
const reverseConnector = 'console'

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
        known.reverts &&
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
