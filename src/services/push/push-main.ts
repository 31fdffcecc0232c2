import type { Oid } from '../../git/object.ts'
import type { TreeChange } from '../../git/repository.ts'
import { type Actor, lastVerdict } from '../../knowledge/candidate.ts'
import type { ParserPool } from '../../markdown/parser-pool.ts'
import { commitMessage, signatureOf } from '../commit-message.ts'
import { mainRef } from '../kb-refs.ts'
import type { FileContents, KnowledgeBase } from '../knowledge-base.ts'
import { removalTrailers } from '../removal-trailer.ts'
import type { Origin } from './git-candidate.ts'
import { readLostHistory } from './lost-history.ts'
import { PushRefused } from './push-refused.ts'
import { pushedNeurons } from './pushed-neurons.ts'
import { type TakenNeuron, type Taking, takeNeurons } from './take-neurons.ts'

export type MainPush = {
  from: Oid
  to: Oid
  /** All that differs between the two. */
  changes: readonly TreeChange[]
  /** Who pushed: whatever the commits say, they are the approver. */
  approver: Actor
  /** As the maker of candidates. */
  proposer: Actor
  origin: Origin
}

export type PushedMain = { commit: Oid; neurons: TakenNeuron[] }

export const fetchFirst = 'fetch first: main has moved since; git pull --rebase, and push again'

/**
 * Takes what was pushed onto main as one commit that merges it: each changed Neuron is a candidate that the pusher approves, and
 * gets what it lacks. Main's first-parent line so stays the record of approvals, whatever the pushed commits say of themselves.
 * @throws {PushRefused} where main has moved.
 */
export async function pushToMain(
  kb: KnowledgeBase,
  push: MainPush,
  { parser, now }: { parser: ParserPool; now: () => Date },
): Promise<PushedMain> {
  const readText = (oid: Oid) => kb.repository.readTextOnce(oid)
  const lost = await readLostHistory(kb, push, kb)
  return kb.write(async (staging) => {
    if (staging.head(mainRef) !== push.from) throw new PushRefused(fetchFirst)
    const at = now()
    const neurons = await pushedNeurons(kb.projection.write, push.changes, readText)
    const taking = await takeNeurons(kb, neurons, {
      ...{ parser, readText, at },
      actor: push.proposer,
      origin: push.origin,
      reason: 'pushed to main by a curator',
      lost,
    })
    const author = signatureOf(push.approver, at)
    if (taking.candidates.length > 0) {
      const message = proposalMessage(taking)
      await kb.commitToQueue(staging, { candidates: taking.candidates, message, author, at })
    }
    const commit = await kb.commitToMain(staging, {
      files: mergedFiles(push.changes, taking),
      removals: taking.removals,
      message: mergeMessage(push, taking),
      mergeParent: push.to,
      ...{ author, at },
    })
    return { commit, neurons: taking.neurons }
  })
}

function mergedFiles(changes: readonly TreeChange[], { files }: Taking): FileContents {
  const merged = new Map<string, string | { oid: Oid } | null>()
  for (const { path, after } of changes) merged.set(path, after === undefined ? null : { oid: after })
  for (const [path, text] of files) merged.set(path, text)
  return merged
}

/** Of the queue's commit that holds the candidates of a push. */
export function proposalMessage({ candidates }: Pick<Taking, 'candidates'>): string {
  const [first] = candidates
  const what = candidates.length === 1 ? `"${first?.title}"` : `${candidates.length} changes of Neurons`
  const verb = candidates.every((candidate) => lastVerdict(candidate)?.action === 'reopen') ? 'Reopen' : 'Propose'
  const ids = candidates.map(({ id }): [string, string] => ['Candidate', id])
  return commitMessage(`${verb} ${what}`, [...ids, ['Connector', first?.connector ?? '']])
}

function mergeMessage({ to, approver }: MainPush, { neurons, removals }: Taking): string {
  return commitMessage(subjectOf(neurons), [
    ...approvalTrailers(neurons),
    ['Connector', 'git'],
    ['Pushed', to],
    ['Approved-By', `${approver.name} <${approver.id}>`],
    ...removalTrailers(removals),
  ])
}

/** What a commit does to Neurons, in a line. */
export function subjectOf(neurons: readonly TakenNeuron[]): string {
  const [first, second] = neurons
  if (first === undefined) return 'Merge pushed files'
  return second === undefined ? `${first.verb} "${first.title}"` : `Change ${neurons.length} Neurons`
}

export function approvalTrailers(neurons: readonly TakenNeuron[]): [string, string][] {
  return neurons.flatMap(({ candidateId, seqId }): [string, string][] => [
    ['Candidate', candidateId],
    ['Neuron', seqId],
  ])
}
