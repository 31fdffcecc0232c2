import type { Oid } from '../../git/objects/object.ts'
import type { Staging } from '../../git/staging.ts'
import { parseCandidate, roomInRecord } from '../../markdown/file/candidate-file.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import type { Candidate, Decision } from '../../rules/candidates/candidate.ts'
import { lastVerdict } from '../../rules/candidates/candidate.ts'
import { doorOf, isFirstCome } from '../../rules/neurons/first-come.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import {
  candidatesOfOrigin,
  findCandidate,
  pendingOfFingerprint,
  pendingRemovals,
  wasApproved,
} from '../projection/candidate-index.ts'
import type { Projection } from '../projection/projection.ts'
import {
  connectorOf,
  type GitCandidateOptions,
  gitCandidate,
  gitFingerprint,
  gitMetadata,
  gitOriginOf,
  madeAgain,
  namedCandidate,
  pageParts,
  revised,
} from './git-candidate.ts'
import { type LostHistory, noLostHistory } from './lost-history.ts'
import type { PushedNeuron } from './pushed-neurons.ts'
import { withDecision } from './record.ts'

type ChosenCandidate = {
  id: string
  /** Record to write to the queue, if it is new or has changed. */
  record?: Candidate
  /** Connector of a merged candidate that did not come from a vault. */
  connector?: string | undefined
  /** Dismissal that the push overrides. */
  dismissal?: Decision | undefined
}

/** Options. `actor`: author of new candidates. `used`: ids that other Neurons of the same commit use. */
export type ChooseOptions = Omit<GitCandidateOptions, 'id'> & {
  lost?: LostHistory
  used: ReadonlySet<string>
}

/**
 * Finds or creates the candidate that a Neuron on main points back to: the one that its page names, if it is pending, dismissed or was lost
 * in a restore; else one that proposes this very page, or that an interrupted attempt of the push left; else a new one. @throws
 * {GanglionError} `record_full`
 */
export async function chooseCandidate(
  kb: KnowledgeBase,
  staging: Staging,
  neuron: PushedNeuron,
  { parts, actor, origin, reason, at, lost = noLostHistory, used }: ChooseOptions,
): Promise<ChosenCandidate> {
  const { write: sql } = kb.projection
  const made = { parts, origin, reason, actor, at }
  const named = neuron.text === null ? undefined : namedCandidate(sql, neuron, lost)
  const { removal } = neuron
  const [merged] = neuron.text !== null ? [named?.id] : removal ? [removal] : pendingRemovals(sql, neuron.seqId ?? '')
  if (merged !== undefined && !used.has(merged)) {
    if (named === undefined) return { id: merged }
    const record = parseCandidate(await staging.readText(named.blob))
    const connector = isFirstCome(record) ? doorOf(record) : undefined
    if (named.status !== 'dismissed') return { id: merged, connector }
    const reopen: Decision = {
      action: 'reopen',
      at: at.toISOString(),
      by: actor,
      reason: 'Its page was pushed to main.',
    }
    return { id: merged, connector, record: withDecision(record, reopen), dismissal: lastVerdict(record) }
  }
  const back = lostCandidate(kb, neuron, lost)
  if (back !== undefined && !used.has(back.id)) {
    const text = back.blob === undefined ? null : await staging.readText(back.blob)
    const restored = { id: back.id, parts: await pageParts({ ...neuron, text }, (oid) => staging.readText(oid)) }
    const record = gitCandidate(kb.identity.id, neuron, { ...made, ...restored, reason: madeAgain })
    return { id: back.id, record }
  }
  const same = { connector: connectorOf(origin), fingerprint: gitFingerprint(neuron), target: neuron.seqId }
  const proposed = pendingOfFingerprint(sql, same).find((id) => !used.has(id))
  if (proposed !== undefined) return { id: proposed }
  const left = await leftCandidate(sql, staging, neuron, { ...made, used })
  const record = left ?? gitCandidate(kb.identity.id, neuron, made)
  return { id: record.id, record }
}

/**
 * Returns the candidate of an attempt that was interrupted before it reached main, updated to the page as pushed now: the pusher may have
 * rebased it since.
 */
async function leftCandidate(
  sql: Projection['read'],
  staging: Staging,
  neuron: PushedNeuron,
  { parts, origin, actor, at, used }: Omit<ChooseOptions, 'reason'>,
): Promise<Candidate | undefined> {
  const row = candidatesOfOrigin(sql, connectorOf(origin), gitOriginOf(neuron, origin)).find(
    ({ id, status, removes }) => status === 'pending' && removes === (neuron.blob === undefined) && !used.has(id),
  )
  if (row === undefined) return undefined
  const change = { ...parts, base: neuron.before?.blob ?? null, metadata: gitMetadata(neuron, origin) }
  const record = revised(parseCandidate(await staging.readText(row.blob)), change, { by: actor, at })
  return roomInRecord(record) < 0 ? undefined : record
}

function lostCandidate(
  { projection: { write: sql } }: KnowledgeBase,
  { seqId, text }: PushedNeuron,
  { pages, removals }: LostHistory,
): { id: string; blob: Oid | undefined } | undefined {
  const id = text === null ? removals.get(seqId ?? '') : parseNeuronFile(text).fields.candidate
  const page = id === undefined || text === null ? undefined : pages.get(id)
  if (id === undefined || findCandidate(sql, id) !== undefined || wasApproved(sql, id)) return undefined
  if (text === null) return { id, blob: undefined }
  return page !== undefined && page.seqId === seqId ? { id, blob: page.blob } : undefined
}
